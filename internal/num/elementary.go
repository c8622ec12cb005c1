// This file has exponentials, logarithms and their like with the same bits on every machine.
//
// Package math's bits differ: some functions are assembly on some architectures, its exponential
// depends on the processor's features, and where the compiler may fuse a product with the following
// sum (arm64, GOAMD64=v3 and others) it rounds once instead of twice. Agents on different machines
// would then reach different models. Here each product is rounded before it is added, by a
// conversion that forbids fusing. The functions of package math still used here round correctly or
// work on bits, such as Sqrt, Frexp and Floor.
//
// The approximations are fdlibm's (Sun Microsystems, 1993, freely granted), which package math
// follows too, and in Sin and Cos of Cephes (Moshier, 1989); the exponential is a series. Errors
// are below two units in the last place.

package num

import "math"

// log 2 in two parts, the first short enough for its product with an exponent to be exact.
const (
	ln2Hi = 0x1.62e42fee00000p-1
	ln2Lo = 0x1.a39ef35793c76p-33
)

// factorials are 1/n!, the coefficients of the exponential: at |r| ≤ log(2)/2 the first term left
// out is 4e-18.
var factorials = [14]float64{1, 1, 1. / 2, 1. / 6, 1. / 24, 1. / 120, 1. / 720, 1. / 5040, 1. / 40320, 1. / 362880,
	1. / 3628800, 1. / 39916800, 1. / 479001600, 1. / 6227020800}

// Exp returns eˣ, which underflows gradually, and 0 or +Inf where that is the nearest number; NaN
// of NaN.
func Exp(x float64) float64 {
	if x != x {
		return x
	}
	x = min(max(x, -1000), 1000) // beyond, the result is 0 or +Inf anyway, and n fits an int
	n := math.Floor(float64(x*math.Log2E) + 0.5)
	r := (x - float64(n*ln2Hi)) - float64(n*ln2Lo)
	q := factorials[13]
	for i := 12; i >= 2; i-- {
		q = float64(q*r) + factorials[i]
	}
	return math.Ldexp(1+(r+float64(float64(r*r)*q)), int(n))
}

// expm1Terms are Q1 to Q5 of fdlibm.
var expm1Terms = [6]float64{1, -3.33333333333331316428e-02, 1.58730158725481460165e-03, -7.93650757867487942473e-05,
	4.00821782732936239552e-06, -2.01099218183624371326e-07}

// Expm1 returns eˣ − 1, accurate near 0 too: 0 of 0, −1 of −Inf, +Inf from 709.79 on, NaN of NaN.
func Expm1(x float64) float64 {
	const (
		least = -56 * math.Ln2 // below, e^x is nothing beside 1
		most  = 7.09782712893383973096e+02
		tiny  = 0x1p-54 // of such numbers x is the nearest answer
	)
	switch {
	case x != x || math.Abs(x) < tiny:
		return x
	case x <= least:
		return -1
	case x >= most:
		return math.Inf(1)
	}
	k, r, c := expm1Reduced(x)

	// e^r − 1 = r + r²/2 + ..., by a rational function of r² for the rest
	half := 0.5 * r
	square := float64(r * half)
	r1 := polynomial(square, expm1Terms[:])
	t := 3 - float64(r1*half)
	e := float64(square * ((r1 - t) / (6 - float64(r*t))))
	if k == 0 {
		return r - (float64(r*e) - square)
	}
	// e is now r − (e^r − 1), and e^x − 1 = 2^k (1 + r − e) − 1. How it is summed depends on k, so
	// that the 1 of each is added to terms of its size.
	e = (float64(r*(e-c)) - c) - square
	switch {
	case k == -1:
		return float64(0.5*(r-e)) - 0.5
	case k == 1 && r < -0.25:
		return -2 * (e - (r + 0.5))
	case k == 1:
		return 1 + float64(2*(r-e))
	case k <= -2 || k > 56: // the 1 is taken off the whole
		return math.Ldexp(1-(e-r), k) - 1
	case k < 20:
		return math.Ldexp((1-math.Ldexp(1, -k))-(e-r), k)
	}
	return math.Ldexp((r-(e+math.Ldexp(1, -k)))+1, k)
}

// expm1Reduced returns k and r + c = x − k log 2, the latter within ±log(2)/2; c is the rounding
// error of r.
func expm1Reduced(x float64) (k int, r, c float64) {
	size := math.Abs(x)
	switch {
	case size <= 0.5*math.Ln2:
		return 0, x, 0
	case size < 1.5*math.Ln2:
		k = 1
	default:
		k = int(float64(math.Log2E*size) + 0.5)
	}
	if x < 0 {
		k = -k
	}
	hi, lo := x-float64(float64(k)*ln2Hi), float64(float64(k)*ln2Lo)
	r = hi - lo
	return k, r, (hi - r) - lo
}

// polynomial returns c[0] + c[1] x + c[2] x² + ... by Horner's rule.
func polynomial(x float64, c []float64) float64 {
	sum := 0.0
	for i := len(c) - 1; i >= 0; i-- {
		sum = float64(sum*x) + c[i]
	}
	return sum
}

// Tanh returns the hyperbolic tangent, accurate near 0 too; NaN of NaN.
func Tanh(x float64) float64 {
	e := Expm1(-2 * math.Abs(x)) // keeps the relative accuracy near 0
	return math.Copysign(-e/(2+e), x)
}
