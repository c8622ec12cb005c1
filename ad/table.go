package ad

import (
	"fmt"
	"math"

	"dsbo"
	"dsbo/internal/kernel"
	"dsbo/internal/linalg"
)

// A Table is a set of rows of numbers that programs read in place: the examples of an agent, or
// their targets. It is immutable, so any number of programs and goroutines may share it.
//
// The numbers stay in the form in which they were given (float64, float32, bytes with a scale,
// class labels, or sparse rows) and become the program's own float type row by row as they are
// read. MNIST kept as bytes takes an eighth of the memory, and of the traffic, of float64.
//
// The constructors keep the slice that they are given, without a copy: it must not be changed
// afterwards. The zero Table has no rows.
type Table struct {
	rows, cols int

	// One of these holds the numbers of base, row-major.
	f64    []float64
	f32    []float32
	bytes  []uint8
	labels []uint8
	sparse *csr

	scale    float64          // of bytes
	byteRows []kernel.ByteRow // row by row of the selection, if products can read them in place
	pick     []int            // row i is row pick[i] of the base; nil: row i itself
}

// FloatTable makes a table of rows×cols numbers from data, row-major. It fails with
// [dsbo.ErrShape] if the lengths do not fit and with [dsbo.ErrConfig], naming row and column,
// if a number is NaN or infinite. A program in float32 reads each number rounded.
func FloatTable(rows, cols int, data []float64) (*Table, error) {
	if err := checkTable(rows, cols, data); err != nil {
		return nil, err
	}
	return &Table{rows: rows, cols: cols, f64: data}, nil
}

// Float32Table is [FloatTable] for float32 numbers.
func Float32Table(rows, cols int, data []float32) (*Table, error) {
	if err := checkTable(rows, cols, data); err != nil {
		return nil, err
	}
	return &Table{rows: rows, cols: cols, f32: data}, nil
}

// ByteTable makes a table of rows×cols numbers byte·scale from data, row-major; the product is
// taken in the float type of the program that reads it. scale is finite and not 0.
func ByteTable(rows, cols int, data []uint8, scale float64) (*Table, error) {
	if err := checkLen(rows, cols, len(data)); err != nil {
		return nil, err
	}
	if scale == 0 || math.IsNaN(scale) || math.IsInf(scale, 0) {
		return nil, dsbo.Errorf(dsbo.ErrConfig, "the scale of a byte table must be finite and not 0; it is %g", scale)
	}
	return byteTable(rows, cols, data, scale), nil
}

// LabelTable makes a table with one row per label and one column per class: row i is 1 in column
// labels[i] and 0 elsewhere. It takes one byte a row.
func LabelTable(labels []uint8, classes int) (*Table, error) {
	if classes < 1 || classes > 256 {
		return nil, dsbo.Errorf(dsbo.ErrConfig, "the number of classes must be from 1 to 256; it is %d", classes)
	}
	if err := checkLen(len(labels), 1, len(labels)); err != nil {
		return nil, err
	}
	for i, l := range labels {
		if int(l) >= classes {
			return nil, dsbo.Errorf(dsbo.ErrConfig, "labels must be from 0 to %d; row %d has %d", classes-1, i, l)
		}
	}
	return &Table{rows: len(labels), cols: classes, labels: labels}, nil
}

// Pick returns the table whose row i is row rows[i] of t, in time O(len(rows)) and without a copy
// of the numbers. It keeps rows, unless t was itself picked. Rows may repeat.
func (t *Table) Pick(rows []int) (*Table, error) {
	if len(rows) == 0 {
		return nil, dsbo.Errorf(dsbo.ErrShape, "a table needs at least one row")
	}
	for i, r := range rows {
		if r < 0 || r >= t.rows {
			return nil, dsbo.Errorf(dsbo.ErrShape, "rows of a selection must be from 0 to %d; at place %d is %d",
				t.rows-1, i, r)
		}
	}
	p := *t
	p.rows, p.pick = len(rows), rows
	if t.pick != nil {
		p.pick = make([]int, len(rows))
		for i, r := range rows {
			p.pick[i] = t.pick[r]
		}
	}
	if t.byteRows != nil {
		p.byteRows = copyRows(t.byteRows, 1, rows)
	}
	return &p, nil
}

