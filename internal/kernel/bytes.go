package kernel

import "fmt"

// BytesBlock divides the number of columns of the rows of bytes that [BytesNT] and [BytesTN] read, and
// BytesAhead is how many rows beyond those that it reads BytesNT makes use of.
const (
	BytesBlock = 16
	BytesAhead = 8
)

// BytesNT sets C = A·Bᵀ for C m×n and B n×k, as [GemmNT] does, where A is the first m of rows: bytes that stand for the
// numbers 0 to 255, each row anywhere in memory and at least k long. k is a multiple of [BytesBlock]. Rows beyond the
// first m are not read, but the processor is asked to begin loading the next ones, up to BytesAhead.
func BytesNT[T Float](m, n, k int, c []T, ldc int, rows [][]byte, b []T, ldb int) {
	if hasEntries("BytesNT", m, n, k, c, ldc, factor[T]{"b", b, n, k, ldb}) {
		checkBytes("BytesNT", rows, m, k)
		bytesNT(m, n, k, c, ldc, rows, b, ldb)
	}
}

// BytesTN sets C = Aᵀ·B, or C += Aᵀ·B if acc, for C m×n and A k×m, as [GemmTN] does, where B is all k rows: bytes
// as in [BytesNT], of at least n columns. n is a multiple of [BytesBlock].
func BytesTN[T Float](m, n int, c []T, ldc int, a []T, lda int, rows [][]byte, acc bool) {
	k := len(rows)
	if hasEntries("BytesTN", m, n, k, c, ldc, factor[T]{"a", a, k, m, lda}) {
		checkBytes("BytesTN", rows, k, n)
		if hasTerms(m, n, k, c, ldc, acc) {
			bytesTN(m, n, c, ldc, a, lda, rows, acc)
		}
	}
}

// checkBytes panics unless there are count rows of at least cols bytes, and cols is a multiple of BytesBlock.
func checkBytes(fn string, rows [][]byte, count, cols int) {
	if cols%BytesBlock != 0 {
		panic(fmt.Sprintf("kernel: %s: %d columns, which must be a multiple of %d", fn, cols, BytesBlock))
	}
	if len(rows) < count {
		panic(fmt.Sprintf("kernel: %s: %d rows, which must be at least %d", fn, len(rows), count))
	}
	for i, r := range rows[:count] {
		if len(r) < cols {
			panic(fmt.Sprintf("kernel: %s: row %d has length %d, which is too short for %d columns", fn, i, len(r), cols))
		}
	}
}
