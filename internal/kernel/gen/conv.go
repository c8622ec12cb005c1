package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// addRuns emits the sum of patches into an image. It takes a register at a time and not, as the
// sums of rows do, 64 bytes, of which a mask would leave out the second register of AVX2 for short
// runs: a store of nothing takes long.
func (e *emitter) addRuns() {
	e.fn("addRuns",
		"adds patches, which lie one after the other in src as rows of run elements, to as many rows of dst. Strides\n"+
			"are in bytes: ldd is from row to row, step from patch to patch.",
		"patches, rows, run int, dst *T, ldd, step int, src *T", "")
	run, dst, src := e.arg("run"), e.arg("dst"), e.arg("src")
	full, rest := e.divided(run, e.lanes())
	k := e.mask(rest, rMask)
	add := func(from, to operand.Mem, k *mask) {
		e.load(from, rX, k, 0)
		e.packed("VADD", e.source(to, rTmp, k, 0), rX, rX)
		e.store(rX, to, k, 0)
	}
	e.label("patch")
	line, rows := e.copyOf(dst), e.arg("rows")
	e.label("row")
	to, count := e.copyOf(line), e.copyOf(full)
	e.jumpIfZero(count, "rest")
	e.label("register")
	add(at(src), at(to), nil)
	e.op("ADDQ", e.width, src)
	e.op("ADDQ", e.width, to)
	e.countDown(count, "register")
	e.label("rest")
	e.jumpIfZero(rest, "next")
	add(at(src), at(to), &k)
	e.LEAQ(scaled(src, rest, e.size), src)
	e.label("next")
	e.ADDQ(e.param("ldd"), line)
	e.countDown(rows, "row")
	e.ADDQ(e.param("step"), dst)
	e.countDown(e.param("patches"), "patch")
	e.ret()
}

// tapShapes are the lines of an image and the taps on each that there is code for: the accumulators
// of all have to fit in the registers, beside a row of B and, where an instruction cannot do that,
// a broadcast.
func (e *emitter) tapShapes() (s []shape) {
	const lines, taps = 5, 7
	most := 28
	if !e.wide {
		most = 12
	}
	for h := 1; h <= lines; h++ {
		for t := 2; t <= min(taps, most/h); t++ {
			s = append(s, shape{h, t})
		}
	}
	return s
}

// tapSums emits sums of outer products for runs of a few taps, too few to keep the processor busy
// line by line.
func (e *emitter) tapSums() {
	e.fn("tapSums",
		"adds to C, of lines·run rows and up to a register of columns, the outer products of patches and the "+
			"rows of B,\n"+
			"over rows of k patches. Strides are in bytes: line is from line to line of the image, step from patch to "+
			"patch, and\n"+
			"jump what lies between two rows of patches.",
		"lines, run, cols, k, rows int, c *T, ldc int, a *T, line, step, jump int, b *T, ldb int", "")
	k := e.mask(e.arg("cols"), 15)
	c, ldc, a, line := e.arg("c"), e.arg("ldc"), e.arg("a"), e.arg("line")
	step, b, ldb := e.arg("step"), e.arg("b"), e.arg("ldb")
	e.eachWidth(e.arg("cols"), func() {
		e.choice("taps", e.tapShapes(), e.arg("lines"), e.arg("run"), func(s shape) {
			e.label("taps%s", s)
			e.eachSum(s, c, ldc, func(m operand.Mem, v int) { e.load(m, v, &k, 0) })
			image := e.rows(a, line, s.mr)
			e.label("row%s", s)
			count := e.arg("k")
			e.label("patch%s", s)
			e.patch(s, image, at(b), &k)
			e.advance(image, step)
			e.ADDQ(ldb, b)
			e.countDown(count, "patch%s", s)
			e.advance(image, e.param("jump"))
			e.countDown(e.param("rows"), "row%s", s)
			e.eachSum(s, c, ldc, func(m operand.Mem, v int) { e.store(v, m, &k, 0) })
			e.ret()
		})
	})
}

// eachSum emits f for each accumulator, line by line, and the row of C that belongs to it.
func (e *emitter) eachSum(s shape, c, ldc reg.GPVirtual, f func(m operand.Mem, v int)) {
	row := e.copyOf(c)
	for v := range s.mr * s.nr {
		f(at(row), v)
		e.ADDQ(ldc, row)
	}
}

// patch multiplies the taps of a patch with a row of B.
func (e *emitter) patch(s shape, image rows, b operand.Mem, k *mask) {
	x := s.mr * s.nr
	e.load(b, x, k, 0)
	for v := range x {
		tap := image.row(v/s.nr, v%s.nr*e.size)
		if e.wide {
			e.vectors("VFMADD231P"+e.letter()+"_BCST", tap, x, v)
		} else {
			e.broadcast(tap, x+1)
			e.packed("VFMADD231", x+1, x, v)
		}
	}
}
