package kernel

import (
	"fmt"
	"unsafe"
)

// GemmNT sets C = A·Bᵀ, or C += A·Bᵀ if acc, for C m×n, A m×k, B n×k. It costs 2mnk flops, and
// where sums are short a copy of B, which takes as long as about ten rows of A.
func GemmNT[T Float](m, n, k int, c []T, ldc int, a []T, lda int, b []T, ldb int, acc bool) {
	if hasTerms("GemmNT", m, n, k, c, ldc, acc, factor[T]{"a", a, m, k, lda}, factor[T]{"b", b, n, k, ldb}) {
		if active != Generic && isChain(n, k) {
			gemmChain[T](m, n, k, rowMajor(c, ldc), rowMajor(a, lda), rowMajor(b, ldb).transposed(), acc)
			return
		}
		gemmDot(m, n, k, c, ldc, a, lda, b, ldb, acc)
	}
}

// Dots is GemmNT without acc, with the same bits for an entry in every product: its two rows alone
// determine them.
func Dots[T Float](m, n, k int, c []T, ldc int, a []T, lda int, b []T, ldb int) {
	if hasTerms("Dots", m, n, k, c, ldc, false, factor[T]{"a", a, m, k, lda}, factor[T]{"b", b, n, k, ldb}) {
		gemmDot(m, n, k, c, ldc, a, lda, b, ldb, false)
	}
}

// GemmTN sets C = Aᵀ·B, or C += Aᵀ·B if acc, for C m×n, A k×m, B k×n: the sum over the k rows
// of their outer products, added in the order of the rows. It costs 2mnk flops.
func GemmTN[T Float](m, n, k int, c []T, ldc int, a []T, lda int, b []T, ldb int, acc bool) {
	if hasTerms("GemmTN", m, n, k, c, ldc, acc, factor[T]{"a", a, k, m, lda}, factor[T]{"b", b, k, n, ldb}) {
		gemmOuter(m, n, k, c, ldc, a, 1, lda, b, ldb, acc)
	}
}

// GemmNN sets C = A·B, or C += A·B if acc, for C m×n, A m×k, B k×n. It costs 2mnk flops.
func GemmNN[T Float](m, n, k int, c []T, ldc int, a []T, lda int, b []T, ldb int, acc bool) {
	if hasTerms("GemmNN", m, n, k, c, ldc, acc, factor[T]{"a", a, m, k, lda}, factor[T]{"b", b, k, n, ldb}) {
		gemmOuter(m, n, k, c, ldc, a, lda, 1, b, ldb, acc)
	}
}

// gemmOuter sets C = A·B, or adds the product, for A with strides ra and ca between rows and
// columns.
func gemmOuter[T Float](m, n, k int, c []T, ldc int, a []T, ra, ca int, b []T, ldb int, acc bool) {
	if active == Generic {
		gemmOuterGo(m, n, k, c, ldc, a, ra, ca, b, ldb, acc)
		return
	}
	s := size[T]()
	gemmChain[T](m, n, k, rowMajor(c, ldc), operand{pointer(a), ra * s, ca * s}, rowMajor(b, ldb), acc)
}

// SumRows adds the rows of A, m×n, to dst one by one, in their order.
func SumRows[T Float](m, n int, dst, a []T, lda int) {
	if !hasEntries("SumRows", 1, n, m, dst, n, factor[T]{"a", a, m, n, lda}) || m == 0 {
		return
	}
	if active == Generic {
		for i := range m {
			addToGo(dst[:n], dst, a[i*lda:])
		}
		return
	}
	// A product with a row of ones is a sum, since a multiple of 1 is exact. The row is one number,
	// without strides.
	one := unsafe.Pointer(&one64)
	if size[T]() == 4 {
		one = unsafe.Pointer(&one32)
	}
	gemmChain[T](1, n, m, rowMajor(dst, n), operand{at: one}, rowMajor(a, lda), true)
}

var (
	one32 float32 = 1
	one64 float64 = 1
)

// A factor is an operand of a product, as it lies in memory.
type factor[T Float] struct {
	name               string
	data               []T
	rows, cols, stride int
}

// hasEntries reports whether C has entries. It panics if the sizes do not fit the slices.
func hasEntries[T Float](fn string, m, n, k int, c []T, ldc int, factors ...factor[T]) bool {
	if m < 0 || n < 0 || k < 0 {
		panic(fmt.Sprintf("kernel: %s: sizes m=%d n=%d k=%d must not be negative", fn, m, n, k))
	}
	if m == 0 || n == 0 {
		return false
	}
	checkMatrix(fn, "c", len(c), m, n, ldc)
	for _, f := range factors {
		checkMatrix(fn, f.name, len(f.data), f.rows, f.cols, f.stride)
	}
	return true
}

// hasTerms is hasEntries, and reports whether they have terms to sum; entries without terms it has
// set.
func hasTerms[T Float](fn string, m, n, k int, c []T, ldc int, acc bool, factors ...factor[T]) bool {
	if !hasEntries(fn, m, n, k, c, ldc, factors...) {
		return false
	}
	if k == 0 {
		emptySum(m, n, c, ldc, acc)
	}
	return k > 0
}

// emptySum is a product with k = 0.
func emptySum[T Float](m, n int, c []T, ldc int, acc bool) {
	switch {
	case acc:
	case ldc == n: // short rows one by one take several times as long
		clear(c[:m*n])
	default:
		for i := range m {
			clear(c[i*ldc:][:n])
		}
	}
}

// checkMatrix panics unless a slice of length have contains rows×cols entries with stride ld.
func checkMatrix(fn, name string, have, rows, cols, ld int) {
	if rows == 0 || cols == 0 {
		return
	}
	if ld < cols {
		panic(fmt.Sprintf("kernel: %s: %s has row stride %d, which must be at least its %d columns", fn,
			name, ld, cols))
	}
	// Divided rather than multiplied, so that huge sizes cannot overflow into a small need.
	if have < cols || (have-cols)/ld < rows-1 {
		panic(fmt.Sprintf("kernel: %s: %s has length %d, which is too short for %d rows of %d with stride %d",
			fn, name, have, rows, cols, ld))
	}
}
