package kernel

import "math"

func fromBytesGo[T Float](dst []T, src []byte, scale T) {
	src = src[:len(dst)]
	for i := range dst {
		dst[i] = T(src[i]) * scale
	}
}

func addToGo[T Float](dst, x, y []T) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = x[i] + y[i]
	}
}

func subToGo[T Float](dst, x, y []T) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = x[i] - y[i]
	}
}

func mulToGo[T Float](dst, x, y []T) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = x[i] * y[i]
	}
}

func divToGo[T Float](dst, x, y []T) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = x[i] / y[i]
	}
}

func sqrtGo[T Float](dst, x []T) {
	x = x[:len(dst)]
	for i := range dst {
		dst[i] = T(math.Sqrt(float64(x[i])))
	}
}

func reLUGo[T Float](dst, x []T) {
	x = x[:len(dst)]
	for i := range dst {
		dst[i] = max(x[i], 0)
	}
}

// stepGo sets dst to a where x is positive, and 0 elsewhere.
func stepGo[T Float](dst []T, a T, x []T) {
	x = x[:len(dst)]
	for i, v := range x {
		dst[i] = 0
		if v > 0 {
			dst[i] = a
		}
	}
}

// gateGo sets dst to y where x is positive, and 0 elsewhere.
func gateGo[T Float](dst, x, y []T) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i, v := range x {
		g := y[i] // before dst, which may be y
		if !(v > 0) {
			g = 0
		}
		dst[i] = g
	}
}

func fromFloat64Go[T Float](dst []T, src []float64) {
	src = src[:len(dst)]
	for i := range dst {
		dst[i] = T(src[i])
	}
}

func toFloat64Go[T Float](dst []float64, src []T) {
	src = src[:len(dst)]
	for i := range dst {
		dst[i] = float64(src[i])
	}
}

func axpyGo[T Float](dst []T, a T, x []T) {
	x = x[:len(dst)]
	for i := range dst {
		dst[i] += T(a * x[i])
	}
}

func scaleGo[T Float](dst []T, a T, x []T) {
	x = x[:len(dst)]
	for i := range dst {
		dst[i] = a * x[i]
	}
}

func combGo[T Float](dst []T, a T, x []T, b T, y []T) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = T(a*x[i]) + T(b*y[i])
	}
}

func dotSumGo[T Float](x, y []T) T {
	y = y[:len(x)]
	var s T
	for i, v := range x {
		s += T(v * y[i])
	}
	return s
}

func sumGo[T Float](x []T) T {
	var s T
	for _, v := range x {
		s += v
	}
	return s
}
