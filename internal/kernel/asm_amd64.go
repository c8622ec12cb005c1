//go:build amd64 && !noasm

package kernel

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// detect returns the fastest path whose instructions both the machine and its system support.
func detect() Path {
	x := &cpu.X86
	switch {
	case !x.HasAVX2 || !x.HasFMA || !x.HasBMI2:
		return Generic
	case x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL:
		return AVX512
	}
	return AVX2
}

// size returns the bytes of a T; it is a constant in the code of either type.
func size[T Float]() int {
	var v T
	return int(unsafe.Sizeof(v))
}

// pointer returns where x begins.
func pointer[T Float](x []T) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(x)) }

type (
	f32 = *float32
	f64 = *float64
)

func dotTile[T Float](mr, nr, groups, k int, c unsafe.Pointer, rs, cs int, a unsafe.Pointer, lda int, b unsafe.Pointer, ldb int) {
	switch wide := active == AVX512; {
	case wide && size[T]() == 4:
		dotF32AVX512(mr, nr, groups, k, f32(c), rs, cs, f32(a), lda, f32(b), ldb)
	case wide:
		dotF64AVX512(mr, nr, groups, k, f64(c), rs, cs, f64(a), lda, f64(b), ldb)
	case size[T]() == 4:
		dotF32AVX2(mr, nr, groups, k, f32(c), rs, cs, f32(a), lda, f32(b), ldb)
	default:
		dotF64AVX2(mr, nr, groups, k, f64(c), rs, cs, f64(a), lda, f64(b), ldb)
	}
}

func outerPanels[T Float](mr, nv, panels, last, k int, c unsafe.Pointer, ldc int, a unsafe.Pointer, ra, ca int, b unsafe.Pointer, ldb, acc int) {
	switch wide := active == AVX512; {
	case wide && size[T]() == 4:
		outerF32AVX512(mr, nv, panels, last, k, f32(c), ldc, f32(a), ra, ca, f32(b), ldb, acc)
	case wide:
		outerF64AVX512(mr, nv, panels, last, k, f64(c), ldc, f64(a), ra, ca, f64(b), ldb, acc)
	case size[T]() == 4:
		outerF32AVX2(mr, nv, panels, last, k, f32(c), ldc, f32(a), ra, ca, f32(b), ldb, acc)
	default:
		outerF64AVX2(mr, nv, panels, last, k, f64(c), ldc, f64(a), ra, ca, f64(b), ldb, acc)
	}
}
