package kernel

import (
	"math"

	"dsbo/internal/num"
)

// log1pExp returns log(1 + e^x), and sigmoid 1/(1 + e^−x), in forms that do not overflow.
func log1pExp(x float64) float64 { return max(x, 0) + num.Log1p(num.Exp(-math.Abs(x))) }
func sigmoid(x float64) float64 {
	e := num.Exp(-math.Abs(x))
	if x < 0 {
		return e / (1 + e)
	}
	return 1 / (1 + e)
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

func rowAddGo[T Float](rows, cols int, dst, src, u []T) {
	for i := range rows {
		d := dst[i*cols : (i+1)*cols]
		for j, v := range src[i*cols : (i+1)*cols] {
			d[j] = v + u[i]
		}
	}
}

func rowMulGo[T Float](rows, cols int, dst, src, u []T) {
	for i := range rows {
		scaleGo(dst[i*cols:(i+1)*cols], u[i], src[i*cols:(i+1)*cols])
	}
}
