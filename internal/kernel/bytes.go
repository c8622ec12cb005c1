package kernel

import (
	"encoding/binary"
	"fmt"
	"math"
	"unsafe"
)

// BytesBlock divides the number of columns in the rows of bytes of [BytesNT] and [BytesTN].
// BytesAhead is the number of rows beyond its own that BytesNT prefetches.
const (
	BytesBlock = 16
	BytesAhead = 8
)

// A ByteRow is a row of bytes that stand for the numbers 0 to 255, anywhere in memory.
type ByteRow struct {
	first    *byte
	from, to int32 // there are zeros beside these columns, multiples of BytesBlock
	length   int32
}

// NewByteRow returns the row of the given bytes, and finds the zeros at its ends, for which
// products skip the multiplications.
func NewByteRow(bytes []byte) ByteRow {
	r := wholeByteRow(bytes)
	for r.from < r.to && zeros(bytes[r.from:]) {
		r.from += BytesBlock
	}
	for r.from < r.to && zeros(bytes[r.to-BytesBlock:]) {
		r.to -= BytesBlock
	}
	return r
}

// zeros reports whether a block begins with zeros alone.
func zeros(block []byte) bool {
	return binary.NativeEndian.Uint64(block)|binary.NativeEndian.Uint64(block[8:BytesBlock]) == 0
}

// wholeByteRow returns the row of the given bytes as [ByteRow.Whole] does.
func wholeByteRow(bytes []byte) ByteRow {
	if len(bytes) > math.MaxInt32 {
		panic(fmt.Sprintf("kernel: a row of %d bytes, which is too long", len(bytes)))
	}
	return ByteRow{first: unsafe.SliceData(bytes), length: int32(len(bytes))}.Whole()
}

// Whole returns the row with zeros that are multiplied as other numbers are: with infinity they
// give NaN.
func (r ByteRow) Whole() ByteRow {
	r.from, r.to = 0, r.length/BytesBlock*BytesBlock
	return r
}

// BytesNT sets C = A·Bᵀ for C m×n and B n×k, as [GemmNT] does, where A is the first m of rows, of k
// bytes or a few more; k is a multiple of [BytesBlock]. Zeros at the ends of rows of [NewByteRow]
// may be left out, so that numbers in B that are not finite need not show. Rows beyond the first m
// are not read, but the processor is asked to begin loading the next ones, up to BytesAhead.
func BytesNT[T Float](m, n, k int, c []T, ldc int, rows []ByteRow, b []T, ldb int) {
	if hasEntries("BytesNT", m, n, k, c, ldc, factor[T]{"b", b, n, k, ldb}) {
		checkBytes("BytesNT", rows, m, k)
		bytesNT(m, n, k, c, ldc, rows, b, ldb)
	}
}

// BytesTN sets C = Aᵀ·B, or C += Aᵀ·B if acc, for C m×n and A k×m, as [GemmTN] does, where B is all
// k rows: bytes as in [BytesNT], n or a few more.
func BytesTN[T Float](m, n int, c []T, ldc int, a []T, lda int, rows []ByteRow, acc bool) {
	k := len(rows)
	if hasTerms("BytesTN", m, n, k, c, ldc, acc, factor[T]{"a", a, k, m, lda}) {
		checkBytes("BytesTN", rows, k, n)
		bytesTN(m, n, c, ldc, a, lda, rows, acc)
	}
}

// checkBytes panics unless there are count rows of cols bytes, a multiple of [BytesBlock].
func checkBytes(fn string, rows []ByteRow, count, cols int) {
	if cols%BytesBlock != 0 {
		panic(fmt.Sprintf("kernel: %s: %d columns, which must be a multiple of %d", fn, cols, BytesBlock))
	}
	if len(rows) < count {
		panic(fmt.Sprintf("kernel: %s: %d rows, which must be at least %d", fn, len(rows), count))
	}
	for i, r := range rows[:count] {
		if int(r.length)/BytesBlock != cols/BytesBlock {
			panic(fmt.Sprintf("kernel: %s: row %d has length %d, which does not fit %d columns", fn, i, r.length, cols))
		}
	}
}
