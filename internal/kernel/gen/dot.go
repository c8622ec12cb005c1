package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A dotKernel multiplies tiles of rows with rows: C[i,j] += Σ_p A[i,p]·B[j,p]. Each entry has one
// accumulator of 64 bytes, so its bits depend on its two rows alone. A shape is the rows of A and
// of B in one tile.
type dotKernel struct {
	*emitter
	c, a, lda, b, ldb, groups, tail reg.GPVirtual
}

// dotShapes are the tiles that there is code for: the accumulators, the rows of A and one row of B
// have to fit in the registers.
func (e *emitter) dotShapes() (s []shape) {
	mr, nr, tall := 4, 5, 8
	if !e.wide {
		mr, nr, tall = 2, 3, 4
	}
	return append(append(s, shape{tall, 1}), tiles(mr, nr)...)
}

// tiles are of mr rows or one, and of nr columns or less.
func tiles(mr, nr int) (s []shape) {
	for _, m := range []int{mr, 1} {
		for n := nr; n > 0; n-- {
			s = append(s, shape{m, n})
		}
	}
	return s
}

// dot emits the kernel.
func (e *emitter) dot() {
	e.fn("dot", "adds to C, of groups·mr rows and nr columns, the products of the rows of A and B,\n"+
		"each of length k, and asks for what lies step and step again behind ask, once for each 64 bytes of "+
		"k, and with\n"+
		"the next group lds further on. Strides are in bytes; rs and cs are the strides of C between rows and columns.",
		"mr, nr, groups, k int, c *T, rs, cs int, a *T, lda int, b *T, ldb int, ask *T, step, lds int", "")
	d := &dotKernel{emitter: e}
	k := e.arg("k")
	d.tail = e.GP64()
	e.MOVQ(k, d.tail)
	e.op("ANDQ", e.block()-1, d.tail)
	d.c, d.a, d.lda = e.arg("c"), e.arg("a"), e.arg("lda")
	d.b, d.ldb, d.groups = e.arg("b"), e.arg("ldb"), e.arg("groups")
	e.choice("tile", e.dotShapes(), e.arg("mr"), e.arg("nr"), d.tile)
}

// tile emits the loop over the groups of one shape.
func (d *dotKernel) tile(s shape) {
	acc, free := d.beginTile(s)
	a, b := d.rows(d.a, d.lda, s.mr), d.rows(d.b, d.ldb, s.nr)
	count, line := d.arg("k"), d.arg("ask")
	d.op("SHRQ", log2(d.block()), count)
	d.jump("JZ", "tail%s", s)
	d.label("loop%s", s)
	if d.wide { // AVX2, which takes twice the time, loses more by asking than by waiting
		d.PREFETCHT1(at(line))
		d.ADDQ(d.param("step"), line)
	}
	d.step(s, acc, a, b, free, nil)
	d.advance(a, 64)
	d.advance(b, 64)
	d.countDown(count, "loop%s", s)
	d.label("tail%s", s)
	d.jumpIfZero(d.tail, "sum%s", s)
	k := d.mask(d.tail, 15)
	d.step(s, acc, a, b, free, &k)
	d.label("sum%s", s)
	d.addSums(d.c, s, acc, free)
	d.addStrides(d.a, d.lda, s.mr)
	d.addStrides(d.c, d.arg("rs"), s.mr)
	d.ADDQ(d.arg("lds"), d.param("ask"))
	d.endTile(d.groups, s)
}

// beginTile begins the code of a tile: it clears an accumulator of 64 bytes, in one or two
// registers, for each entry by column, then row. It returns them and the first free register.
func (e *emitter) beginTile(s shape) (acc [][]int, free int) {
	e.label("tile%s", s)
	for range s.mr * s.nr {
		var a []int
		for range e.parts() {
			a = append(a, free)
			free++
		}
		e.zero(a...)
		acc = append(acc, a)
	}
	return acc, free
}

// endTile ends the code of a tile: it goes on with the next group.
func (e *emitter) endTile(groups operand.Op, s shape) {
	e.countDown(groups, "tile%s", s)
	e.ret()
}

// step adds 64 bytes of every row, or what k masks of them.
func (d *dotKernel) step(s shape, acc [][]int, a, b rows, free int, k *mask) {
	for p := range d.parts() {
		if s.nr == 1 {
			// Each row of A is used once: from memory.
			d.load(b.row(0, 0), free, k, p)
			for i := range s.mr {
				d.packed("VFMADD231", d.source(a.row(i, 0), free+1, k, p), free, acc[i][p])
			}
			continue
		}
		for i := range s.mr {
			d.load(a.row(i, 0), free+i, k, p)
		}
		d.products(s, acc, b, free, k, p)
	}
}

// products multiplies part p of the rows of A, which are in the registers from free on, with the
// part of the rows of B.
func (e *emitter) products(s shape, acc [][]int, b rows, free int, k *mask, p int) {
	for j := range s.nr {
		y := free + s.mr
		if e.wide {
			y += j % 2
		}
		e.load(b.row(j, 0), y, k, p)
		for i := range s.mr {
			e.packed("VFMADD231", free+i, y, acc[j*s.mr+i][p])
		}
	}
}

// addSums sums the accumulators of a tile up and adds them to C: as many columns of a row as fill
// 16 bytes at once, if they are side by side, else one by one.
func (e *emitter) addSums(to reg.GPVirtual, s shape, acc [][]int, free int) {
	per := 16 / e.size
	side := s.nr / per * per // the first columns, whose sums are ordered by row; the others go by column
	var order [][]int
	for i := range s.mr {
		for j := range side {
			order = append(order, acc[j*s.mr+i])
		}
	}
	order = append(order, acc[side*s.mr:]...)
	sums := e.reduce(order, free)
	cs := e.arg("cs")
	c := e.rows(to, e.arg("rs"), s.mr)
	scalar := func(n, i int) {
		x := e.lane(sums[n/per], n%per, free)
		e.scalar("VADD", c.row(i, 0), x, free)
		e.scalar("VMOV", free, c.row(i, 0))
	}
	if side > 0 {
		e.op("CMPQ", cs, e.size)
		e.jump("JNE", "apart%s", s)
		for j := 0; j < side; j += per {
			for i := range s.mr {
				e.quarters("VADDP"+e.letter(), c.row(i, 16*j/per), sums[(i*side+j)/per], free)
				e.quarters("VMOVUPS", free, c.row(i, 16*j/per))
			}
		}
		e.advance(c, side*e.size)
		e.jump("JMP", "others%s", s)
		e.label("apart%s", s)
		for j := range side {
			for i := range s.mr {
				scalar(i*side+j, i)
			}
			e.advance(c, cs)
		}
		e.label("others%s", s)
	}
	for j := side; j < s.nr; j++ {
		for i := range s.mr {
			scalar(j*s.mr+i, i)
		}
		if j+1 < s.nr {
			e.advance(c, cs)
		}
	}
}

// addStrides moves p by n strides.
func (e *emitter) addStrides(p, stride reg.GPVirtual, n int) {
	for s := 8; s > 0; s /= 2 {
		for ; n >= s; n -= s {
			e.LEAQ(scaled(p, stride, s), p)
		}
	}
}
