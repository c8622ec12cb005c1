package num

import "math"

// A ratio is a rational function, numerator and denominator by ascending powers.
type ratio struct{ numerator, denominator []float64 }

func (r ratio) value(x float64) float64 {
	return polynomial(x, r.numerator) / polynomial(x, r.denominator)
}

// The error function in fdlibm: from 0 to 0.84375, to 1.25, to 1/0.35 and to 6.
var (
	erfNear = ratio{
		[]float64{1.28379167095512558561e-01, -3.25042107247001499370e-01, -2.84817495755985104766e-02,
			-5.77027029648944159157e-03,
			-2.37630166566501626084e-05},
		[]float64{1, 3.97917223959155352819e-01, 6.50222499887672944485e-02, 5.08130628187576562776e-03,
			1.32494738004321644526e-04,
			-3.96022827877536812320e-06}}
	erfMiddle = ratio{
		[]float64{-2.36211856075265944077e-03, 4.14856118683748331666e-01, -3.72207876035701323847e-01,
			3.18346619901161753674e-01,
			-1.10894694282396677476e-01, 3.54783043256182359371e-02, -2.16637559486879084300e-03},
		[]float64{1, 1.06420880400844228286e-01, 5.40397917702171048937e-01, 7.18286544141962662868e-02,
			1.26171219808761642112e-01,
			1.36370839120290507362e-02, 1.19844998467991074170e-02}}
	erfcFar = ratio{
		[]float64{-9.86494403484714822705e-03, -6.93858572707181764372e-01, -1.05586262253232909814e+01,
			-6.23753324503260060396e+01,
			-1.62396669462573470355e+02, -1.84605092906711035994e+02, -8.12874355063065934246e+01,
			-9.81432934416914548592e+00},
		[]float64{1, 1.96512716674392571292e+01, 1.37657754143519042600e+02, 4.34565877475229228821e+02,
			6.45387271733267880336e+02,
			4.29008140027567833386e+02, 1.08635005541779435134e+02, 6.57024977031928170135e+00,
			-6.04244152148580987438e-02}}
	erfcFarther = ratio{
		[]float64{-9.86494292470009928597e-03, -7.99283237680523006574e-01, -1.77579549177547519889e+01,
			-1.60636384855821916062e+02,
			-6.37566443368389627722e+02, -1.02509513161107724954e+03, -4.83519191608651397019e+02},
		[]float64{1, 3.03380607434824582924e+01, 3.25792512996573918826e+02, 1.53672958608443695994e+03,
			3.19985821950859553908e+03,
			2.55305040643316442583e+03, 4.74528541206955367215e+02, -2.24409524465858183362e+01}}
)

// Erf returns the error function 2/√π ∫_0^x e^(−t²) dt: 1 of +Inf, −1 of −Inf, NaN of NaN.
func Erf(x float64) float64 {
	const (
		one   = 8.45062911510467529297e-01 // about erf 1, in few bits
		slope = 1.28379167095512586316e-01 // 2/√π − 1
	)
	size := math.Abs(x)
	var v float64
	switch {
	case x != x:
		return x
	case size < 0x1p-28:
		v = 0.125 * (float64(8*size) + float64(8*slope*size)) // in eighths nothing underflows
	case size < 0.84375:
		v = size + float64(size*erfNear.value(size*size))
	case size < 1.25:
		v = one + erfMiddle.value(size-1)
	case size >= 6:
		v = 1
	default:
		v = 1 - erfcAbove(size)
	}
	return math.Copysign(v, x)
}

// Erfc returns 1 − [Erf], accurate where it is small: 0 of +Inf, 2 of −Inf, NaN of NaN.
func Erfc(x float64) float64 {
	switch {
	case x >= 28:
		return 0
	case x >= 1.25:
		return erfcAbove(x)
	case x >= 0.25 && x < 0.84375:
		return 0.5 - (x - 0.5 + float64(x*erfNear.value(x*x)))
	}
	return 1 - Erf(x)
}

// erfcAbove returns 1 − erf x from 1.25 to 28, accurate though it is small.
func erfcAbove(x float64) float64 {
	far := erfcFar
	if x >= 1/0.35 {
		far = erfcFarther
	}
	// e^(−x²): x is split into short, whose square is exact, and the rest
	short := math.Float64frombits(math.Float64bits(x) &^ 0xffffffff)
	rest := float64((short-x)*(short+x)) + far.value(1/float64(x*x))
	return float64(Exp(-float64(short*short)-0.5625)*Exp(rest)) / x
}

// millsTerms are of a polynomial in t = (z − 3)/(z + 3), for z ≥ 0, by ascending powers: with φ the
// standard normal density and Φ its distribution, φ(z)/Φ(−z) − z is the polynomial over z + 3. It
// interpolates at Chebyshev's points, with an error of 5e-17 of the value.
var millsTerms = []float64{
	0x1.b2d6ebb2ce8ffp+0, -0x1.aede2c42fdfbep-1, 0x1.19337485e350ap-6, 0x1.7c500fb505de3p-3,
	-0x1.a0b9138b8c7a2p-6, -0x1.bf9976337a6fbp-5, 0x1.f89c93295e299p-8, 0x1.2dfa290b39455p-6,
	-0x1.ee57ee58246eap-11, -0x1.a190bf8559b72p-8, -0x1.4c66ce288b69cp-11, 0x1.0bd91d0b27c0bp-9,
	0x1.40f03c59f94b8p-11, -0x1.1c3a4dcea6ed9p-11, -0x1.529e3d29edd47p-12, 0x1.80df09477f82cp-14,
	0x1.009f5ebaa372bp-13, 0x1.7a4c74ccf5878p-18, -0x1.15336a799a1c4p-15, -0x1.6cd10f65b1377p-17,
	0x1.61516cfe99013p-18, 0x1.14b24fa80fbbap-18, 0x1.c59f996123ea0p-26, -0x1.b62a1596317adp-21,
	-0x1.c9a0f4e76cbc2p-23, 0x1.1a2837002f16ap-24, 0x1.228d33dac1b22p-25, 0x1.1dc59991be67fp-29,
}

