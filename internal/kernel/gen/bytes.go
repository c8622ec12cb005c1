package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// sliceHeader is the size of a []byte in memory; its first word is where the bytes are.
const sliceHeader = 24

// loadBytes fills vector register v with the numbers of the bytes at m.
func (e *emitter) loadBytes(m operand.Mem, v int) {
	if e.size == 4 {
		e.op("VPMOVZXBD", m, e.vec(v))
		e.op("VCVTDQ2PS", e.vec(v), e.vec(v))
		return
	}
	ints := e.half(v)
	if !e.wide {
		ints = e.quarter(v)
	}
	e.op("VPMOVZXBD", m, ints)
	e.op("VCVTDQ2PD", ints, e.vec(v))
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
	mr, nr := e.arg("mr"), e.arg("nr")
	shapes := e.dotShapes()[1:] // without the tall one
	for _, s := range shapes {
		e.op("CMPQ", mr, s.mr)
		e.jump("JNE", "not%dx%d", s.mr, s.nr)
		e.op("CMPQ", nr, s.nr)
		e.jump("JEQ", "tile%dx%d", s.mr, s.nr)
		e.label("not%dx%d", s.mr, s.nr)
	}
	e.ret()
	for _, s := range shapes {
		d.tile(s)
	}
}

// tile emits the loop over the groups of one shape.
func (d *bytesDotKernel) tile(s dotShape) {
	acc := make([][]int, s.mr*s.nr) // by column, then row
	next := 0
	for i := range acc {
		for range d.parts() {
			acc[i] = append(acc[i], next)
			next++
		}
	}
	name := fmt.Sprintf("%dx%d", s.mr, s.nr)
	d.label("tile%s", name)
	for _, a := range acc {
		d.zero(a...)
	}
	a := make([]reg.GPVirtual, s.mr)
	for i := range a {
		a[i] = d.GP64()
		d.MOVQ(at(d.list, sliceHeader*i), a[i])
	}
	b := d.rows(d.b, d.ldb, s.nr)
	ahead, line, off, limit := d.copyOf(d.list), d.GP64(), d.GP64(), d.GP64()
	d.ADDQ(d.param("ahead"), ahead)
	d.XORQ(off, off)
	d.XORQ(limit, limit)
	d.label("share%s", name)
	d.MOVQ(at(ahead, 0), line)
	d.ADDQ(operand.U8(sliceHeader), ahead)
	d.ADDQ(d.param("share"), limit)
	d.CMPQ(limit, d.param("k"))
	d.CMOVQGT(d.param("k"), limit)
	d.label("loop%s", name)
	d.PREFETCHT0(at(line, 0))
	for p := range d.parts() {
		for i := range a {
			d.loadBytes(operand.Mem{Base: a[i], Index: off, Scale: 1, Disp: p * d.lanes()}, next+i)
		}
		for j := range s.nr {
			y := next + s.mr
			if d.wide {
				y += j % 2
			}
			d.load(b.row(j, 0), y, nil, p)
			for i := range a {
				d.packed("VFMADD231", d.vec(next+i), d.vec(y), d.vec(acc[j*s.mr+i][p]))
			}
		}
	}
	d.op("ADDQ", s.mr*d.block(), line)
	d.advance(b, 64)
	d.op("ADDQ", d.block(), off)
	d.CMPQ(off, limit)
	d.jump("JLT", "loop%s", name)
	d.CMPQ(off, d.param("k"))
	d.jump("JLT", "share%s", name)
	d.addSums(d.c, s, acc, next)
	d.op("ADDQ", sliceHeader*s.mr, d.list)
	d.next(d.c, d.arg("rs"), s.mr)
	d.DECQ(d.param("groups"))
	d.jump("JNZ", "tile%s", name)
	d.ret()
}

// bytesOuter emits a kernel as outer is, for the columns of A as they lie and rows of bytes.
func (e *emitter) bytesOuter() {
	e.fn("bytesOuter", "sets C, or adds to it if acc is not 0, the sum of k outer products of rows of A and rows of bytes,\n"+
		"over a number of panels of nv registers across the columns, which start at column off. list is where the\n"+
		"slices of the rows are. Strides are in bytes.",
		"mr, nv, panels, k int, c *T, ldc int, a *T, lda int, list *[]byte, off, acc int", "")
	o := &outerKernel{emitter: e}
	o.c, o.a, o.ca, o.panels = e.arg("c"), e.arg("a"), e.arg("lda"), e.arg("panels")
	off := e.arg("off")
	mr, nv := e.arg("mr"), e.arg("nv")
	var shapes []outerShape
	for _, s := range e.outerShapes() {
		if s.nv <= 2 {
			shapes = append(shapes, s)
		}
	}
	for _, s := range shapes {
		e.op("CMPQ", mr, s.mr)
		e.jump("JNE", "not%s", s)
		e.op("CMPQ", nv, s.nv)
		e.jump("JEQ", "panel%s", s)
		e.label("not%s", s)
	}
	e.ret()
	for _, s := range shapes {
		o.bytesPanel(s, off)
	}
}

// bytesPanel emits the loop over the panels of one shape.
func (o *outerKernel) bytesPanel(s outerShape, off reg.GPVirtual) {
	acc := func(i, v int) int { return i*s.nv + v }
	x := s.mr * s.nv
	y := x + 1
	o.label("panel%s", s)
	o.open(s, acc, nil)
	a, list, row, count := o.copyOf(o.a), o.arg("list"), o.GP64(), o.arg("k")
	o.label("loop%s", s)
	o.MOVQ(at(list, 0), row)
	for v := range s.nv {
		o.loadBytes(operand.Mem{Base: row, Index: off, Scale: 1, Disp: v * o.lanes()}, y+v)
	}
	for i := range s.mr {
		o.broadcast(at(a, i*o.size), x)
		for v := range s.nv {
			o.packed("VFMADD231", o.vec(y+v), o.vec(x), o.vec(acc(i, v)))
		}
	}
	o.ADDQ(operand.U8(sliceHeader), list)
	o.ADDQ(o.ca, a)
	o.DECQ(count)
	o.jump("JNZ", "loop%s", s)
	c := o.rows(o.c, o.arg("ldc"), s.mr)
	for i := range s.mr {
		for v := range s.nv {
			o.store(acc(i, v), c.row(i, 0), nil, v)
		}
	}
	o.op("ADDQ", s.nv*o.lanes(), off)
	o.op("ADDQ", s.nv*o.width(), o.c)
	o.DECQ(o.panels)
	o.jump("JNZ", "panel%s", s)
	o.ret()
}
