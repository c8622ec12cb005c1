package ad

import (
	"fmt"
	"math"
	"slices"

	"dsbo"
	"dsbo/ad/internal/engine"
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
type Table struct{ data engine.Rows }

// FloatTable makes a table of rows×cols numbers from data, row-major. It fails with
// [dsbo.ErrShape] if the lengths do not fit and with [dsbo.ErrConfig], naming row and column,
// if a number is NaN or infinite. A program in float32 reads each number rounded.
func FloatTable(rows, cols int, data []float64) (*Table, error) {
	return checked(engine.Rows{R: rows, C: cols, F64: data}, checkTable(rows, cols, data))
}

// Float32Table is [FloatTable] for float32 numbers.
func Float32Table(rows, cols int, data []float32) (*Table, error) {
	return checked(engine.Rows{R: rows, C: cols, F32: data}, checkTable(rows, cols, data))
}

// ByteTable makes a table of rows×cols numbers byte·scale from data, row-major; the product is
// taken in the float type of the program that reads it. scale is finite and not 0.
func ByteTable(rows, cols int, data []uint8, scale float64) (*Table, error) {
	if err := checkLen(rows, cols, len(data)); err != nil {
		return nil, err
	}
	if scale == 0 || math.IsNaN(scale) || math.IsInf(scale, 0) {
		return nil, dsbo.ConfigErrorf("the scale of a byte table must be finite and not 0; it is %g", scale)
	}
	return &Table{engine.ByteRows(rows, cols, data, scale)}, nil
}

// LabelTable makes a table with one row per label and one column per class: row i is 1 in column
// labels[i] and 0 elsewhere. It takes one byte a row.
func LabelTable(labels []uint8, classes int) (*Table, error) {
	if classes < 1 || classes > 256 {
		return nil, dsbo.ConfigErrorf("the number of classes must be from 1 to 256; it is %d", classes)
	}
	return checked(engine.Rows{R: len(labels), C: classes, Labels: labels}, checkLabels(labels, classes))
}

// ClassTable is [LabelTable] for any number of classes, at four bytes a row. Losses of thousands of
// classes take labels as numbers, a column of a [FloatTable], and read the scores of the right
// classes by [TakeAlongRows] instead.
func ClassTable(labels []int32, classes int) (*Table, error) {
	if classes < 1 {
		return nil, dsbo.ConfigErrorf("the number of classes must be at least 1; it is %d", classes)
	}
	return checked(engine.Rows{R: len(labels), C: classes, Classes: labels}, checkLabels(labels, classes))
}

// checked returns a table, unless there is an error in it.
func checked(data engine.Rows, err error) (*Table, error) {
	if err != nil {
		return nil, err
	}
	return &Table{data}, nil
}

func checkLabels[L uint8 | int32](labels []L, classes int) error {
	if err := checkLen(len(labels), 1, len(labels)); err != nil {
		return err
	}
	for i, l := range labels {
		if int(l) < 0 || int(l) >= classes {
			return dsbo.ConfigErrorf("labels must be from 0 to %d; row %d has %d", classes-1, i, l)
		}
	}
	return nil
}

// Pick returns the table whose row i is row rows[i] of t, in time O(len(rows)) and without a copy
// of the numbers. It keeps rows, unless t was itself picked. Rows may repeat.
func (t *Table) Pick(rows []int) (*Table, error) {
	if len(rows) == 0 {
		return nil, dsbo.ShapeErrorf("a table needs at least one row")
	}
	for i, r := range rows {
		if r < 0 || r >= t.data.R {
			return nil, dsbo.ShapeErrorf("rows of a selection must be from 0 to %d; at place %d is %d",
				t.data.R-1, i, r)
		}
	}
	p := t.data
	p.R, p.Pick = len(rows), rows
	if t.data.Pick != nil {
		p.Pick = copyRows(t.data.Pick, 1, rows)
	}
	p.ByteRows = copyRows(t.data.ByteRows, 1, rows)
	return &Table{p}, nil
}

// Compact returns the table with its rows one after another in memory of their own, where programs
// read them faster than in a selection; t itself if it is none. It takes the memory of the rows,
// and frees the memory of other rows once nobody else has them.
func (t *Table) Compact() *Table {
	d := &t.data
	switch {
	case d.Pick == nil:
		return t
	case d.Sparse != nil:
		return &Table{engine.Rows{R: d.R, C: d.C, Sparse: copySparse(d.Sparse, d.Pick)}}
	case d.Bytes != nil:
		return &Table{engine.ByteRows(d.R, d.C, copyRows(d.Bytes, d.C, d.Pick), d.Scale)}
	}
	return &Table{engine.Rows{R: d.R, C: d.C, F64: copyRows(d.F64, d.C, d.Pick),
		F32: copyRows(d.F32, d.C, d.Pick), Labels: copyRows(d.Labels, 1, d.Pick),
		Classes: copyRows(d.Classes, 1, d.Pick)}}
}

// Append returns the table of t's rows and then other's, in memory of their own. It fails with
// [dsbo.ErrShape] where the tables' columns, or the forms in which they keep numbers, differ.
func (t *Table) Append(other *Table) (*Table, error) {
	a, b := t.Compact().data, other.Compact().data
	form := func(d engine.Rows) [7]bool {
		return [...]bool{d.F64 != nil, d.F32 != nil, d.Bytes != nil, d.Labels != nil, d.Classes != nil, d.Sparse != nil,
			d.Scale == a.Scale}
	}
	if a.C != b.C || form(a) != form(b) {
		return nil, dsbo.ShapeErrorf(
			"tables must have the same columns and one form of numbers to be appended; they have %d and %d columns",
			a.C, b.C)
	}
	rows := a.R + b.R
	if a.Bytes != nil {
		return &Table{engine.ByteRows(rows, a.C, slices.Concat(a.Bytes, b.Bytes), a.Scale)}, nil
	}
	joined := engine.Rows{R: rows, C: a.C, F64: slices.Concat(a.F64, b.F64), F32: slices.Concat(a.F32, b.F32),
		Labels: slices.Concat(a.Labels, b.Labels), Classes: slices.Concat(a.Classes, b.Classes)}
	if a.Sparse != nil {
		joined.Sparse = appendSparse(a.Sparse, b.Sparse)
	}
	return &Table{joined}, nil
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

// Float32 returns the table as float32 programs read it: where the numbers are float64, with a
// copy of them, rounded once and not at each reading; else t itself. It fails with
// [dsbo.ErrConfig], naming row and column, if a number is too large for float32.
func (t *Table) Float32() (*Table, error) {
	if t.data.F64 == nil {
		return t, nil
	}
	data := make([]float32, t.data.R*t.data.C)
	engine.Read(&t.data, data, nil, 0, t.data.R)
	for i, v := range data {
		if math.IsInf(float64(v), 0) {
			return nil, dsbo.ConfigErrorf("numbers in float32 must be at most %.3g; row %d, column %d has "+
				"%g: compute in float64",
				math.MaxFloat32, i/t.data.C, i%t.data.C, t.At(i/t.data.C, i%t.data.C))
		}
	}
	return &Table{engine.Rows{R: t.data.R, C: t.data.C, F32: data}}, nil
}

// Rows returns the number of rows.
func (t *Table) Rows() int { return t.data.R }

// Cols returns the number of columns.
func (t *Table) Cols() int { return t.data.C }

// Sparse reports whether the table is one of [SparseTable].
func (t *Table) Sparse() bool { return t.data.Sparse != nil }

// At returns the number in row i and column j, both from 0, as a float64 program reads it.
// It panics if there is no such place.
func (t *Table) At(i, j int) float64 {
	if i < 0 || i >= t.data.R || j < 0 || j >= t.data.C {
		panic(fmt.Sprintf("ad: place (%d, %d) of a %d×%d table", i, j, t.data.R, t.data.C))
	}
	r := t.data.Base(i) // a table of [Table.Pick] has its rows in another table
	if column, ok := t.data.Label(r); ok {
		return oneIf[float64](column == j)
	}
	switch {
	case t.data.Sparse != nil:
		return sparseAt(t.data.Sparse, r, j)
	case t.data.Bytes != nil:
		return float64(t.data.Bytes[r*t.data.C+j]) * t.data.Scale
	case t.data.F32 != nil:
		return float64(t.data.F32[r*t.data.C+j])
	}
	return t.data.F64[r*t.data.C+j]
}

// Nonzero appends the columns, ascending, of the numbers in row i that are not 0 to columns, and
// the numbers as a float64 program reads them to values. It takes the time of the row's numbers,
// without zeros in a sparse table. It panics if there is no row i.
func (t *Table) Nonzero(columns []int32, values []float64, i int) ([]int32, []float64) {
	if t.data.Sparse != nil {
		indices, numbers := t.data.Sparse.Row(t.data.Base(i))
		for _, v := range numbers {
			values = append(values, float64(v))
		}
		return append(columns, indices...), values
	}
	for j := range t.data.C {
		if v := t.At(i, j); v != 0 {
			columns, values = append(columns, int32(j)), append(values, v)
		}
	}
	return columns, values
}

// Label returns the class of row i of a table made by [LabelTable] or [ClassTable]; ok is false for
// other tables.
// It panics if there is no row i.
func (t *Table) Label(i int) (class int, ok bool) {
	if i < 0 || i >= t.data.R {
		panic(fmt.Sprintf("ad: row %d of a table with %d rows", i, t.data.R))
	}
	return t.data.Label(t.data.Base(i))
}

// checkTable returns an error for lengths that do not fit, or for the first number that is NaN or
// infinite.
func checkTable[T Float](rows, cols int, data []T) error {
	if err := checkLen(rows, cols, len(data)); err != nil {
		return err
	}
	for i, v := range data {
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return dsbo.ConfigErrorf("numbers must be finite; row %d, column %d has %g", i/cols, i%cols, f)
		}
	}
	return nil
}

// checkLen divides where one would multiply: rows·cols may not fit in an int.
func checkLen(rows, cols, have int) error {
	if rows < 1 || cols < 1 {
		return dsbo.ShapeErrorf("a table needs at least one row and one column; it has %d and %d", rows, cols)
	}
	if have/cols != rows || have%cols != 0 {
		return dsbo.ShapeErrorf("a table of %d rows and %d columns needs as many numbers as that makes; "+
			"there are %d", rows, cols, have)
	}
	return nil
}

// SparseTable makes a table of rows×cols numbers that are 0 except for values: row r has values
// from starts[r] to starts[r+1], in the columns indices, which ascend. It takes 8 bytes for each
// value, and one of 10⁵ columns is never made whole: see [Input.Sparse].
//
// It fails with [dsbo.ErrShape] if the lengths do not fit, or if columns do not ascend or are not
// from 0 to cols-1, and with [dsbo.ErrConfig] if a number is NaN or infinite.
func SparseTable(rows, cols int, starts []int, indices []int32, values []float32) (*Table, error) {
	s := &engine.CSR{Starts: starts, Indices: indices, Values: values}
	return checked(engine.Rows{R: rows, C: cols, Sparse: s}, checkSparse(s, rows, cols))
}
