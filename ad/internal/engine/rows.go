package engine

import (
	"fmt"
	"slices"

	"dsbo/internal/kernel"
	"dsbo/internal/linalg"
)

// Float is the element type of a program.
type Float = kernel.Float

// Rows is the numbers of a table in the form in which they were given. Many machines may read it at
// once. The base's numbers are in one of F64, F32, Bytes, Labels, Classes and Sparse, row-major.
type Rows struct {
	R, C     int              // rows and columns
	F64      []float64        // as they are
	F32      []float32        // as they are
	Bytes    []uint8          // times Scale
	Labels   []uint8          // for each row, the column of its 1
	Classes  []int32          // Labels, with more columns than a byte can index
	Sparse   *CSR             // rows that are mostly zeros
	Scale    float64          // of Bytes
	ByteRows []kernel.ByteRow // by row of the selection, if products can read the bytes in place
	Pick     []int            // row i is row Pick[i] of the base; nil: row i itself
}

// CSR is sparse rows: row r has Values in the columns Indices from Starts[r] on.
type CSR struct {
	Starts  []int
	Indices []int32
	Values  []float32
}

// Row returns the columns and values of row r.
func (s *CSR) Row(r int) (indices []int32, values []float32) {
	from, to := s.Starts[r], s.Starts[r+1]
	return s.Indices[from:to], s.Values[from:to]
}

// ByteRows returns rows×cols numbers byte·scale. Where the width allows products to read them in
// place, it takes 24 bytes a row more.
func ByteRows(rows, cols int, data []uint8, scale float64) Rows {
	t := Rows{R: rows, C: cols, Bytes: data, Scale: scale}
	if cols%kernel.BytesBlock == 0 {
		t.ByteRows = make([]kernel.ByteRow, rows)
		for i := range t.ByteRows {
			t.ByteRows[i] = kernel.NewByteRow(data[i*cols:][:cols])
		}
	}
	return t
}

// Label returns the column of the 1 of row r of the base, if rows are of that form.
func (t *Rows) Label(r int) (column int, ok bool) {
	switch {
	case t.Labels != nil:
		return int(t.Labels[r]), true
	case t.Classes != nil:
		return int(t.Classes[r]), true
	}
	return 0, false
}

// Base returns where row i lies in the base.
func (t *Rows) Base(i int) int { return rowIndex(t.Pick, i) }

// rowIndex returns row i of a selection.
func rowIndex(idx []int, i int) int {
	if idx == nil {
		return i
	}
	return idx[i]
}

// InPlace returns rows from..to as a part of the table's own memory, not to be written, if they lie
// there as T and in order.
func InPlace[T Float](t *Rows, idx []int, from, to int) ([]T, bool) {
	base, ok := any(t.F64).([]T)
	if !ok {
		base = any(t.F32).([]T)
	}
	if base == nil || idx != nil || t.Pick != nil {
		return nil, false
	}
	lo, hi := from*t.C, to*t.C
	return base[lo:hi:hi], true
}

// Read writes rows idx[from:to] (rows from..to if idx is nil) to dst, which has their length.
func Read[T Float](t *Rows, dst []T, idx []int, from, to int) {
	if len(dst) != (to-from)*t.C {
		panic(fmt.Sprintf("ad: %d rows of %d columns read into %d numbers", to-from, t.C, len(dst)))
	}
	if t.Labels != nil || t.Classes != nil {
		clear(dst)
		for i := from; i < to; i++ {
			column, _ := t.Label(t.Base(rowIndex(idx, i)))
			dst[(i-from)*t.C+column] = 1
		}
		return
	}
	for i := from; i < to; i++ {
		t.prefetch(idx, i+readAhead)
		r := t.Base(rowIndex(idx, i))
		row := dst[(i-from)*t.C:][:t.C]
		switch {
		case t.Sparse != nil:
			clear(row)
			indices, values := t.Sparse.Row(r)
			for e, j := range indices {
				row[j] = T(values[e])
			}
		case t.Bytes != nil:
			kernel.FromBytes(row, t.Bytes[r*t.C:][:t.C], T(t.Scale))
		case t.F32 != nil:
			linalg.Convert(row, t.F32[r*t.C:][:t.C])
		default:
			linalg.Convert(row, t.F64[r*t.C:][:t.C])
		}
	}
}

// readAhead is how many rows before its turn a row is prefetched. Any number from 4 to 12 measured
// alike.
const readAhead = 4

// prefetch begins to load row i of a selection, if there is one: rows of a minibatch lie anywhere
// in a large table, and the processor cannot guess where.
func (t *Rows) prefetch(idx []int, i int) {
	if idx == nil && (t.Pick == nil || i >= t.R) || idx != nil && i >= len(idx) {
		return
	}
	first := t.Base(rowIndex(idx, i)) * t.C
	switch {
	case t.Bytes != nil:
		kernel.Prefetch(t.Bytes[first:][:t.C])
	case t.F32 != nil:
		kernel.Prefetch(t.F32[first:][:t.C])
	case t.F64 != nil:
		kernel.Prefetch(t.F64[first:][:t.C])
	}
}

// sparseRows are rows of a batch whose table is sparse.
type sparseRows[T Float] struct {
	table  *Rows
	idx    []int
	from   int  // the first row
	square bool // values are read squared
	values []T  // scratch of row
}

// sparseFrom returns the rows of a batch from one on, squared if asked for.
func (s *source[T]) sparseFrom(from int, square bool) *sparseRows[T] {
	r := &s.sparse[0]
	if square {
		r = &s.sparse[1]
	}
	if *r == nil {
		*r = &sparseRows[T]{square: square}
	}
	(*r).table, (*r).idx, (*r).from = s.table, s.idx, from
	return *r
}

// row returns the columns and the values of row i after the first. The values are a view that the
// next call overwrites.
func (s *sparseRows[T]) row(i int) (indices []int32, values []T) {
	indices, v := s.table.Sparse.Row(s.table.Base(rowIndex(s.idx, s.from+i)))
	if same, ok := any(v).([]T); ok && !s.square {
		return indices, same
	}
	s.values = slices.Grow(s.values[:0], len(v))[:len(v)]
	linalg.Convert(s.values, v)
	if s.square {
		kernel.MulTo(s.values, s.values, s.values)
	}
	return indices, s.values
}
