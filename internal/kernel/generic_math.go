package kernel

import "math"

// The float32 twins compute in float64 and round once.

// factorials holds 1/n!, the series of the exponential: at |r| ≤ log(2)/2 the first term left out is 4e-18.
var factorials = [14]float64{1, 1, 1. / 2, 1. / 6, 1. / 24, 1. / 120, 1. / 720, 1. / 5040, 1. / 40320, 1. / 362880,
	1. / 3628800, 1. / 39916800, 1. / 479001600, 1. / 6227020800}

// log 2 in two parts, the first short enough for its product with an exponent to be exact.
const (
	ln2Hi = 0x1.62e42fee00000p-1
	ln2Lo = 0x1.a39ef35793c76p-33
)

// expOf is eˣ within 1 ulp. math.Exp would not do: on some machines it overflows from 709.44 on,
// where eˣ is finite up to 709.78.
func expOf(x float64) float64 {
	if x != x {
		return x
	}
	x = min(max(x, -1000), 1000)
	n := math.Floor(x*math.Log2E + 0.5)
	r := (x - float64(n*ln2Hi)) - float64(n*ln2Lo)
	q := factorials[13]
	for i := 12; i >= 2; i-- {
		q = float64(q*r) + factorials[i]
	}
	return math.Ldexp(1+(r+float64(float64(r*r)*q)), int(n))
}

func expGo[T Float](dst, src []T) {
	src = src[:len(dst)]
	for i := range dst {
		dst[i] = T(expOf(float64(src[i])))
	}
}

func log1pExpGo[T Float](dst, src []T) {
	src = src[:len(dst)]
	for i := range dst {
		x := float64(src[i])
		dst[i] = T(max(x, 0) + math.Log1p(expOf(-math.Abs(x))))
	}
}

func sigmoidGo[T Float](dst, src []T) {
	src = src[:len(dst)]
	for i := range dst {
		x := float64(src[i])
		e := expOf(-math.Abs(x))
		if x < 0 {
			dst[i] = T(e / (1 + e))
		} else {
			dst[i] = T(1 / (1 + e))
		}
	}
}

// tanhGo takes e⁻²ˣ − 1, which keeps the relative accuracy near 0.
func tanhGo[T Float](dst, src []T) {
	src = src[:len(dst)]
	for i := range dst {
		x := float64(src[i])
		e := math.Expm1(-2 * math.Abs(x))
		dst[i] = T(math.Copysign(-e/(2+e), x))
	}
}

// logGo lifts numbers below the normal ones among them, where math.Log is right on every machine.
func logGo[T Float](dst, src []T) {
	src = src[:len(dst)]
	for i := range dst {
		x := float64(src[i])
		if 0 < x && x < 0x1p-1022 {
			dst[i] = T(math.Log(x*0x1p54) - 54*math.Ln2)
		} else {
			dst[i] = T(math.Log(x))
		}
	}
}

// rowShiftGo sets each row of dst to the row of src less its maximum, which goes to peak unless
// that is nil. A NaN is never the maximum.
func rowShiftGo[T Float](rows, cols int, dst, src, peak []T) {
	for i := range rows {
		s, d := src[i*cols:(i+1)*cols], dst[i*cols:(i+1)*cols]
		m := T(math.Inf(-1))
		for _, v := range s {
			if v > m {
				m = v
			}
		}
		if peak != nil {
			peak[i] = m
		}
		for j, v := range s {
			d[j] = v - m
		}
	}
}

// rowSumGo sets dst[i] to the sum of row i of src.
func rowSumGo[T Float](rows, cols int, dst, src []T) {
	for i := range rows {
		dst[i] = sumGo(src[i*cols : (i+1)*cols])
	}
}

// rowNormalizeGo divides each row of x by its sum.
func rowNormalizeGo[T Float](rows, cols int, x []T) {
	for i := range rows {
		r := x[i*cols : (i+1)*cols]
		s := sumGo(r)
		for j := range r {
			r[j] /= s
		}
	}
}
