package ad

import (
	endian "encoding/binary" // binary is an op
	"fmt"
	"hash"
)

// WriteHash writes the table's form and rows to h, so that tables with other rows, or numbers of
// another form, have another hash. It hashes all rows.
func (t *Table) WriteHash(h hash.Hash) {
	d := &t.data
	fmt.Fprintf(h, "%d %d %t %t %t %t %g\n",
		d.R, d.C, d.F64 != nil, d.F32 != nil, d.Bytes != nil, d.Labels != nil, d.Scale)
	if d.Sparse != nil {
		fmt.Fprintln(h, "sparse")
	}
	if d.Classes != nil {
		fmt.Fprintln(h, "classes")
	}
	var buf []byte
	for i := range d.R {
		var row any
		r := d.Base(i)
		from, to := r*d.C, (r+1)*d.C
		switch {
		case d.Sparse != nil:
			writeSparseHash(h, d.Sparse, r)
			continue
		case d.F64 != nil:
			row = d.F64[from:to]
		case d.F32 != nil:
			row = d.F32[from:to]
		case d.Bytes != nil:
			row = d.Bytes[from:to]
		case d.Labels != nil:
			row = d.Labels[r : r+1]
		case d.Classes != nil:
			row = d.Classes[r : r+1]
		}
		buf, _ = endian.Append(buf[:0], endian.LittleEndian, row) // numbers always can
		h.Write(buf)                                              // a hash never fails
	}
}
