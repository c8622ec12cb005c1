//go:build !amd64 || noasm

package kernel

func detect() Path { return Generic }

func gemmNT[T Float](m, n, k int, c []T, ldc int, a []T, lda int, b []T, ldb int, acc bool) {
	gemmNTGo(m, n, k, c, ldc, a, lda, b, ldb, acc)
}

func gemmOuter[T Float](m, n, k int, c []T, ldc int, a []T, ra, ca int, b []T, ldb int, acc bool) {
	gemmOuterGo(m, n, k, c, ldc, a, ra, ca, b, ldb, acc)
}

func bytesNT[T Float](m, n, k int, c []T, ldc int, rows [][]byte, b []T, ldb int) {
	bytesNTGo(m, n, k, c, ldc, rows, b, ldb)
}

func bytesTN[T Float](m, n int, c []T, ldc int, a []T, lda int, rows [][]byte, acc bool) {
	bytesTNGo(m, n, c, ldc, a, lda, rows, acc)
}

func exp[T Float](dst, src []T)                            { expGo(dst, src) }
func log1pExp[T Float](dst, src []T)                       { log1pExpGo(dst, src) }
func sigmoid[T Float](dst, src []T)                        { sigmoidGo(dst, src) }
func tanh[T Float](dst, src []T)                           { tanhGo(dst, src) }
func log[T Float](dst, src []T)                            { logGo(dst, src) }
func rowShift[T Float](rows, cols int, dst, src, peak []T) { rowShiftGo(rows, cols, dst, src, peak) }
func rowSum[T Float](rows, cols int, dst, src []T)         { rowSumGo(rows, cols, dst, src) }
func rowNormalize[T Float](rows, cols int, x []T)          { rowNormalizeGo(rows, cols, x) }
func fromBytes[T Float](dst []T, src []byte, scale T)      { fromBytesGo(dst, src, scale) }
func addTo[T Float](dst, x, y []T)                         { addToGo(dst, x, y) }
func subTo[T Float](dst, x, y []T)                         { subToGo(dst, x, y) }
func mulTo[T Float](dst, x, y []T)                         { mulToGo(dst, x, y) }
func axpy[T Float](dst []T, a T, x []T)                    { axpyGo(dst, a, x) }
func scale[T Float](dst []T, a T, x []T)                   { scaleGo(dst, a, x) }
func dot[T Float](x, y []T) T                              { return dotGo(x, y) }
func sum[T Float](x []T) T                                 { return sumGo(x) }
func prefetch(src []byte)                                  {}
