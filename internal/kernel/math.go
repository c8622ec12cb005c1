package kernel

import (
	"fmt"
	"math"
	"unsafe"
)

// chainBytes is up to how many bytes [Sum] adds numbers in one chain, as rowSum does.
const chainBytes = 64

// RowSums sets dst[i] to the sum of row i of src, of rows×cols numbers without gaps, as [Sum] does.
func RowSums[T Float](rows, cols int, dst, src []T) {
	checkRows("RowSums", rows, cols, len(src), 1, len(dst))
	if rows > 0 && cols*size[T]() <= chainBytes {
		rowSum(rows, cols, dst, src)
		return
	}
	for i := range rows {
		dst[i] = Sum(src[i*cols:][:cols])
	}
}

// RowSoftmax sets every row of dst to the softmax of the row of src; both hold rows×cols numbers
// without gaps. The row's maximum is subtracted first, so that nothing overflows. A row with a NaN,
// with +Inf or with nothing but -Inf becomes NaN. dst may be src.
func RowSoftmax[T Float](rows, cols int, dst, src []T) {
	checkRows("RowSoftmax", rows, cols, len(src), cols, len(dst))
	n := rows * cols
	if n == 0 {
		return
	}
	dst, src = dst[:n], src[:n]
	rowShift(rows, cols, dst, src, nil)
	Exp(dst, dst)
	rowNormalize(rows, cols, dst)
}

// RowLogSumExp works on chunkRows rows and chunkSize entries at a time, so that a row of up to
// chunkSize columns needs no memory but the stack. Wider rows use memory of a pool.
const (
	chunkRows = 64
	chunkSize = 256
)

// RowLogSumExp sets dst[i] = log Σ_j exp(src[i,j]) for the rows of src, rows×cols numbers without
// gaps; dst has length rows at least. The row's maximum is subtracted first, so that nothing
// overflows. A row with a NaN gives NaN, else a row with +Inf gives +Inf, and a row of -Inf alone,
// or without columns, gives -Inf. dst must not overlap src.
func RowLogSumExp[T Float](rows, cols int, dst, src []T) {
	checkRows("RowLogSumExp", rows, cols, len(src), 1, len(dst))
	if cols == 0 {
		for i := range dst[:rows] {
			dst[i] = T(math.Inf(-1))
		}
		return
	}
	var small [chunkSize]T
	var sums [chunkRows]T
	buf := small[:]
	if cols > chunkSize {
		w := workspaces.Get()
		defer workspaces.Add(w)
		buf = unsafe.Slice((*T)(w.panels(cols*size[T]())), cols)
	}
	step := min(len(buf)/cols, chunkRows)
	for i := 0; i < rows; i += step {
		h := min(step, rows-i)
		part, out := src[i*cols:(i+h)*cols], dst[i:i+h]
		e, s := buf[:h*cols], sums[:h]
		rowShift(h, cols, e, part, out)
		Exp(e, e)
		rowSum(h, cols, s, e)
		Log(s, s)
		for j, m := range out {
			if math.IsInf(float64(m), 0) {
				out[j], s[j] = infiniteRow(m, part[j*cols:(j+1)*cols]), 0
			}
		}
		AddTo(out, out, s)
	}
}

// infiniteRow is the log-sum-exp of a row whose maximum m is infinite.
func infiniteRow[T Float](m T, row []T) T {
	for _, v := range row {
		if v != v {
			return v
		}
	}
	return m
}

// RowAdd adds u[i] to each entry of row i of src. dst and src hold rows×cols numbers without gaps,
// u one for each row. dst may be src.
func RowAdd[T Float](rows, cols int, dst, src, u []T) {
	if hasRows("RowAdd", rows, cols, len(dst), len(src), len(u)) {
		rowAdd(rows, cols, dst, src, u)
	}
}

// RowMul multiplies each entry of row i of src with u[i]. The rest is as in [RowAdd].
func RowMul[T Float](rows, cols int, dst, src, u []T) {
	if hasRows("RowMul", rows, cols, len(dst), len(src), len(u)) {
		rowMul(rows, cols, dst, src, u)
	}
}

// hasRows reports whether there are entries. It panics unless dst and src hold rows×cols numbers
// and u one for each row.
func hasRows(fn string, rows, cols, dst, src, u int) bool {
	checkRows(fn, rows, cols, src, cols, dst)
	checkMatrix(fn, "u", u, rows, 1, 1)
	return rows > 0 && cols > 0
}

// checkLen panics unless dst and the inputs have one length.
func checkLen(fn string, dst int, inputs ...int) {
	for _, n := range inputs {
		if n != dst {
			panic(fmt.Sprintf("kernel: %s: dst has length %d and the input %d, which must be the same", fn, dst, n))
		}
	}
}

// checkRows panics unless src has rows×cols numbers and dst rows×dstCols.
func checkRows(fn string, rows, cols, src, dstCols, dst int) {
	if rows < 0 || cols < 0 {
		panic(fmt.Sprintf("kernel: %s: %d rows of %d columns must not be negative", fn, rows, cols))
	}
	checkMatrix(fn, "src", src, rows, cols, cols)
	checkMatrix(fn, "dst", dst, rows, dstCols, dstCols)
}
