package kernel

import "fmt"

// GemmNT sets C = A·Bᵀ, or C += A·Bᵀ if acc, for C m×n, A m×k, B n×k: every entry of C is the
// dot product of a row of A and a row of B. It costs 2mnk flops.
func GemmNT[T Float](m, n, k int, c []T, ldc int, a []T, lda int, b []T, ldb int, acc bool) {
	checkSizes("GemmNT", m, n, k)
	if m == 0 || n == 0 {
		return
	}
	checkMatrix("GemmNT", "c", len(c), m, n, ldc)
	checkMatrix("GemmNT", "a", len(a), m, k, lda)
	checkMatrix("GemmNT", "b", len(b), n, k, ldb)
	if k == 0 {
		emptySum(m, n, c, ldc, acc)
		return
	}
	gemmNT(m, n, k, c, ldc, a, lda, b, ldb, acc)
}

// GemmTN sets C = Aᵀ·B, or C += Aᵀ·B if acc, for C m×n, A k×m, B k×n: the sum over the k rows
// of their outer products, added in the order of the rows. It costs 2mnk flops.
func GemmTN[T Float](m, n, k int, c []T, ldc int, a []T, lda int, b []T, ldb int, acc bool) {
	checkSizes("GemmTN", m, n, k)
	if m == 0 || n == 0 {
		return
	}
	checkMatrix("GemmTN", "c", len(c), m, n, ldc)
	checkMatrix("GemmTN", "a", len(a), k, m, lda)
	checkMatrix("GemmTN", "b", len(b), k, n, ldb)
	if k == 0 {
		emptySum(m, n, c, ldc, acc)
		return
	}
	gemmOuter(m, n, k, c, ldc, a, 1, lda, b, ldb, acc)
}

// GemmNN sets C = A·B, or C += A·B if acc, for C m×n, A m×k, B k×n. It costs 2mnk flops.
func GemmNN[T Float](m, n, k int, c []T, ldc int, a []T, lda int, b []T, ldb int, acc bool) {
	checkSizes("GemmNN", m, n, k)
	if m == 0 || n == 0 {
		return
	}
	checkMatrix("GemmNN", "c", len(c), m, n, ldc)
	checkMatrix("GemmNN", "a", len(a), m, k, lda)
	checkMatrix("GemmNN", "b", len(b), k, n, ldb)
	if k == 0 {
		emptySum(m, n, c, ldc, acc)
		return
	}
	gemmOuter(m, n, k, c, ldc, a, lda, 1, b, ldb, acc)
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
