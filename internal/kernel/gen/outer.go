package main

import (
	"slices"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// An outerKernel sums outer products: C[i,j] = Σ_p A(i,p)·B[p,j], the columns j across the lanes
// and the sum over p in registers, in the order of p and starting from C. A shape is the rows of C
// and the registers across its columns in one panel. The first registers are the accumulators by
// row; a broadcast of A follows, and then registers of B.
type outerKernel struct {
	*emitter
	c, a, ra, ca, b, ldb reg.GPVirtual
	k                    mask // of the columns of a panel of one register
}

// outerShapes are the panels that there is code for. One row alone would be one sum after the
// other, so it takes up to wide registers across.
func (e *emitter) outerShapes(wide int) (s []shape) {
	const most = 12
	if e.short {
		wide = min(wide, 1)
	}
	for mr := most; mr > 1; mr-- {
		if e.wide && !e.short || !e.wide && mr <= most/2 { // else there are too few registers, or columns
			s = append(s, shape{mr, 2})
		}
		s = append(s, shape{mr, 1})
	}
	for nv := wide; nv > 0; nv-- {
		s = append(s, shape{1, nv})
	}
	return s
}

// outer emits the kernel, and one that copies B to panels as it reads it.
func (e *emitter) outer() {
	e.fn("outer", "sets C, or adds to it if acc is not 0, the sum of runs·k outer products, over a number of\n"+
		"panels of mr rows and nv registers across; if nv is 1, last is the number of columns, else at least the "+
		"number of a register.\n"+
		"Strides are in bytes: ra and ca are the strides of A between rows and columns, jump is what lies between "+
		"two runs of k of its columns,\n"+
		"and cs, as and bs are from one panel to the next. With two registers across it asks for what lies "+
		"ahead behind\n"+
		"each row of B.",
		"mr, nv, panels, last, k, runs int, c *T, ldc, cs int, a *T, ra, ca, jump, as int, b *T, ldb, bs, "+
			"ahead, acc int", "")
	o := e.outerArgs()
	e.eachWidth(e.arg("last"), func() {
		e.choice("panel", e.outerShapes(12), e.arg("mr"), e.arg("nv"), func(s shape) { o.panel(s, nil) })
	})
	e.fn("outerPack",
		"is outer with one run and one A for all panels, of at least 2 rows, and copies the panels of B one after\n"+
			"the other to memory.",
		"mr, nv, panels, last, k int, c *T, ldc, cs int, a *T, ra, ca int, b *T, ldb, bs, ahead int, to *T, acc int",
		"")
	o = e.outerArgs()
	to := e.arg("to")
	shapes := slices.DeleteFunc(e.outerShapes(0), func(s shape) bool { return s.mr == 1 })
	e.choice("panel", shapes, e.arg("mr"), e.arg("nv"), func(s shape) { o.panel(s, to) })
}

// outerArgs returns a kernel with the arguments that stay in registers.
func (e *emitter) outerArgs() *outerKernel {
	o := &outerKernel{emitter: e}
	o.k = e.mask(e.arg("last"), 15)
	o.c, o.a, o.ra, o.ca = e.arg("c"), e.arg("a"), e.arg("ra"), e.arg("ca")
	o.b, o.ldb = e.arg("b"), e.arg("ldb")
	return o
}

// columns is the mask of the columns of a panel, or nil if all are there.
func (o *outerKernel) columns(s shape) *mask {
	if s.nr == 1 {
		return &o.k
	}
	return nil
}

// panel emits the loop over the panels of one shape, with a copy of B to memory if there is some,
// and then without runs.
func (o *outerKernel) panel(s shape, to reg.GPVirtual) {
	var runs reg.GPVirtual
	k := o.columns(s)
	o.beginPanel(s, k)
	a, b := o.rows(o.a, o.ra, s.mr), o.copyOf(o.b)
	if to == nil {
		runs = o.arg("runs")
		o.label("run%s", s)
	}
	count, ask := o.arg("k"), o.prefetchRegister(s)
	o.label("loop%s", s)
	if s.mr == 1 {
		// Each register of B is used once: from memory.
		x := s.nr
		o.broadcast(a.row(0, 0), x)
		for v := range s.nr {
			o.packed("VFMADD231", o.source(at(b), x+1, k, v), x, v)
		}
	} else {
		o.rowOfB(s, b, k, ask)
		o.copyRow(s, to)
		o.products(s, func(i int) operand.Mem { return a.row(i, 0) })
	}
	o.advance(a, o.ca)
	o.ADDQ(o.ldb, b)
	o.countDown(count, "loop%s", s)
	if to == nil {
		o.advance(a, o.param("jump"))
		o.countDown(runs, "run%s", s)
	}
	o.storePanel(s, k)
	o.ADDQ(o.param("cs"), o.c)
	if to == nil {
		o.ADDQ(o.param("as"), o.a)
	}
	o.ADDQ(o.param("bs"), o.b)
	o.endPanels(s)
}

// copyRow copies the row of B in the registers to memory, if there is some.
func (o *outerKernel) copyRow(s shape, to reg.GPVirtual) {
	if to == nil {
		return
	}
	for v := range s.nr {
		o.store(s.mr*s.nr+1+v, at(to), nil, v)
	}
	o.op("ADDQ", s.nr*o.width, to)
}

// prefetchRegister returns the register of how far ahead B is asked for, or nil if it is not: rows
// of a matrix lie on a page each, and what the processor loads by itself ends with a page.
func (o *outerKernel) prefetchRegister(s shape) reg.Register {
	if s.nr != 2 || s.mr == 1 {
		return nil
	}
	return o.arg("ahead")
}

// rowOfB loads a row of a panel of B and asks for a later one.
func (o *outerKernel) rowOfB(s shape, b reg.Register, k *mask, ask reg.Register) {
	for v := range s.nr {
		o.load(at(b), s.mr*s.nr+1+v, k, v)
	}
	if ask == nil {
		return
	}
	for line := 0; line < s.nr*o.width; line += 64 {
		o.PREFETCHT0(indexed(b, ask).Offset(line))
	}
}

// beginPanel begins the code of a panel: it fills the accumulators with C or 0.
func (o *outerKernel) beginPanel(s shape, k *mask) {
	o.label("panel%s", s)
	o.op("CMPQ", o.param("acc"), 0)
	o.jump("JEQ", "zero%s", s)
	c := o.rows(o.c, o.arg("ldc"), s.mr)
	for i := range s.mr * s.nr {
		o.load(c.row(i/s.nr, 0), i, k, i%s.nr)
	}
	o.jump("JMP", "start%s", s)
	o.label("zero%s", s)
	for i := range s.mr * s.nr {
		o.zero(i)
	}
	o.label("start%s", s)
}

// products multiplies the entries of a column of A with the registers of B.
func (o *outerKernel) products(s shape, entry func(i int) operand.Mem) {
	x := s.mr * s.nr
	for i := range s.mr {
		if o.wide && !o.short && s.nr == 1 { // used once: an instruction of its own for 64 bytes keeps the adders busy
			o.vectors("VFMADD231P"+o.letter()+"_BCST", entry(i), x+1, i)
			continue
		}
		o.broadcast(entry(i), x)
		for v := range s.nr {
			o.packed("VFMADD231", x+1+v, x, i*s.nr+v)
		}
	}
}

// storePanel stores the accumulators.
func (o *outerKernel) storePanel(s shape, k *mask) {
	c := o.rows(o.c, o.arg("ldc"), s.mr)
	for i := range s.mr * s.nr {
		o.store(i, c.row(i/s.nr, 0), k, i%s.nr)
	}
}

// endPanels ends the loop over the panels, whose count is in memory.
func (o *outerKernel) endPanels(s shape) {
	o.countDown(o.param("panels"), "panel%s", s)
	o.ret()
}
