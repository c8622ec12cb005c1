package num

import "math"

// logTerms are L1 to L7 of fdlibm: log(1+f) = 2s + s·R(s²) with s = f/(2+f).
var logTerms = [7]float64{6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01,
	2.222219843214978396e-01,
	1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01}

// Log returns the natural logarithm: −Inf of 0, NaN of NaN and of negative numbers, +Inf of +Inf.
func Log(x float64) float64 {
	switch {
	case x != x || x > math.MaxFloat64:
		return x
	case x < 0:
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	}
	f, exponent := math.Frexp(x)
	if f < math.Sqrt2/2 {
		f, exponent = 2*f, exponent-1
	}
	f--
	k, s := float64(exponent), f/(2+f)
	s2 := float64(s * s)
	s4 := float64(s2 * s2)
	l := &logTerms
	odd := float64(s4*l[6]) + l[4]
	odd = float64(s4*odd) + l[2]
	odd = float64(s4*odd) + l[0]
	even := float64(s4*l[5]) + l[3]
	even = float64(s4*even) + l[1]
	r := float64(s2*odd) + float64(s4*even)
	half := float64(0.5 * f * f)
	return float64(k*ln2Hi) - ((half - (float64(s*(half+r)) + float64(k*ln2Lo))) - f)
}

// Log1p returns log(1+x), accurate near 0 too: −Inf of −1, NaN of NaN and below −1, +Inf of +Inf.
func Log1p(x float64) float64 {
	const (
		tiny  = 0x1p-54 // of such numbers x is the nearest answer
		small = 0x1p-29 // of such, x − x²/2
	)
	size := math.Abs(x)
	switch {
	case x != x || x < -1:
		return math.NaN()
	case x == -1:
		return math.Inf(-1)
	case x > math.MaxFloat64 || size < tiny:
		return x
	case size < small:
		return x - float64(x*x*0.5)
	}
	k, f, c := log1pReduced(x)
	half := float64(0.5 * f * f)
	s := f / (2 + f)
	z := float64(s * s)
	r := float64(z * polynomial(z, logTerms[:]))
	if k == 0 {
		return f - (half - float64(s*(half+r)))
	}
	n := float64(k)
	return float64(n*ln2Hi) - ((half - (float64(s*(half+r)) + (float64(n*ln2Lo) + c))) - f)
}

// log1pReduced returns k, f and c with 1 + x = 2^k (1+f) and 1 + f between √½ and √2; c is the
// rounding error of 1 + x, relative to it.
func log1pReduced(x float64) (k int, f, c float64) {
	const (
		from = -2.928932188134524755992e-01 // √½ − 1
		to   = 4.142135623730950488017e-01  // √2 − 1
	)
	if from < x && x < to {
		return 0, x, 0
	}
	u := x
	if x < 0x1p53 {
		u = 1 + x
	}
	half, exponent := math.Frexp(u)
	k, f = exponent-1, 2*half
	switch {
	case u == x:
	case k > 0:
		c = (1 - (u - x)) / u
	default:
		c = (x - (u - 1)) / u
	}
	if f >= math.Sqrt2 {
		k, f = k+1, half
	}
	return k, f - 1, c
}
