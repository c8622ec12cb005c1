package ad

import (
	endian "encoding/binary" // binary is an op
	"hash"
	"math"
	"slices"

	"dsbo"
)

// csr is the numbers of a sparse table, row after row: row r has values in the columns indices,
// from starts[r] on.
type csr struct {
	starts  []int
	indices []int32
	values  []float32
}

// SparseTable makes a table of rows×cols numbers that are 0 but for values: those of row r, from
// starts[r] to starts[r+1], stand in the columns indices, which ascend. It takes 8 bytes for each
// value, and one of 10⁵ columns is never made whole: see [Input.Sparse].
//
// It fails with [dsbo.ErrShape] if the lengths do not fit, or if columns do not ascend or are not
// from 0 to cols-1, and with [dsbo.ErrConfig] if a number is NaN or infinite.
func SparseTable(rows, cols int, starts []int, indices []int32, values []float32) (*Table, error) {
	s := &csr{starts, indices, values}
	if err := s.check(rows, cols); err != nil {
		return nil, err
	}
	return &Table{rows: rows, cols: cols, sparse: s}, nil
}

func (s *csr) check(rows, cols int) error {
	if rows < 1 || cols < 1 {
		return dsbo.Errorf(dsbo.ErrShape, "a table needs at least one row and one column; it has %d and %d", rows, cols)
	}
	if len(s.starts)-1 != rows || s.starts[0] != 0 || s.starts[rows] != len(s.values) ||
		len(s.indices) != len(s.values) {
		return dsbo.Errorf(dsbo.ErrShape,
			"a sparse table of %d rows needs %d starts, from 0 to the number of values, and a column for each value; "+
				"it has %d starts, %d columns and %d values", rows, rows+1, len(s.starts),
			len(s.indices), len(s.values))
	}
	for r := range rows {
		if s.starts[r+1] < s.starts[r] || s.starts[r+1] > len(s.values) {
			return dsbo.Errorf(dsbo.ErrShape,
				"the values of row %d must end after their start, within %d values; they are from %d to %d",
				r, len(s.values), s.starts[r], s.starts[r+1])
		}
		last := int32(-1)
		indices, values := s.row(r)
		for e, j := range indices {
			if j <= last || int(j) >= cols {
				return dsbo.Errorf(dsbo.ErrShape, "columns of a row must ascend, from 0 to %d; row %d has %d after %d",
					cols-1, r, j, last)
			}
			last = j
			if v := float64(values[e]); math.IsNaN(v) || math.IsInf(v, 0) {
				return dsbo.Errorf(dsbo.ErrConfig, "numbers must be finite; row %d, column %d has %g", r, j, v)
			}
		}
	}
	return nil
}

// row returns the columns and values of row r.
func (s *csr) row(r int) (indices []int32, values []float32) {
	from, to := s.starts[r], s.starts[r+1]
	return s.indices[from:to], s.values[from:to]
}

// at returns the number in row r and column j.
func (s *csr) at(r, j int) float64 {
	indices, values := s.row(r)
	e, ok := slices.BinarySearch(indices, int32(j))
	if !ok {
		return 0
	}
	return float64(values[e])
}

// pick returns some rows, in memory of their own.
func (s *csr) pick(rows []int) *csr {
	size := 0
	for _, r := range rows {
		size += s.starts[r+1] - s.starts[r]
	}
	p := &csr{make([]int, 1, len(rows)+1), make([]int32, 0, size), make([]float32, 0, size)}
	for _, r := range rows {
		indices, values := s.row(r)
		p.indices, p.values = append(p.indices, indices...), append(p.values, values...)
		p.starts = append(p.starts, len(p.values))
	}
	return p
}

// writeHash writes the number of values of row r, their columns and the values to h.
func (s *csr) writeHash(h hash.Hash, r int) {
	indices, values := s.row(r)
	buf := endian.LittleEndian.AppendUint64(nil, uint64(len(values)))
	for e, j := range indices {
		buf = endian.LittleEndian.AppendUint32(buf, uint32(j))
		buf = endian.LittleEndian.AppendUint32(buf, math.Float32bits(values[e]))
	}
	h.Write(buf) // a hash takes all that it is given
}

// scatterRow writes row r to dst, with its zeros.
func scatterRow[T Float](s *csr, dst []T, r int) {
	clear(dst)
	indices, values := s.row(r)
	for e, j := range indices {
		dst[j] = T(values[e])
	}
}
