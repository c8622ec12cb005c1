package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// sliceHeader is the size of a []byte in memory; its first word is where the bytes are.
const sliceHeader = 24

// loadBytes fills vector register v with the numbers of the bytes at m.
func (e *emitter) loadBytes(m operand.Mem, v int) {
	ints := e.vec(v)
	if e.size == 8 && e.wide {
		ints = e.half(v)
	} else if e.size == 8 {
		ints = e.quarter(v)
	}
	e.op("VPMOVZXBD", m, ints)
	e.packed("VCVTDQ2", ints, e.vec(v))
}

// A bytesDotKernel is a dotKernel whose A is rows of bytes that lie anywhere. While it goes along a
// group of rows it asks for those of another one.
type bytesDotKernel struct {
	*emitter
	c, list, b, ldb reg.GPVirtual
}

// bytesDot emits the kernel.
func (e *emitter) bytesDot() {
	e.fn("bytesDot", "adds to C, of groups·mr rows and nr columns, the products of rows of bytes and the rows of B,\n"+
		"each of length k, a multiple of 64 bytes of B. list is where the slices of the rows are; those that lie\n"+
		"ahead bytes further are loaded into the cache, one in each share of k. Strides are in bytes.",
		"mr, nr, groups, k, share int, c *T, rs, cs int, list *[]byte, ahead int, b *T, ldb int", "")
	d := &bytesDotKernel{emitter: e}
	d.c, d.list, d.b, d.ldb = e.arg("c"), e.arg("list"), e.arg("b"), e.arg("ldb")
	e.choice("tile", e.bytesShapes(), e.arg("mr"), e.arg("nr"), d.tile)
}

// bytesShapes are the tiles that there is code for: few rows of bytes, as to make numbers of them takes as long as two products.
func (e *emitter) bytesShapes() (s []shape) {
	const mr = 2
	nr := 10
	if !e.wide {
		nr = 3
	}
	for _, m := range []int{mr, 1} {
		for n := nr; n > 0; n-- {
			s = append(s, shape{m, n})
		}
	}
	return s
}

// tile emits the loop over the groups of one shape.
func (d *bytesDotKernel) tile(s shape) {
	acc, free := d.beginTile(s)
	a := make([]reg.GPVirtual, s.mr)
	for i := range a {
		a[i] = d.GP64()
		d.MOVQ(memory(d.list, sliceHeader*i), a[i])
	}
	b := d.rows(d.b, d.ldb, s.nr)
	ahead, line, off, limit := d.copyOf(d.list), d.GP64(), d.GP64(), d.GP64()
	d.ADDQ(d.param("ahead"), ahead)
	d.XORQ(off, off)
	d.XORQ(limit, limit)
	d.label("share%s", s)
	d.MOVQ(memory(ahead, 0), line)
	d.ADDQ(operand.U8(sliceHeader), ahead)
	d.ADDQ(d.param("share"), limit)
	d.CMPQ(limit, d.param("k"))
	d.CMOVQGT(d.param("k"), limit)
	d.label("loop%s", s)
	d.PREFETCHT0(memory(line, 0))
	for p := range d.parts() {
		for i := range a {
			d.loadBytes(indexed(a[i], off).Offset(p*d.lanes()), free+i)
		}
		d.products(s, acc, b, free, nil, p)
	}
	d.op("ADDQ", s.mr*d.block(), line)
	d.advance(b, 64)
	d.op("ADDQ", d.block(), off)
	d.CMPQ(off, limit)
	d.jump("JLT", "loop%s", s)
	d.CMPQ(off, d.param("k"))
	d.jump("JLT", "share%s", s)
	d.addSums(d.c, s, acc, free)
	d.op("ADDQ", sliceHeader*s.mr, d.list)
	d.addStrides(d.c, d.arg("rs"), s.mr)
	d.endTile(d.param("groups"), s)
}

// bytesOuter emits a kernel as outer is, for the columns of A as they lie and rows of bytes.
func (e *emitter) bytesOuter() {
	e.fn("bytesOuter", "sets C, or adds to it if acc is not 0, the sum of k outer products of rows of A and rows of bytes,\n"+
		"over a number of panels of nv registers across the columns, which start at column off. list is where the\n"+
		"slices of the rows are. Strides are in bytes.",
		"mr, nv, panels, k int, c *T, ldc int, a *T, lda int, list *[]byte, off, acc int", "")
	o := &outerKernel{emitter: e}
	o.c, o.a, o.ca = e.arg("c"), e.arg("a"), e.arg("lda")
	off := e.arg("off")
	e.choice("panel", e.outerShapes(2), e.arg("mr"), e.arg("nv"), func(s shape) { o.bytesPanel(s, off) })
}

// bytesPanel emits the loop over the panels of one shape.
func (o *outerKernel) bytesPanel(s shape, off reg.GPVirtual) {
	o.beginPanel(s, nil)
	a, list, row, count := o.copyOf(o.a), o.arg("list"), o.GP64(), o.arg("k")
	o.label("loop%s", s)
	o.MOVQ(memory(list, 0), row)
	for v := range s.nr {
		o.loadBytes(indexed(row, off).Offset(v*o.lanes()), s.mr*s.nr+1+v)
	}
	o.products(s, func(i int) operand.Mem { return memory(a, i*o.size) })
	o.ADDQ(operand.U8(sliceHeader), list)
	o.ADDQ(o.ca, a)
	o.countDown(count, "loop%s", s)
	o.storePanel(s, nil)
	o.op("ADDQ", s.nr*o.lanes(), off)
	o.op("ADDQ", s.nr*o.width, o.c)
	o.endPanels(s)
}
