package ad

import (
	endian "encoding/binary" // binary is an op
	"fmt"
	"hash"
	"math"
)

// WriteHash writes what the table holds to h, so that tables with other rows, or numbers of another form, differ.
// The time is that of hashing the rows.
func (t *Table) WriteHash(h hash.Hash) {
	fmt.Fprintf(h, "%d %d %t %t %t %t %g\n", t.data.R, t.data.C, t.data.F64 != nil, t.data.F32 != nil, t.data.Bytes != nil, t.data.Labels != nil, t.data.Scale)
	if t.data.Sparse != nil {
		fmt.Fprintln(h, "sparse")
	}
	var buf []byte
	for i := range t.data.R {
		r := t.data.Base(i)
		buf = buf[:0]
		switch {
		case t.data.Sparse != nil:
			writeSparseHash(h, t.data.Sparse, r)
		case t.data.F64 != nil:
			for _, v := range t.data.F64[r*t.data.C : (r+1)*t.data.C] {
				buf = endian.LittleEndian.AppendUint64(buf, math.Float64bits(v))
			}
		case t.data.F32 != nil:
			for _, v := range t.data.F32[r*t.data.C : (r+1)*t.data.C] {
				buf = endian.LittleEndian.AppendUint32(buf, math.Float32bits(v))
			}
		case t.data.Bytes != nil:
			buf = append(buf, t.data.Bytes[r*t.data.C:(r+1)*t.data.C]...)
		case t.data.Labels != nil:
			buf = append(buf, t.data.Labels[r])
		}
		h.Write(buf) // a hash takes all that it is given
	}
}
