package ad

import (
	endian "encoding/binary" // binary is an op
	"fmt"
	"hash"
	"math"
)

// WriteHash writes what the table holds to h, so that tables with other rows, or numbers of
// another form, differ. It takes the time of hashing the rows.
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
		r := d.Base(i)
		buf = buf[:0]
		switch {
		case d.Sparse != nil:
			writeSparseHash(h, d.Sparse, r)
		case d.F64 != nil:
			for _, v := range d.F64[r*d.C : (r+1)*d.C] {
				buf = endian.LittleEndian.AppendUint64(buf, math.Float64bits(v))
			}
		case d.F32 != nil:
			for _, v := range d.F32[r*d.C : (r+1)*d.C] {
				buf = endian.LittleEndian.AppendUint32(buf, math.Float32bits(v))
			}
		case d.Bytes != nil:
			buf = append(buf, d.Bytes[r*d.C:(r+1)*d.C]...)
		case d.Labels != nil:
			buf = append(buf, d.Labels[r])
		case d.Classes != nil:
			buf = endian.LittleEndian.AppendUint32(buf, uint32(d.Classes[r]))
		}
		h.Write(buf) // a hash never fails
	}
}