// tailExcess returns φ(z)/Φ(−z) − z for z ≥ 0: about 1/z far out. What FMA returns is the same on
// every machine.
func tailExcess(z float64) float64 {
	r := 1 / (z + 3)
	t, sum := math.FMA(-6, r, 1), 0.0
	for i := len(millsTerms) - 1; i >= 0; i-- {
		sum = math.FMA(sum, t, millsTerms[i])
	}
	return float64(sum * r)
}

// NormalDensity returns φ(z). What rounding took off z² is made good by the first term of its
// exponential.
func NormalDensity(z float64) float64 {
	z = min(math.Abs(z), 1000)
	square := float64(z * z)
	e := Exp(-0.5 * square)
	return (e - float64(e*0.5*math.FMA(z, z, -square))) * (math.Sqrt2 / 2 / math.SqrtPi)
}

const logTwoPi = 1.8378770664093454836 // log 2π

// LogNormalCDF returns log Φ(x), Φ being the standard normal distribution, accurate in both tails:
// 0 of +Inf, −Inf of −Inf, NaN of NaN.
func LogNormalCDF(x float64) float64 {
	switch {
	case x < -math.MaxFloat64:
		return x
	case x < 0:
		return -float64(0.5*x*x) - (0.5*logTwoPi + Log(InverseMills(x)))
	}
	return Log1p(-NormalDensity(x) / (x + tailExcess(x)))
}

// NormalCDF returns Φ(x), accurate in the left tail, where it is small.
func NormalCDF(x float64) float64 {
	z := math.Abs(x)
	q := NormalDensity(z) / (z + tailExcess(z))
	if x > 0 {
		return 1 - q
	}
	return q
}

// InverseMills returns φ(x)/Φ(x), the derivative of [LogNormalCDF]: about −x far to the left.
func InverseMills(x float64) float64 {
	if x < 0 {
		return tailExcess(-x) - x
	}
	d := NormalDensity(x)
	return d / (1 - d/(x+tailExcess(x)))
}

// MillsExcessSlope returns the derivative of order n of [MillsExcess], n from 1 on, as a function,
// accurate in both tails, where terms of its own would cancel: about (−1)^(n+1) n!/x^(n+1) far to
// the left. To the left of farLeft it is made of derivatives of tailExcess's polynomial P(t): with
// r = 1/(z+3), z = −x, r^a P^(j)(t) has the derivative by x a r^(a+1) P^(j)(t) − 6 r^(a+2)
// P^(j+1)(t). Elsewhere it is made of derivatives of p = φ/Φ (x + φ/Φ), as d(φ/Φ)/dx = −p and d(x +
// φ/Φ)/dx = 1 − p.
func MillsExcessSlope(n int) func(x float64) float64 {
	of := []float64{1} // by j: the factor of r^(1+n+j) P^(j)(t)
	for k := range n {
		next := make([]float64, len(of)+1)
		for j, f := range of {
			next[j] += float64(f * float64(1+k+j))
			next[j+1] -= float64(f * 6)
		}
		of = next
	}
	return func(x float64) float64 {
		if x < farLeft {
			return slopesFarLeft(-x, of)
		}
		return slopesByProduct(x, n)
	}
}

const farLeft = -3

// slopesFarLeft returns Σ_j factor_j r^(n+j) P^(j)(t) for n + 1 = len(factors), see
// [MillsExcessSlope].
func slopesFarLeft(z float64, factors []float64) float64 {
	r := 1 / (z + 3)
	t := math.FMA(-6, r, 1)
	derivatives := make([]float64, len(factors)) // of P, over j!
	for i := len(millsTerms) - 1; i >= 0; i-- {
		for j := len(derivatives) - 1; j > 0; j-- {
			derivatives[j] = math.FMA(derivatives[j], t, derivatives[j-1])
		}
		derivatives[0] = math.FMA(derivatives[0], t, millsTerms[i])
	}
	sum := 0.0
	for j := len(factors) - 1; j >= 0; j-- {
		sum = math.FMA(sum, r, float64(factors[j]*factorial(j)*derivatives[j]))
	}
	return sum * power(r, len(factors))
}

// slopesByProduct is [MillsExcessSlope] by Leibniz's rule.
func slopesByProduct(x float64, n int) float64 {
	h, e := make([]float64, n), make([]float64, n) // derivatives of φ/Φ and of x + φ/Φ
	h[0], e[0] = InverseMills(x), MillsExcess(x)
	for k := 0; ; k++ {
		p, choose := 0.0, 1.0
		for i := 0; i <= k; i++ {
			p += float64(choose * h[i] * e[k-i])
			choose = choose * float64(k-i) / float64(i+1)
		}
		slope := -p
		if k == 0 {
			slope = 1 - p
		}
		if k+1 == n {
			return slope
		}
		h[k+1], e[k+1] = -p, slope
	}
}

// MillsExcess returns x + φ(x)/Φ(x), accurate far to the left too, where it is about −1/x.
func MillsExcess(x float64) float64 {
	if x < 0 {
		return tailExcess(-x)
	}
	return x + InverseMills(x)
}
