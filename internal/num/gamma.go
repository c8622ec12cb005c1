package num

import "math"

// The logarithm of the gamma function in fdlibm: near 2 and 1 in even and odd powers, near its
// least value by three interleaved series, elsewhere by rational functions, and from 8 on by
// Stirling's series.
var (
	lgammaNear = []float64{7.72156649015328655494e-02, 3.22467033424113591611e-01, 6.73523010531292681824e-02,
		2.05808084325167332806e-02, 7.38555086081402883957e-03, 2.89051383673415629091e-03, 1.19270763183362067845e-03,
		5.10069792153511336608e-04, 2.20862790713908385557e-04, 1.08011567247583939954e-04, 2.52144565451257326939e-05,
		4.48640949618915160150e-05}
	lgammaLeast = [3][]float64{
		{4.83836122723810047042e-01, -3.27885410759859649565e-02, 6.10053870246291332635e-03,
			-1.40346469989232843813e-03, 3.15632070903625950361e-04},
		{-1.47587722994593911752e-01, 1.79706750811820387126e-02, -3.68452016781138256760e-03,
			8.81081882437654011382e-04, -3.12754168375120860518e-04},
		{6.46249402391333854778e-02, -1.03142241298341437450e-02, 2.25964780900612472250e-03,
			-5.38595305356740546715e-04, 3.35529192635519073543e-04}}
	lgammaOne = ratio{
		[]float64{-7.72156649015328655494e-02, 6.32827064025093366517e-01, 1.45492250137234768737e+00,
			9.77717527963372745603e-01, 2.28963728064692451092e-01, 1.33810918536787660377e-02},
		[]float64{1, 2.45597793713041134822e+00, 2.12848976379893395361e+00, 7.69285150456672783825e-01,
			1.04222645593369134254e-01, 3.21709242282423911810e-03}}
	lgammaMiddle = ratio{
		[]float64{-7.72156649015328655494e-02, 2.14982415960608852501e-01, 3.25778796408930981787e-01,
			1.46350472652464452805e-01, 2.66422703033638609560e-02, 1.84028451407337715652e-03,
			3.19475326584100867617e-05},
		[]float64{1, 1.39200533467621045958e+00, 7.21935547567138069525e-01, 1.71933865632803078993e-01,
			1.86459191715652901344e-02, 7.77942496381893596434e-04, 7.32668430744625636189e-06}}
	stirling = []float64{8.33333333333329678849e-02, -2.77777777728775536470e-03, 7.93650558643019558500e-04,
		-5.95187557450339963135e-04, 8.36339918996282139126e-04, -1.63092934096575273989e-03}
)

// Lgamma returns log |Γ(x)|: +Inf of 0, of negative whole numbers and of infinities, NaN of NaN.
func Lgamma(x float64) float64 {
	size := math.Abs(x)
	switch {
	case x != x:
		return x
	case size > math.MaxFloat64:
		return math.Inf(1)
	case size < 0x1p-70:
		return -Log(size)
	case x > 0:
		return lgammaPositive(x)
	case x == math.Trunc(x):
		return math.Inf(1)
	}
	return Log(math.Pi/math.Abs(sinPi(x)*x)) - lgammaPositive(size)
}

// lgammaPositive is Lgamma above 0.
func lgammaPositive(x float64) float64 {
	switch {
	case x >= 0x1p58:
		return x * (Log(x) - 1)
	case x >= 8:
		const half = 4.18938533204672725052e-01 // log(2π)/2 − ½
		z := 1 / x
		return float64((x-0.5)*(Log(x)-1)) + (half + float64(z*polynomial(float64(z*z), stirling)))
	case x >= 2:
		y, product := x-math.Floor(x), 1.0
		for k := 2; k < int(x); k++ {
			product *= y + float64(k)
		}
		return float64(0.5*y) + float64(y*lgammaMiddle.value(y)) + Log(product)
	case x <= 0.9:
		return lgammaBelowTwo(x+1, x) - Log(x)
	}
	return lgammaBelowTwo(x, x-1)
}

