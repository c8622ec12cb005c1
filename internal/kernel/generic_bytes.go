package kernel

import "unsafe"

// bytesChunk numbers are made of bytes at a time.
const bytesChunk = 256

// bytesNTGo is BytesNT: each entry is summed in order of k.
func bytesNTGo[T Float](m, n, k int, c []T, ldc int, rows []ByteRow, b []T, ldb int) {
	var buf [bytesChunk]T
	emptySum(m, n, c, ldc, false)
	for i := range m {
		for p := 0; p < k; p += bytesChunk {
			a := buf[:min(bytesChunk, k-p)]
			fromBytesGo(a, rows[i].bytes()[p:][:len(a)], 1)
			gemmNTGo(1, n, len(a), c[i*ldc:], ldc, a, len(a), b[p:], ldb, true)
		}
	}
}

// bytesTNGo is BytesTN: each entry is summed in order of the rows, starting from C.
func bytesTNGo[T Float](m, n int, c []T, ldc int, a []T, lda int, rows []ByteRow, acc bool) {
	var buf [bytesChunk]T
	emptySum(m, n, c, ldc, acc)
	for p, r := range rows {
		for j := 0; j < n; j += bytesChunk {
			b := buf[:min(bytesChunk, n-j)]
			fromBytesGo(b, r.bytes()[j:][:len(b)], 1)
			gemmOuterGo(m, len(b), 1, c[j:], ldc, a[p*lda:], 1, lda, b, len(b), true)
		}
	}
}

// bytes are all of the row.
func (r ByteRow) bytes() []byte { return unsafe.Slice(r.first, r.length) }
