package kernel

import "fmt"

// GemmNT sets C = A·Bᵀ, or C += A·Bᵀ if acc, for C m×n, A m×k, B n×k: every entry of C is the
// dot product of a row of A and a row of B. It costs 2mnk flops.
func GemmNT[T Float](m, n, k int, c []T, ldc int, a []T, lda int, b []T, ldb int, acc bool) {
	if hasTerms("GemmNT", m, n, k, c, ldc, operand[T]{a, m, k, lda}, operand[T]{b, n, k, ldb}, acc) {
		gemmNT(m, n, k, c, ldc, a, lda, b, ldb, acc)
	}
}

// GemmTN sets C = Aᵀ·B, or C += Aᵀ·B if acc, for C m×n, A k×m, B k×n: the sum over the k rows
// of their outer products, added in the order of the rows. It costs 2mnk flops.
func GemmTN[T Float](m, n, k int, c []T, ldc int, a []T, lda int, b []T, ldb int, acc bool) {
	if hasTerms("GemmTN", m, n, k, c, ldc, operand[T]{a, k, m, lda}, operand[T]{b, k, n, ldb}, acc) {
		gemmOuter(m, n, k, c, ldc, a, 1, lda, b, ldb, acc)
	}
}

// GemmNN sets C = A·B, or C += A·B if acc, for C m×n, A m×k, B k×n. It costs 2mnk flops.
func GemmNN[T Float](m, n, k int, c []T, ldc int, a []T, lda int, b []T, ldb int, acc bool) {
	if hasTerms("GemmNN", m, n, k, c, ldc, operand[T]{a, m, k, lda}, operand[T]{b, k, n, ldb}, acc) {
		gemmOuter(m, n, k, c, ldc, a, lda, 1, b, ldb, acc)
	}
}

// An operand is a factor of a product, as it lies in memory.
type operand[T Float] struct {
	data               []T
	rows, cols, stride int
}

// hasTerms reports whether a product has entries, and these have terms to sum; entries without terms it has set. It
// panics if the sizes do not fit the slices.
func hasTerms[T Float](fn string, m, n, k int, c []T, ldc int, a, b operand[T], acc bool) bool {
	checkSizes(fn, m, n, k)
	if m == 0 || n == 0 {
		return false
	}
	checkMatrix(fn, "c", len(c), m, n, ldc)
	checkMatrix(fn, "a", len(a.data), a.rows, a.cols, a.stride)
	checkMatrix(fn, "b", len(b.data), b.rows, b.cols, b.stride)
	if k == 0 {
		emptySum(m, n, c, ldc, acc)
	}
	return k > 0
}

// emptySum is a product with k = 0.
func emptySum[T Float](m, n int, c []T, ldc int, acc bool) {
	if acc {
		return
	}
	for i := range m {
		clear(c[i*ldc:][:n])
	}
}

// checkSizes panics if a size is negative.
func checkSizes(fn string, m, n, k int) {
	if m < 0 || n < 0 || k < 0 {
		panic(fmt.Sprintf("kernel: %s: sizes m=%d n=%d k=%d must not be negative", fn, m, n, k))
	}
}

// checkMatrix panics unless a slice of length have holds rows×cols entries with stride ld.
func checkMatrix(fn, name string, have, rows, cols, ld int) {
	if rows == 0 || cols == 0 {
		return
	}
	if ld < cols {
		panic(fmt.Sprintf("kernel: %s: %s has row stride %d, which must be at least its %d columns", fn, name, ld, cols))
	}
	// Divided rather than multiplied, so that huge sizes cannot overflow into a small need.
	if have < cols || (have-cols)/ld < rows-1 {
		panic(fmt.Sprintf("kernel: %s: %s has length %d, which is too short for %d rows of %d with stride %d",
			fn, name, have, rows, cols, ld))
	}
}
