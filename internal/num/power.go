package num

import "math"

// Pow returns x^y, by products of squares and, of the rest of y, by Exp and Log. Infinities, NaN,
// zeros and negative x are as in math.Pow.
func Pow(x, y float64) float64 {
	finite := math.Abs(x) <= math.MaxFloat64 && math.Abs(y) < 1<<63
	if !finite || x == 0 || y == 0 || math.Abs(y) == 0.5 {
		return math.Pow(x, y) // exact, or one correct rounding
	}
	size := math.Abs(y)
	whole := math.Trunc(size)
	rest := size - whole
	if rest != 0 && x < 0 {
		return math.NaN()
	}
	v, exponent := 1.0, 0 // the result is v 2^exponent, so that nothing overflows on the way
	if rest != 0 {
		if rest > 0.5 { // the smaller the rest, the smaller the error of its exponential
			rest, whole = rest-1, whole+1
		}
		v = Exp(rest * Log(x))
	}
	square, e := math.Frexp(x)
	for n := int64(whole); n != 0; n >>= 1 {
		if e < -1<<12 || e > 1<<12 { // beyond all numbers whatever follows
			exponent += e
			break
		}
		if n&1 == 1 {
			v, exponent = v*square, exponent+e
		}
		square, e = float64(square*square), 2*e
		if square < 0.5 { // as Frexp returns it
			square, e = 2*square, e-1
		}
	}
	if y < 0 {
		v, exponent = 1/v, -exponent
	}
	return math.Ldexp(v, exponent)
}
