package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A ByteRow in memory: where its bytes are, and the columns from..to beside which there are zeros
// alone, of 4 bytes each.
const (
	byteRowFrom = 8
	byteRowTo   = 12
	byteRow     = 24
)

// loadBytes fills vector register v with the numbers of the bytes at m.
func (e *emitter) loadBytes(m operand.Mem, v int) {
	ints := e.vec(v)
	if e.size == 8 && e.wide {
		ints = e.half(v)
	} else if e.size == 8 {
		ints = e.quarter(v)
	}
	e.op("VPMOVZXBD", m, ints)
	e.packed("VCVTDQ2", ints, v)
}

// A bytesDotKernel is a dotKernel whose A is rows of bytes that lie anywhere. While it goes along a
// group of rows it asks for the rows of another one.
type bytesDotKernel struct {
	*emitter
	c, list, b, ldb reg.GPVirtual
}

// bytesDot emits the kernel.
func (e *emitter) bytesDot() {
	e.fn("bytesDot",
		"adds to C, of groups·mr rows and nr columns, the products of rows of bytes and the rows of B, of which\n"+
			"it leaves out where all rows of a group have zeros. list is where the rows are; of those that lie "+
			"ahead bytes\n"+
			"further as many bytes are loaded into the cache. Strides are in bytes.",
		"mr, nr, groups int, c *T, rs, cs int, list *byte, ahead int, b *T, ldb int", "")
	d := &bytesDotKernel{emitter: e}
	d.c, d.list, d.b, d.ldb = e.arg("c"), e.arg("list"), e.arg("b"), e.arg("ldb")
	e.choice("tile", e.bytesShapes(), e.arg("mr"), e.arg("nr"), d.tile)
}

// bytesShapes are the tiles that there is code for: few rows of bytes, as to make numbers of them
// takes as long as two products.
func (e *emitter) bytesShapes() []shape {
	if e.wide {
		return tiles(2, 10)
	}
	return tiles(2, 3)
}

// tile emits the loop over the groups of one shape.
func (d *bytesDotKernel) tile(s shape) {
	acc, free := d.beginTile(s)
	off, to, from := d.GP64(), d.GP64(), d.GP64()
	d.columns(s, off, to)
	d.CMPQ(off, to)
	d.jump("JGE", "sum%s", s)
	a, lines, ahead := make([]reg.GPVirtual, s.mr), make([]reg.GPVirtual, s.mr), d.copyOf(d.list)
	d.ADDQ(d.param("ahead"), ahead)
	for i := range a {
		a[i], lines[i] = d.GP64(), d.GP64()
		d.MOVQ(memory(d.list, byteRow*i), a[i])
		// where that row has something, from the first column of this one on
		d.MOVLQSX(memory(ahead, byteRow*i+byteRowFrom), lines[i])
		d.ADDQ(memory(ahead, byteRow*i), lines[i])
		d.SUBQ(off, lines[i])
	}
	d.LEAQ(scaled(d.b, off, d.size), from)
	b := d.rows(from, d.ldb, s.nr)
	d.label("loop%s", s)
	for _, line := range lines {
		d.PREFETCHT0(indexed(line, off))
	}
	for p := range d.parts() {
		for i := range a {
			d.loadBytes(indexed(a[i], off).Offset(p*d.lanes()), free+i)
		}
		d.products(s, acc, b, free, nil, p)
	}
	d.advance(b, 64)
	d.op("ADDQ", d.block(), off)
	d.CMPQ(off, to)
	d.jump("JLT", "loop%s", s)
	d.label("sum%s", s)
	d.addSums(d.c, s, acc, free)
	d.op("ADDQ", byteRow*s.mr, d.list)
	d.addStrides(d.c, d.arg("rs"), s.mr)
	d.endTile(d.param("groups"), s)
}

// columns sets from and to to the columns beside which all rows of a group have zeros.
func (d *bytesDotKernel) columns(s shape, from, to reg.GPVirtual) {
	d.MOVLQSX(memory(d.list, byteRowFrom), from)
	d.MOVLQSX(memory(d.list, byteRowTo), to)
	for i := 1; i < s.mr; i++ {
		other := d.GP64()
		d.MOVLQSX(memory(d.list, byteRow*i+byteRowFrom), other)
		d.CMPQ(other, from)
		d.CMOVQLT(other, from)
		d.MOVLQSX(memory(d.list, byteRow*i+byteRowTo), other)
		d.CMPQ(other, to)
		d.CMOVQGT(other, to)
	}
}

// bytesOuter emits a kernel as outer is, for the columns of A as they lie and rows of bytes.
func (e *emitter) bytesOuter() {
	e.fn("bytesOuter",
		"sets C, or adds to it if acc is not 0, the sum of k outer products of rows of A and rows of bytes,\n"+
			"over a number of panels of nv registers across the columns, which start at column off. Rows that have "+
			"zeros alone\n"+
			"in a panel are left out. list is where the rows are. Strides are in bytes.",
		"mr, nv, panels, k int, c *T, ldc int, a *T, lda int, list *byte, off, acc int", "")
	o := &outerKernel{emitter: e}
	o.c, o.a, o.ca = e.arg("c"), e.arg("a"), e.arg("lda")
	off := e.arg("off")
	e.choice("panel", e.outerShapes(2), e.arg("mr"), e.arg("nv"), func(s shape) { o.bytesPanel(s, off) })
}

// bytesPanel emits the loop over the panels of one shape.
func (o *outerKernel) bytesPanel(s shape, off reg.GPVirtual) {
	o.beginPanel(s, nil)
	a, list, row, count, end := o.copyOf(o.a), o.arg("list"), o.GP64(), o.arg("k"), o.copyOf(off)
	o.op("ADDQ", s.nr*o.lanes(), end)
	o.label("loop%s", s)
	o.CMPL(memory(list, byteRowFrom), end.As32())
	o.jump("JGE", "next%s", s)
	o.CMPL(memory(list, byteRowTo), off.As32())
	o.jump("JLE", "next%s", s)
	o.MOVQ(at(list), row)
	for v := range s.nr {
		o.loadBytes(indexed(row, off).Offset(v*o.lanes()), s.mr*s.nr+1+v)
	}
	o.products(s, func(i int) operand.Mem { return memory(a, i*o.size) })
	o.label("next%s", s)
	o.ADDQ(operand.U8(byteRow), list)
	o.ADDQ(o.ca, a)
	o.countDown(count, "loop%s", s)
	o.storePanel(s, nil)
	o.op("ADDQ", s.nr*o.lanes(), off)
	o.op("ADDQ", s.nr*o.width, o.c)
	o.endPanels(s)
}
