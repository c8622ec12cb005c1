package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A dotKernel multiplies tiles of rows with rows: C[i,j] += Σ_p A[i,p]·B[j,p]. Each entry has one
// accumulator of 64 bytes, so its bits depend on its two rows alone.
type dotKernel struct {
	*emitter
	c, a, lda, b, ldb, groups, tail reg.GPVirtual
}

// A dotShape is the rows of A and of B in one tile.
type dotShape struct{ mr, nr int }

// dotShapes are the tiles that there is code for: the accumulators, the rows of A and one row of B
// have to fit in the registers.
func (e *emitter) dotShapes() (s []dotShape) {
	mr, nr, tall := 4, 5, 8
	if !e.wide {
		mr, nr, tall = 2, 3, 4
	}
	s = append(s, dotShape{tall, 1})
	for _, m := range []int{mr, 1} {
		for n := nr; n > 0; n-- {
			s = append(s, dotShape{m, n})
		}
	}
	return s
}

// dot emits the kernel.
func (e *emitter) dot() {
	e.fn("dot", "adds to C, of groups·mr rows and nr columns, the products of the rows of A and B,\n"+
		"each of length k. Strides are in bytes; rs and cs are those of C between rows and columns.",
		"mr, nr, groups, k int, c *T, rs, cs int, a *T, lda int, b *T, ldb int", "")
	d := &dotKernel{emitter: e}
	k := e.arg("k")
	d.tail = e.GP64()
	e.MOVQ(k, d.tail)
	e.op("ANDQ", e.block()-1, d.tail)
	d.c, d.a, d.lda = e.arg("c"), e.arg("a"), e.arg("lda")
	d.b, d.ldb, d.groups = e.arg("b"), e.arg("ldb"), e.arg("groups")
	mr, nr := e.arg("mr"), e.arg("nr")
	for _, s := range e.dotShapes() {
		e.op("CMPQ", mr, s.mr)
		e.jump("JNE", "not%dx%d", s.mr, s.nr)
		e.op("CMPQ", nr, s.nr)
		e.jump("JEQ", "tile%dx%d", s.mr, s.nr)
		e.label("not%dx%d", s.mr, s.nr)
	}
	e.ret()
	for _, s := range e.dotShapes() {
		d.tile(s)
	}
}

// tile emits the loop over the groups of one shape.
func (d *dotKernel) tile(s dotShape) {
	acc := make([][]int, s.mr*s.nr) // by column, then row
	next := 0
	for i := range acc {
		for range d.parts() {
			acc[i] = append(acc[i], next)
			next++
		}
	}
	d.label("tile%dx%d", s.mr, s.nr)
	for _, a := range acc {
		d.zero(a...)
	}
	a, b := d.rows(d.a, d.lda, s.mr), d.rows(d.b, d.ldb, s.nr)
	count := d.arg("k")
	d.op("SHRQ", log2(d.block()), count)
	d.jump("JZ", "tail%dx%d", s.mr, s.nr)
	d.label("loop%dx%d", s.mr, s.nr)
	d.step(s, acc, a, b, next, nil)
	d.advance(a, 64)
	d.advance(b, 64)
	d.DECQ(count)
	d.jump("JNZ", "loop%dx%d", s.mr, s.nr)
	d.label("tail%dx%d", s.mr, s.nr)
	d.op("TESTQ", d.tail, d.tail)
	d.jump("JZ", "sum%dx%d", s.mr, s.nr)
	k := d.mask(d.tail, 15)
	d.step(s, acc, a, b, next, &k)
	d.label("sum%dx%d", s.mr, s.nr)
	d.addSums(d.c, s, acc, next)
	d.next(d.a, d.lda, s.mr)
	d.next(d.c, d.arg("rs"), s.mr)
	d.DECQ(d.groups)
	d.jump("JNZ", "tile%dx%d", s.mr, s.nr)
	d.ret()
}

// step adds 64 bytes of every row, or what k masks of them. free is the first free register.
func (d *dotKernel) step(s dotShape, acc [][]int, a, b rows, free int, k *mask) {
	for p := range d.parts() {
		if s.nr == 1 && k == nil {
			// Each row of A is used once: from memory.
			d.load(b.row(0, 0), free, nil, p)
			for i := range s.mr {
				d.packed("VFMADD231", a.row(i, p*d.width()), d.vec(free), d.vec(acc[i][p]))
			}
			continue
		}
		if s.nr == 1 {
			d.load(b.row(0, 0), free, k, p)
			for i := range s.mr {
				d.load(a.row(i, 0), free+1, k, p)
				d.packed("VFMADD231", d.vec(free+1), d.vec(free), d.vec(acc[i][p]))
			}
			continue
		}
		for i := range s.mr {
			d.load(a.row(i, 0), free+i, k, p)
		}
		for j := range s.nr {
			y := free + s.mr
			if d.wide {
				y += j % 2
			}
			d.load(b.row(j, 0), y, k, p)
			for i := range s.mr {
				d.packed("VFMADD231", d.vec(free+i), d.vec(y), d.vec(acc[j*s.mr+i][p]))
			}
		}
	}
}

// addSums sums the accumulators of a tile up and adds them to C.
func (e *emitter) addSums(to reg.GPVirtual, s dotShape, acc [][]int, free int) {
	sums := e.reduce(acc, free)
	cs := e.arg("cs")
	c := e.rows(to, e.arg("rs"), s.mr)
	per := 16 / e.size
	for n := range acc {
		i := n % s.mr
		if n > 0 && i == 0 {
			e.advance(c, cs)
		}
		x := e.lane(sums[n/per], n%per, free)
		e.scalar("VADD", c.row(i, 0), x, e.quarter(free))
		e.scalar("VMOV", e.quarter(free), c.row(i, 0))
	}
}

// next moves p by n strides.
func (e *emitter) next(p, stride reg.GPVirtual, n int) {
	for ; n >= 8; n -= 8 {
		e.LEAQ(operand.Mem{Base: p, Index: stride, Scale: 8}, p)
	}
	for _, s := range []int{4, 2, 1} {
		if n&s != 0 {
			e.LEAQ(operand.Mem{Base: p, Index: stride, Scale: uint8(s)}, p)
		}
	}
}
