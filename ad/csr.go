package ad

import (
	endian "encoding/binary"
	"hash"
	"math"
	"slices"

	"dsbo"
	"dsbo/ad/internal/engine"
)

// checkSparse returns an error for the first part of a sparse table in compressed rows that is
// inconsistent with its sizes.
func checkSparse(s *engine.CSR, rows, cols int) error {
	if rows < 1 || cols < 1 {
		return dsbo.ShapeErrorf("a table needs at least one row and one column; it has %d and %d", rows, cols)
	}
	n := len(s.Values)
	if len(s.Starts)-1 != rows || s.Starts[0] != 0 || s.Starts[rows] != n || len(s.Indices) != n {
		return dsbo.ShapeErrorf("a sparse table of %d rows needs %d starts, from 0 to the number of "+
			"values, and a column for each value; "+
			"it has %d starts, %d columns and %d values", rows, rows+1, len(s.Starts), len(s.Indices), len(s.Values))
	}
	for r := range rows {
		if s.Starts[r+1] < s.Starts[r] || s.Starts[r+1] > len(s.Values) {
			return dsbo.ShapeErrorf("the values of row %d must end after their start, within %d values; "+
				"they are from %d to %d",
				r, len(s.Values), s.Starts[r], s.Starts[r+1])
		}
		last := int32(-1)
		indices, values := s.Row(r)
		for e, j := range indices {
			if j <= last || int(j) >= cols {
				return dsbo.ShapeErrorf("columns of a row must ascend, from 0 to %d; row %d has %d after %d",
					cols-1, r, j, last)
			}
			last = j
			if v := float64(values[e]); math.IsNaN(v) || math.IsInf(v, 0) {
				return dsbo.ConfigErrorf("numbers must be finite; row %d, column %d has %g", r, j, v)
			}
		}
	}
	return nil
}

// sparseAt returns the number in row r and column j.
func sparseAt(s *engine.CSR, r, j int) float64 {
	indices, values := s.Row(r)
	e, ok := slices.BinarySearch(indices, int32(j))
	if !ok {
		return 0
	}
	return float64(values[e])
}

// copySparse returns some rows, in memory of their own.
func copySparse(s *engine.CSR, rows []int) *engine.CSR {
	size := 0
	for _, r := range rows {
		size += s.Starts[r+1] - s.Starts[r]
	}
	p := &engine.CSR{Starts: make([]int, 1, len(rows)+1),
		Indices: make([]int32, 0, size), Values: make([]float32, 0, size)}
	for _, r := range rows {
		indices, values := s.Row(r)
		p.Indices, p.Values = append(p.Indices, indices...), append(p.Values, values...)
		p.Starts = append(p.Starts, len(p.Values))
	}
	return p
}

// appendSparse returns the rows of a and then b's, in memory of their own.
func appendSparse(a, b *engine.CSR) *engine.CSR {
	p := &engine.CSR{Starts: slices.Clone(a.Starts), Indices: slices.Concat(a.Indices, b.Indices),
		Values: slices.Concat(a.Values, b.Values)}
	for _, start := range b.Starts[1:] {
		p.Starts = append(p.Starts, len(a.Values)+start)
	}
	return p
}

// writeSparseHash writes the number of values of row r, their columns and the values to h.
func writeSparseHash(h hash.Hash, s *engine.CSR, r int) {
	indices, values := s.Row(r)
	buf := endian.LittleEndian.AppendUint64(nil, uint64(len(values)))
	for e, j := range indices {
		buf = endian.LittleEndian.AppendUint32(buf, uint32(j))
		buf = endian.LittleEndian.AppendUint32(buf, math.Float32bits(values[e]))
	}
	h.Write(buf) // a hash never fails
}