// lgammaBelowTwo returns log Γ(x) from 0.9 to 2; above is x − 1, exactly.
func lgammaBelowTwo(x, above float64) float64 {
	const (
		least        = 1.46163214496836224576e+00                               // where it is least
		value, small = -1.21486290535849611461e-01, -3.63867699703950536541e-18 // which is value − small
	)
	switch {
	case x >= least+0.27:
		y := 1 - above
		z := float64(y * y)
		var even, odd float64
		for i := len(lgammaNear) - 2; i >= 0; i -= 2 {
			even, odd = float64(even*z)+lgammaNear[i], float64(odd*z)+lgammaNear[i+1]
		}
		return float64(y*even) + float64(z*odd) - float64(0.5*y)
	case x >= least-0.27:
		y := above - (least - 1)
		z := float64(y * y)
		w := float64(z * y)
		t := &lgammaLeast
		rest := polynomial(w, t[1]) + float64(y*polynomial(w, t[2]))
		return value + (float64(z*polynomial(w, t[0])) - (small - float64(w*rest)))
	}
	return float64(-0.5*above) + float64(above*lgammaOne.value(above))
}

// sinPi returns the sine of πx.
func sinPi(x float64) float64 {
	x -= float64(2 * math.Round(x/2)) // exact, within 1 of 0
	if math.Abs(x) > 0.5 {
		x = math.Copysign(1, x) - x
	}
	return Sin(math.Pi * x)
}

// bernoulli are the Bernoulli numbers of even order from the second on.
var bernoulli = []float64{1. / 6, -1. / 30, 1. / 42, -1. / 30, 5. / 66, -691. / 2730, 7. / 6, -3617. / 510,
	43867. / 798, -174611. / 330}

// Polygamma returns the derivative of order n of the digamma function d log Γ(x)/dx, n from 0 on,
// as a function: the digamma function itself for 0. Its poles are 0 and the negative whole numbers.
// For odd n it is +Inf there; for even n it is infinite at 0 with the sign of −x, and NaN at the
// other poles, whose two sides differ. It is NaN for NaN and −Inf.
//
// Above 0 it is (−1)^(n+1) (n! Σ_j 1/(x+j)^(n+1) + (n−1)!/z^n + n!/2z^(n+1) + Σ_k B_2k
// (2k+n−1)!/(2k)! / z^(2k+n)), with −log z for (n−1)!/z^n of the digamma function, and z = x + J
// where the next term of the series is below a unit in the last place.
func Polygamma(n int) func(x float64) float64 {
	tail, size := make([]float64, len(bernoulli)), factorial(n)
	for i, b := range bernoulli {
		tail[i] = b * factorial(2*i+1+n) / factorial(2*i+2)
	}
	positive := func(x float64) float64 {
		sum := 0.0
		for ; x < 9+float64(n); x++ {
			sum += 1 / power(x, n+1)
		}
		first, z := factorial(n-1), 1/float64(x*x)
		if n == 0 {
			first = -Log(x)
		}
		first += size/float64(2*x) + float64(z*polynomial(z, tail))
		return alternate(n+1, float64(size*sum)+first/power(x, n))
	}
	return func(x float64) float64 {
		switch {
		case x > 0:
			return positive(x)
		case x != x || x < -math.MaxFloat64:
			return math.NaN()
		case x == 0 && n%2 == 0:
			return -1 / x
		case x == math.Trunc(x) && n%2 == 1:
			return math.Inf(1)
		case x == math.Trunc(x):
			return math.NaN()
		}
		return alternate(n, positive(1-x)) - cotangent(n, x)
	}
}

// alternate returns v, or −v where n is odd.
func alternate(n int, v float64) float64 {
	if n%2 == 1 {
		return -v
	}
	return v
}

func factorial(n int) float64 {
	v := 1.0
	for i := 2; i <= n; i++ {
		v *= float64(i)
	}
	return v
}

// power returns x^n for a whole n from 0 on.
func power(x float64, n int) float64 {
	v := 1.0
	for range n {
		v *= x
	}
	return v
}

// cotangent returns the derivative of order n of π cot(πx), a polynomial in c = cot(πx):
// dc/dx = −π(1 + c²).
func cotangent(n int, x float64) float64 {
	terms := []float64{0, math.Pi}
	for range n {
		next := make([]float64, len(terms)+1)
		for i := 1; i < len(terms); i++ {
			slope := float64(-math.Pi * float64(i) * terms[i])
			next[i-1] += slope
			next[i+1] += slope
		}
		terms = next
	}
	return polynomial(sinPi(x+0.5)/sinPi(x), terms)
}
