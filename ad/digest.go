package ad

import (
	endian "encoding/binary" // binary is an op
	"fmt"
	"hash"
	"math"
)

// WriteHash writes what the table holds to h, so that tables with other rows, or numbers of another
// form, differ. The time is that of hashing the rows.
func (t *Table) WriteHash(h hash.Hash) {
	fmt.Fprintf(h, "%d %d %t %t %t %t %g\n", t.rows, t.cols, t.f64 != nil, t.f32 != nil, t.bytes != nil,
		t.labels != nil, t.scale)
	if t.sparse != nil {
		fmt.Fprintln(h, "sparse")
	}
	var buf []byte
	for i := range t.rows {
		r := i
		if t.pick != nil {
			r = t.pick[i]
		}
		buf = buf[:0]
		switch {
		case t.sparse != nil:
			t.sparse.writeHash(h, r)
		case t.f64 != nil:
			for _, v := range t.f64[r*t.cols : (r+1)*t.cols] {
				buf = endian.LittleEndian.AppendUint64(buf, math.Float64bits(v))
			}
		case t.f32 != nil:
			for _, v := range t.f32[r*t.cols : (r+1)*t.cols] {
				buf = endian.LittleEndian.AppendUint32(buf, math.Float32bits(v))
			}
		case t.bytes != nil:
			buf = append(buf, t.bytes[r*t.cols:(r+1)*t.cols]...)
		case t.labels != nil:
			buf = append(buf, t.labels[r])
		}
		h.Write(buf) // a hash takes all that it is given
	}
}
