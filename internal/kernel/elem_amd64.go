//go:build amd64 && !noasm

package kernel

import "unsafe"

func addTo[T Float](dst, x, y []T) {
	n, d, p, q := len(dst), pointer(dst), pointer(x), pointer(y)
	switch {
	case active == Generic:
		addToGo(dst, x, y)
	case n == 0:
	case active == AVX512 && size[T]() == 4:
		addToF32AVX512(n, f32(d), f32(p), f32(q))
	case active == AVX512:
		addToF64AVX512(n, f64(d), f64(p), f64(q))
	case size[T]() == 4:
		addToF32AVX2(n, f32(d), f32(p), f32(q))
	default:
		addToF64AVX2(n, f64(d), f64(p), f64(q))
	}
}

func subTo[T Float](dst, x, y []T) {
	n, d, p, q := len(dst), pointer(dst), pointer(x), pointer(y)
	switch {
	case active == Generic:
		subToGo(dst, x, y)
	case n == 0:
	case active == AVX512 && size[T]() == 4:
		subToF32AVX512(n, f32(d), f32(p), f32(q))
	case active == AVX512:
		subToF64AVX512(n, f64(d), f64(p), f64(q))
	case size[T]() == 4:
		subToF32AVX2(n, f32(d), f32(p), f32(q))
	default:
		subToF64AVX2(n, f64(d), f64(p), f64(q))
	}
}

func mulTo[T Float](dst, x, y []T) {
	n, d, p, q := len(dst), pointer(dst), pointer(x), pointer(y)
	switch {
	case active == Generic:
		mulToGo(dst, x, y)
	case n == 0:
	case active == AVX512 && size[T]() == 4:
		mulToF32AVX512(n, f32(d), f32(p), f32(q))
	case active == AVX512:
		mulToF64AVX512(n, f64(d), f64(p), f64(q))
	case size[T]() == 4:
		mulToF32AVX2(n, f32(d), f32(p), f32(q))
	default:
		mulToF64AVX2(n, f64(d), f64(p), f64(q))
	}
}

func axpy[T Float](dst []T, a T, x []T) {
	n, d, p := len(dst), pointer(dst), pointer(x)
	switch {
	case active == Generic:
		axpyGo(dst, a, x)
	case n == 0:
	case active == AVX512 && size[T]() == 4:
		axpyF32AVX512(n, f32(d), float32(a), f32(p))
	case active == AVX512:
		axpyF64AVX512(n, f64(d), float64(a), f64(p))
	case size[T]() == 4:
		axpyF32AVX2(n, f32(d), float32(a), f32(p))
	default:
		axpyF64AVX2(n, f64(d), float64(a), f64(p))
	}
}

func scale[T Float](dst []T, a T, x []T) {
	n, d, p := len(dst), pointer(dst), pointer(x)
	switch {
	case active == Generic:
		scaleGo(dst, a, x)
	case n == 0:
	case active == AVX512 && size[T]() == 4:
		scaleF32AVX512(n, f32(d), float32(a), f32(p))
	case active == AVX512:
		scaleF64AVX512(n, f64(d), float64(a), f64(p))
	case size[T]() == 4:
		scaleF32AVX2(n, f32(d), float32(a), f32(p))
	default:
		scaleF64AVX2(n, f64(d), float64(a), f64(p))
	}
}

func dot[T Float](x, y []T) T {
	n, p, q := len(x), pointer(x), pointer(y)
	switch {
	case active == Generic:
		return dotGo(x, y)
	case n == 0:
		return 0
	case active == AVX512 && size[T]() == 4:
		return T(dotSumF32AVX512(n, f32(p), f32(q)))
	case active == AVX512:
		return T(dotSumF64AVX512(n, f64(p), f64(q)))
	case size[T]() == 4:
		return T(dotSumF32AVX2(n, f32(p), f32(q)))
	default:
		return T(dotSumF64AVX2(n, f64(p), f64(q)))
	}
}

func sum[T Float](x []T) T {
	n, p := len(x), pointer(x)
	switch {
	case active == Generic:
		return sumGo(x)
	case n == 0:
		return 0
	case active == AVX512 && size[T]() == 4:
		return T(sumF32AVX512(n, f32(p)))
	case active == AVX512:
		return T(sumF64AVX512(n, f64(p)))
	case size[T]() == 4:
		return T(sumF32AVX2(n, f32(p)))
	default:
		return T(sumF64AVX2(n, f64(p)))
	}
}

func fromBytes[T Float](dst []T, src []byte, scale T) {
	n, d, s := len(dst), pointer(dst), unsafe.SliceData(src)
	switch {
	case active == Generic:
		fromBytesGo(dst, src, scale)
	case n == 0:
	case active == AVX512 && size[T]() == 4:
		fromBytesF32AVX512(n, f32(d), s, float32(scale))
	case active == AVX512:
		fromBytesF64AVX512(n, f64(d), s, float64(scale))
	case size[T]() == 4:
		fromBytesF32AVX2(n, f32(d), s, float32(scale))
	default:
		fromBytesF64AVX2(n, f64(d), s, float64(scale))
	}
}