// Compact returns the table with its rows one after another in memory of their own, where programs
// read them faster than those of a selection; t itself if it is none. It takes the memory of the
// rows, and frees that of the others once nobody else has it.
func (t *Table) Compact() *Table {
	if t.pick == nil {
		return t
	}
	if t.sparse != nil {
		return &Table{rows: t.rows, cols: t.cols, sparse: t.sparse.pick(t.pick)}
	}
	if t.bytes != nil {
		return byteTable(t.rows, t.cols, copyRows(t.bytes, t.cols, t.pick), t.scale)
	}
	return &Table{rows: t.rows, cols: t.cols, f64: copyRows(t.f64, t.cols, t.pick),
		f32: copyRows(t.f32, t.cols, t.pick), labels: copyRows(t.labels, 1, t.pick)}
}

// copyRows returns the given rows of data, nil for none.
func copyRows[E any](data []E, cols int, rows []int) []E {
	if data == nil {
		return nil
	}
	list := make([]E, 0, len(rows)*cols)
	for _, r := range rows {
		list = append(list, data[r*cols:][:cols]...)
	}
	return list
}

// Float32 returns the table as float32 programs read it: where the numbers are float64, with a copy
// of them, rounded once and not at each reading; else t itself. It fails with [dsbo.ErrConfig],
// naming row and column, if a number is too large for float32.
func (t *Table) Float32() (*Table, error) {
	if t.f64 == nil {
		return t, nil
	}
	data := make([]float32, t.rows*t.cols)
	readRows(t, data, nil, 0, t.rows)
	for i, v := range data {
		if math.IsInf(float64(v), 0) {
			return nil, dsbo.Errorf(dsbo.ErrConfig,
				"numbers in float32 must be at most %.3g; row %d, column %d has %g: compute in float64",
				math.MaxFloat32, i/t.cols, i%t.cols, t.At(i/t.cols, i%t.cols))
		}
	}
	return &Table{rows: t.rows, cols: t.cols, f32: data}, nil
}

// Rows returns the number of rows.
func (t *Table) Rows() int { return t.rows }

// Cols returns the number of columns.
func (t *Table) Cols() int { return t.cols }

// Sparse reports whether the table is one of [SparseTable].
func (t *Table) Sparse() bool { return t.sparse != nil }

// At returns the number in row i and column j, both from 0, as a float64 program reads it.
// It panics if there is no such place.
func (t *Table) At(i, j int) float64 {
	if i < 0 || i >= t.rows || j < 0 || j >= t.cols {
		panic(fmt.Sprintf("ad: place (%d, %d) of a %d×%d table", i, j, t.rows, t.cols))
	}
	r := t.baseRow(i)
	switch {
	case t.labels != nil:
		if int(t.labels[r]) == j {
			return 1
		}
		return 0
	case t.sparse != nil:
		return t.sparse.at(r, j)
	case t.bytes != nil:
		return float64(t.bytes[r*t.cols+j]) * t.scale
	case t.f32 != nil:
		return float64(t.f32[r*t.cols+j])
	}
	return t.f64[r*t.cols+j]
}

// Nonzero appends the columns, ascending, of the numbers in row i that are not 0 to columns, and
// the numbers as a float64 program reads them to values. It takes the time of the row's numbers: of
// a sparse table, of those that it has. It panics if there is no row i.
func (t *Table) Nonzero(columns []int32, values []float64, i int) ([]int32, []float64) {
	if t.sparse != nil {
		indices, numbers := t.sparse.row(t.baseRow(i))
		for _, v := range numbers {
			values = append(values, float64(v))
		}
		return append(columns, indices...), values
	}
	for j := range t.cols {
		if v := t.At(i, j); v != 0 {
			columns, values = append(columns, int32(j)), append(values, v)
		}
	}
	return columns, values
}

