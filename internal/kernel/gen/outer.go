package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/reg"
)

// An outerKernel sums outer products: C[i,j] = Σ_p A(i,p)·B[p,j], the columns j across the lanes and
// the sum over p in registers, in the order of p and starting from C.
type outerKernel struct {
	*emitter
	c, a, ra, ca, b, ldb, panels reg.GPVirtual
	k                            mask
}

// An outerShape is the rows of C and the registers across its columns in one panel. Panels of one
// register are masked.
type outerShape struct{ mr, nv int }

func (s outerShape) String() string { return fmt.Sprintf("%dx%d", s.mr, s.nv) }

// outerShapes are the panels that there is code for. One row alone would be one sum after the
// other, so it takes up to 12 registers across.
func (e *emitter) outerShapes() (s []outerShape) {
	most := 10
	if !e.wide {
		most = 6
	}
	for mr := most; mr > 1; mr-- {
		s = append(s, outerShape{mr, 2}, outerShape{mr, 1})
	}
	for nv := 12; nv > 0; nv-- {
		s = append(s, outerShape{1, nv})
	}
	return s
}

// outer emits the kernel.
func (e *emitter) outer() {
	e.fn("outer", "sets C, or adds to it if acc is not 0, the sum of k outer products, over a number\n"+
		"of panels of nv registers across the columns; if nv is 1, last is the number of columns in the one\n"+
		"panel. Strides are in bytes; ra and ca are those of A between rows and columns.",
		"mr, nv, panels, last, k int, c *T, ldc int, a *T, ra, ca int, b *T, ldb, acc int", "")
	o := &outerKernel{emitter: e}
	o.k = e.mask(e.arg("last"), 15)
	o.c, o.a, o.ra, o.ca = e.arg("c"), e.arg("a"), e.arg("ra"), e.arg("ca")
	o.b, o.ldb, o.panels = e.arg("b"), e.arg("ldb"), e.arg("panels")
	mr, nv := e.arg("mr"), e.arg("nv")
	for _, s := range e.outerShapes() {
		e.op("CMPQ", mr, s.mr)
		e.jump("JNE", "not%s", s)
		e.op("CMPQ", nv, s.nv)
		e.jump("JEQ", "panel%s", s)
		e.label("not%s", s)
	}
	e.ret()
	for _, s := range e.outerShapes() {
		o.panel(s)
	}
}

// panel emits the loop over the panels of one shape.
func (o *outerKernel) panel(s outerShape) {
	var k *mask
	if s.nv == 1 {
		k = &o.k
	}
	n := s.mr * s.nv
	acc := func(i, v int) int { return i*s.nv + v }
	x, y := n, n+1 // a broadcast of A, and the registers of B from here on
	o.label("panel%s", s)
	o.open(s, acc, k)
	a, b := o.rows(o.a, o.ra, s.mr), o.copyOf(o.b)
	count := o.arg("k")
	o.label("loop%s", s)
	if s.mr == 1 {
		o.broadcast(a.row(0, 0), x)
		for v := range s.nv {
			if k != nil {
				o.load(at(b, 0), y, k, v)
				o.packed("VFMADD231", o.vec(y), o.vec(x), o.vec(acc(0, v)))
			} else {
				o.packed("VFMADD231", at(b, v*o.width()), o.vec(x), o.vec(acc(0, v)))
			}
		}
	} else {
		for v := range s.nv {
			o.load(at(b, 0), y+v, k, v)
		}
		for i := range s.mr {
			o.broadcast(a.row(i, 0), x)
			for v := range s.nv {
				o.packed("VFMADD231", o.vec(y+v), o.vec(x), o.vec(acc(i, v)))
			}
		}
	}
	o.advance(a, o.ca)
	o.ADDQ(o.ldb, b)
	o.DECQ(count)
	o.jump("JNZ", "loop%s", s)
	c := o.rows(o.c, o.arg("ldc"), s.mr)
	for i := range s.mr {
		for v := range s.nv {
			o.store(acc(i, v), c.row(i, 0), k, v)
		}
	}
	o.op("ADDQ", s.nv*o.width(), o.b)
	o.op("ADDQ", s.nv*o.width(), o.c)
	o.DECQ(o.panels)
	o.jump("JNZ", "panel%s", s)
	o.ret()
}

// open fills the accumulators with C or 0.
func (o *outerKernel) open(s outerShape, acc func(i, v int) int, k *mask) {
	e := o.emitter
	e.op("CMPQ", e.param("acc"), 0)
	e.jump("JEQ", "zero%s", s)
	c := e.rows(o.c, e.arg("ldc"), s.mr)
	for i := range s.mr {
		for v := range s.nv {
			e.load(c.row(i, 0), acc(i, v), k, v)
		}
	}
	e.jump("JMP", "start%s", s)
	e.label("zero%s", s)
	for i := range s.mr * s.nv {
		e.zero(i)
	}
	e.label("start%s", s)
}
