package kernel

import (
	"bytes"
	"unsafe"
)

// FromBytes sets dst = scale·src, each byte taken as a number from 0 to 255 and the product
// rounded once. dst and src have one length.
func FromBytes[T Float](dst []T, src []byte, scale T) {
	checkLen("FromBytes", len(dst), len(src))
	fromBytes(dst, src, scale)
}

// AddTo sets dst = x + y. All have one length, and dst may be x or y.
func AddTo[T Float](dst, x, y []T) {
	checkLen("AddTo", len(dst), len(x), len(y))
	addTo(dst, x, y)
}

// SubTo sets dst = x − y. All have one length, and dst may be x or y.
func SubTo[T Float](dst, x, y []T) {
	checkLen("SubTo", len(dst), len(x), len(y))
	subTo(dst, x, y)
}

// MulTo sets dst = x·y entry by entry. All have one length, and dst may be x or y.
func MulTo[T Float](dst, x, y []T) {
	checkLen("MulTo", len(dst), len(x), len(y))
	mulTo(dst, x, y)
}

// DivTo sets dst = x/y, entry by entry. All have one length, and dst may be x or y.
func DivTo[T Float](dst, x, y []T) {
	checkLen("DivTo", len(dst), len(x), len(y))
	divTo(dst, x, y)
}

// Sqrt sets dst = √x, entry by entry, NaN of negative numbers. Both have one length, and dst may
// be x.
func Sqrt[T Float](dst, x []T) {
	checkLen("Sqrt", len(dst), len(x))
	sqrt(dst, x)
}

// ReLU sets dst to the larger of x and 0, entry by entry: NaN where x is, and never −0. Both have
// one length, and dst may be x.
func ReLU[T Float](dst, x []T) {
	checkLen("ReLU", len(dst), len(x))
	relu(dst, x)
}

// Step sets dst to 1 where x is positive, else to 0. Both have one length, and dst may be x.
func Step[T Float](dst, x []T) {
	checkLen("Step", len(dst), len(x))
	step(dst, 1, x)
}

// Gate sets dst to y where x is positive, else to 0, also where y is not finite. All have one
// length, and dst may be x or y.
func Gate[T Float](dst, x, y []T) {
	checkLen("Gate", len(dst), len(x), len(y))
	gate(dst, x, y)
}

// FromFloat64 sets dst to the numbers of src, rounded. Both have one length, and do not overlap.
func FromFloat64[T Float](dst []T, src []float64) {
	checkLen("FromFloat64", len(dst), len(src))
	fromFloat64(dst, src)
}

// ToFloat64 sets dst to the numbers of src. Both have one length, and do not overlap.
func ToFloat64[T Float](dst []float64, src []T) {
	checkLen("ToFloat64", len(dst), len(src))
	toFloat64(dst, src)
}

// SameBits reports whether a and b have the same bits, entry by entry: 0 and −0 differ, and a NaN
// is like itself. Both have one length.
func SameBits[T Float](a, b []T) bool {
	checkLen("SameBits", len(a), len(b))
	return bytes.Equal(inMemory(a), inMemory(b))
}

// inMemory returns the bytes of numbers.
func inMemory[T Float](x []T) []byte { return unsafe.Slice((*byte)(pointer(x)), len(x)*size[T]()) }

// Axpy adds a·x to dst; the product is rounded before it is added, on every path. Both have one
// length, and dst may be x.
func Axpy[T Float](dst []T, a T, x []T) {
	checkLen("Axpy", len(dst), len(x))
	axpy(dst, a, x)
}

// Scale sets dst = a·x. Both have one length, and dst may be x.
func Scale[T Float](dst []T, a T, x []T) {
	checkLen("Scale", len(dst), len(x))
	scale(dst, a, x)
}

// Comb sets dst = a·x + b·y; products are rounded before they are added, on every path. All have
// one length, and dst may be x or y.
func Comb[T Float](dst []T, a T, x []T, b T, y []T) {
	checkLen("Comb", len(dst), len(x), len(y))
	comb(dst, a, x, b, y)
}

// Dot returns Σ x_i y_i of two slices of one length. The order of summation depends on the
// length alone.
func Dot[T Float](x, y []T) T {
	checkLen("Dot", len(x), len(y))
	return dotSum(x, y)
}

// Sum returns Σ x_i. The order of summation depends on the length alone.
func Sum[T Float](x []T) T { return sum(x) }

// Prefetch asks the processor to begin loading src into its caches while it goes on with other
// work. It changes no result; without assembly it does nothing.
func Prefetch[E byte | float32 | float64](src []E) {
	var e E
	prefetch(unsafe.Slice((*byte)(pointer(src)), len(src)*int(unsafe.Sizeof(e))))
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
	packTransposed[T](cols, rows, pointer(dst), ldd*size[T](), rowMajor(src, lds).transposed())
}
