package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// at is the operand at base, and memory disp bytes behind it.
func at(base reg.Register) operand.Mem               { return memory(base, 0) }
func memory(base reg.Register, disp int) operand.Mem { return operand.Mem{Base: base, Disp: disp} }

// scaled is memory behind base, by a number of elements of some bytes.
func scaled(base, elements reg.Register, bytes int) operand.Mem {
	return operand.Mem{Base: base, Index: elements, Scale: uint8(bytes)}
}

// rows are pointers from which every of n rows can be addressed: one for each third row, the
// others by the stride once or twice.
type rows struct {
	base   []reg.GPVirtual
	stride reg.Register
}

// rows points at n rows from the given start.
func (e *emitter) rows(start, stride reg.Register, n int) rows {
	r := rows{stride: stride}
	for i := 0; i < n; i += 3 {
		p := e.GP64()
		if i == 0 {
			e.MOVQ(start, p)
		} else {
			q := r.base[len(r.base)-1]
			e.LEAQ(scaled(q, stride, 2), p)
			e.ADDQ(stride, p)
		}
		r.base = append(r.base, p)
	}
	return r
}

// row is the memory of row i, disp bytes on.
func (r rows) row(i, disp int) operand.Mem {
	m := operand.Mem{Base: r.base[i/3], Disp: disp}
	if i%3 > 0 {
		m.Index, m.Scale = r.stride, uint8(i%3)
	}
	return m
}

// advance moves all rows by a number of bytes or the content of a register.
func (e *emitter) advance(r rows, by any) {
	for _, p := range r.base {
		e.op("ADDQ", by, p)
	}
}