// Label returns the class of row i of a table made by [LabelTable]; ok is false for other tables.
// It panics if there is no row i.
func (t *Table) Label(i int) (class int, ok bool) {
	if i < 0 || i >= t.rows {
		panic(fmt.Sprintf("ad: row %d of a table with %d rows", i, t.rows))
	}
	if t.labels == nil {
		return 0, false
	}
	return int(t.labels[t.baseRow(i)]), true
}

// baseRow returns where row i lies in the slice that holds the numbers.
func (t *Table) baseRow(i int) int {
	if t.pick != nil {
		return t.pick[i]
	}
	return i
}

// inPlace returns rows from to to-1 as a part of the table's own memory, not to be written, if
// they lie there as T and in order; base is the table's numbers as T, idx as in readRows.
func inPlace[T Float](t *Table, base []T, idx []int, from, to int) ([]T, bool) {
	if base == nil || idx != nil || t.pick != nil {
		return nil, false
	}
	lo, hi := from*t.cols, to*t.cols
	return base[lo:hi:hi], true
}

// readRows writes rows idx[from:to] (rows from to to-1 where idx is nil) to dst, which has length
// (to-from)·Cols.
func readRows[T Float](t *Table, dst []T, idx []int, from, to int) {
	if len(dst) != (to-from)*t.cols {
		panic(fmt.Sprintf("ad: %d rows of %d columns read into %d numbers", to-from, t.cols, len(dst)))
	}
	if t.labels != nil {
		clear(dst)
		for i := from; i < to; i++ {
			dst[(i-from)*t.cols+int(t.labels[t.baseRow(rowIndex(idx, i))])] = 1
		}
		return
	}
	for i := from; i < to; i++ {
		t.prefetch(idx, i+readAhead)
		r := t.baseRow(rowIndex(idx, i))
		row := dst[(i-from)*t.cols:][:t.cols]
		switch {
		case t.sparse != nil:
			scatterRow(t.sparse, row, r)
		case t.bytes != nil:
			kernel.FromBytes(row, t.bytes[r*t.cols:][:t.cols], T(t.scale))
		case t.f32 != nil:
			linalg.Convert(row, t.f32[r*t.cols:][:t.cols])
		default:
			linalg.Convert(row, t.f64[r*t.cols:][:t.cols])
		}
	}
}

// readAhead is how many rows before its turn a row is prefetched. Any number from 4 to 12
// measured alike.
const readAhead = 4

// prefetch begins to load row i of a selection, if there is one, before it is read: rows of a
// minibatch lie anywhere in a large table, and the processor cannot guess where.
func (t *Table) prefetch(idx []int, i int) {
	if idx == nil && (t.pick == nil || i >= t.rows) || idx != nil && i >= len(idx) {
		return
	}
	first := t.baseRow(rowIndex(idx, i)) * t.cols
	switch {
	case t.bytes != nil:
		kernel.Prefetch(t.bytes[first:][:t.cols])
	case t.f32 != nil:
		kernel.Prefetch(t.f32[first:][:t.cols])
	case t.f64 != nil:
		kernel.Prefetch(t.f64[first:][:t.cols])
	}
}

// rowIndex returns row i of a selection.
func rowIndex(idx []int, i int) int {
	if idx == nil {
		return i
	}
	return idx[i]
}

func checkTable[T Float](rows, cols int, data []T) error {
	if err := checkLen(rows, cols, len(data)); err != nil {
		return err
	}
	for i, v := range data {
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return dsbo.Errorf(dsbo.ErrConfig, "numbers must be finite; row %d, column %d has %g", i/cols, i%cols, f)
		}
	}
	return nil
}

// checkLen divides where one would multiply: rows·cols may not fit in an int.
func checkLen(rows, cols, have int) error {
	if rows < 1 || cols < 1 {
		return dsbo.Errorf(dsbo.ErrShape, "a table needs at least one row and one column; it has %d and %d", rows, cols)
	}
	if have/cols != rows || have%cols != 0 {
		return dsbo.Errorf(dsbo.ErrShape,
			"a table of %d rows and %d columns needs as many numbers as that makes; there are %d", rows, cols, have)
	}
	return nil
}
