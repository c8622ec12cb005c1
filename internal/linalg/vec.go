// This file has the dense-vector loops of the methods, the exchange and the evaluation.
//
// Every product is rounded before it is added (the conversion forbids a fused multiply-add), so
// results are the same bits on every machine. For float32 vectors, factors are rounded to float32
// first. All slices of a call have the length of the first; functions that write allow the
// destination to be an input.

package linalg

import (
	"math"

	"dsbo/internal/kernel"
)

// Block is how many numbers stay in the first-level cache: 8 KiB of float64.
const Block = 1024

// EachBlock calls f for all of 0..n in blocks of at most [Block] numbers. Several loops over the
// same vectors then read from the first-level cache what the loop before wrote.
func EachBlock(n int, f func(from, to int)) {
	for from := 0; from < n; from += Block {
		f(from, min(from+Block, n))
	}
}

// Axpy adds a·x to dst.
func Axpy[T kernel.Float](dst []T, a float64, x []T) { kernel.Axpy(dst, T(a), x[:len(dst)]) }

// Comb sets dst = a·x + b·y.
func Comb[T kernel.Float](dst []T, a float64, x []T, b float64, y []T) {
	kernel.Comb(dst, T(a), x[:len(dst)], T(b), y[:len(dst)])
}

// Scale sets dst = a·x.
func Scale[T kernel.Float](dst []T, a float64, x []T) { kernel.Scale(dst, T(a), x[:len(dst)]) }

// Add sets dst = x + y.
func Add[T kernel.Float](dst, x, y []T) { kernel.AddTo(dst, x[:len(dst)], y[:len(dst)]) }

// Sub sets dst = x − y.
func Sub[T kernel.Float](dst, x, y []T) { kernel.SubTo(dst, x[:len(dst)], y[:len(dst)]) }

// Fill sets every entry of dst to a.
func Fill[T kernel.Float](dst []T, a T) {
	for i := range dst {
		dst[i] = a
	}
}

// Dot returns Σ x_i y_i, summed in order in float64.
func Dot[T kernel.Float](x, y []T) float64 {
	y = y[:len(x)]
	s := 0.0
	for i := range x {
		s += float64(float64(x[i]) * float64(y[i]))
	}
	return s
}

// Norm returns the Euclidean length of x.
func Norm[T kernel.Float](x []T) float64 { return math.Sqrt(Dot(x, x)) }

// Dist2 returns ‖x − y‖².
func Dist2(x, y []float64) float64 {
	y = y[:len(x)]
	s := 0.0
	for i := range x {
		d := x[i] - y[i]
		s += float64(d * d)
	}
	return s
}

// AllFinite reports whether no entry of x is NaN or infinite: v − v is 0 of each other number. Four
// sums, none of which waits for another one, take a third of the time of tests of each entry.
func AllFinite(x []float64) bool {
	var a, b, c, d float64
	for ; len(x) >= 4; x = x[4:] {
		a, b, c, d = a+(x[0]-x[0]), b+(x[1]-x[1]), c+(x[2]-x[2]), d+(x[3]-x[3])
	}
	for _, v := range x {
		a += v - v
	}
	return a+b+c+d == 0
}

// Convert sets dst = src, each entry rounded to the nearest of its new type. Between different
// types the two do not overlap, and processors that are free take parts of long ones.
func Convert[T, F kernel.Float](dst []T, src []F) {
	if same, ok := any(src).([]T); ok {
		copy(dst, same)
		return
	}
	if crew := kernel.NewCrew(len(dst) * kernel.EntryWork); crew != nil {
		crew.Share(len(dst), func(from, to int) { convert(dst[from:to], src[from:to]) })
		return
	}
	convert(dst, src[:len(dst)])
}

// convert converts between different types.
func convert[T, F kernel.Float](dst []T, src []F) {
	if f64, ok := any(src).([]float64); ok {
		kernel.FromFloat64(dst, f64)
		return
	}
	kernel.ToFloat64(any(dst).([]float64), src) // there is no third type
}
