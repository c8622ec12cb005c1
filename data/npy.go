package data

import (
	"io"

	"dsbo/ad"
	"dsbo/internal/npy"
)

// ReadNPY reads a matrix, or a vector as one column, that numpy.save wrote: float32, float64, bool and integers of any
// width and byte order, in C or Fortran order. float32 and uint8 keep their size in memory; the others become float64.
//
// Errors are a [*FileError]; for a number that is not finite, or an integer from 2^53 on, which
// float64 would round, it names row and column.
func ReadNPY(r io.Reader) (*ad.Table, error) {
	a, err := npy.Read(r)
	var t *ad.Table
	switch {
	case err != nil:
	case a.Bytes != nil:
		t, err = ad.ByteTable(a.Rows, a.Cols, a.Bytes, 1)
	case a.Float32s != nil:
		t, err = ad.Float32Table(a.Rows, a.Cols, a.Float32s)
	default:
		t, err = ad.FloatTable(a.Rows, a.Cols, a.Float64s)
	}
	if err != nil {
		return nil, fileError(nameOf(r), 0, "%v", err)
	}
	return t, nil
}
