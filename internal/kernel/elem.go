package kernel

import (
	"bytes"
	"unsafe"
)

// Step sets dst to 1 where x is positive, else to 0. Both have one length, and dst may be x.
func Step[T Float](dst, x []T) {
	checkLen("Step", len(dst), len(x))
	step(dst, 1, x)
}

// SameBits reports whether a and b have the same bits, entry by entry: 0 and −0 differ, and a NaN
// is like itself. Both have one length.
func SameBits[T Float](a, b []T) bool {
	checkLen("SameBits", len(a), len(b))
	return bytes.Equal(inMemory(a), inMemory(b))
}

// inMemory returns the bytes of numbers.
func inMemory[T byte | float32 | float64](x []T) []byte {
	return unsafe.Slice((*byte)(pointer(x)), len(x)*size[T]())
}

// Dot returns Σ x_i y_i of two slices of one length. The order of summation depends on the
// length alone.
func Dot[T Float](x, y []T) T {
	checkLen("Dot", len(x), len(y))
	return dotSum(x, y)
}

// Prefetch asks the processor to load src into its caches while it continues with other work. It
// changes no result; without assembly it does nothing.
func Prefetch[E byte | float32 | float64](src []E) {
	prefetch(inMemory(src))
}

// Transpose sets dst, of cols rows with stride ldd, to the transpose of src, of rows×cols with
// stride lds.
func Transpose[T Float](rows, cols int, dst []T, ldd int, src []T, lds int) {
	checkMatrix("Transpose", "dst", len(dst), cols, rows, ldd)
	checkMatrix("Transpose", "src", len(src), rows, cols, lds)
	if active == Generic {
		for i := range rows {
			for j, v := range src[i*lds:][:cols] {
				dst[j*ldd+i] = v
			}
		}
		return
	}
	packTransposed[T](cols, rows, rowMajor(dst, ldd), rowMajor(src, lds).transposed())
}
