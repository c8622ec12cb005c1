//go:build amd64 && !noasm

package kernel

func exp[T Float](dst, src []T) {
	n, d, s := len(dst), pointer(dst), pointer(src)
	switch {
	case active == Generic:
		expGo(dst, src)
	case n == 0:
	case active == AVX512 && size[T]() == 4:
		expF32AVX512(n, f32(d), f32(s))
	case active == AVX512:
		expF64AVX512(n, f64(d), f64(s))
	case size[T]() == 4:
		expF32AVX2(n, f32(d), f32(s))
	default:
		expF64AVX2(n, f64(d), f64(s))
	}
}

func log1pExp[T Float](dst, src []T) {
	n, d, s := len(dst), pointer(dst), pointer(src)
	switch {
	case active == Generic:
		log1pExpGo(dst, src)
	case n == 0:
	case active == AVX512 && size[T]() == 4:
		log1pExpF32AVX512(n, f32(d), f32(s))
	case active == AVX512:
		log1pExpF64AVX512(n, f64(d), f64(s))
	case size[T]() == 4:
		log1pExpF32AVX2(n, f32(d), f32(s))
	default:
		log1pExpF64AVX2(n, f64(d), f64(s))
	}
}

func sigmoid[T Float](dst, src []T) {
	n, d, s := len(dst), pointer(dst), pointer(src)
	switch {
	case active == Generic:
		sigmoidGo(dst, src)
	case n == 0:
	case active == AVX512 && size[T]() == 4:
		sigmoidF32AVX512(n, f32(d), f32(s))
	case active == AVX512:
		sigmoidF64AVX512(n, f64(d), f64(s))
	case size[T]() == 4:
		sigmoidF32AVX2(n, f32(d), f32(s))
	default:
		sigmoidF64AVX2(n, f64(d), f64(s))
	}
}

func tanh[T Float](dst, src []T) {
	n, d, s := len(dst), pointer(dst), pointer(src)
	switch {
	case active == Generic:
		tanhGo(dst, src)
	case n == 0:
	case active == AVX512 && size[T]() == 4:
		tanhF32AVX512(n, f32(d), f32(s))
	case active == AVX512:
		tanhF64AVX512(n, f64(d), f64(s))
	case size[T]() == 4:
		tanhF32AVX2(n, f32(d), f32(s))
	default:
		tanhF64AVX2(n, f64(d), f64(s))
	}
}

func log[T Float](dst, src []T) {
	n, d, s := len(dst), pointer(dst), pointer(src)
	switch {
	case active == Generic:
		logGo(dst, src)
	case n == 0:
	case active == AVX512 && size[T]() == 4:
		logF32AVX512(n, f32(d), f32(s))
	case active == AVX512:
		logF64AVX512(n, f64(d), f64(s))
	case size[T]() == 4:
		logF32AVX2(n, f32(d), f32(s))
	default:
		logF64AVX2(n, f64(d), f64(s))
	}
}

func rowShift[T Float](rows, cols int, dst, src, peak []T) {
	d, s, p := pointer(dst), pointer(src), pointer(peak)
	switch {
	case active == Generic:
		rowShiftGo(rows, cols, dst, src, peak)
	case rows == 0:
	case active == AVX512 && size[T]() == 4:
		rowShiftF32AVX512(rows, cols, f32(d), f32(s), f32(p))
	case active == AVX512:
		rowShiftF64AVX512(rows, cols, f64(d), f64(s), f64(p))
	case size[T]() == 4:
		rowShiftF32AVX2(rows, cols, f32(d), f32(s), f32(p))
	default:
		rowShiftF64AVX2(rows, cols, f64(d), f64(s), f64(p))
	}
}

func rowSum[T Float](rows, cols int, dst, src []T) {
	d, s := pointer(dst), pointer(src)
	switch {
	case active == Generic:
		rowSumGo(rows, cols, dst, src)
	case rows == 0:
	case active == AVX512 && size[T]() == 4:
		rowSumF32AVX512(rows, cols, f32(d), f32(s))
	case active == AVX512:
		rowSumF64AVX512(rows, cols, f64(d), f64(s))
	case size[T]() == 4:
		rowSumF32AVX2(rows, cols, f32(d), f32(s))
	default:
		rowSumF64AVX2(rows, cols, f64(d), f64(s))
	}
}

func rowNormalize[T Float](rows, cols int, x []T) {
	p := pointer(x)
	switch {
	case active == Generic:
		rowNormalizeGo(rows, cols, x)
	case rows == 0:
	case active == AVX512 && size[T]() == 4:
		rowNormalizeF32AVX512(rows, cols, f32(p))
	case active == AVX512:
		rowNormalizeF64AVX512(rows, cols, f64(p))
	case size[T]() == 4:
		rowNormalizeF32AVX2(rows, cols, f32(p))
	default:
		rowNormalizeF64AVX2(rows, cols, f64(p))
	}
}
