package main

import "github.com/mmcloughlin/avo/operand"

// addRuns emits the sum of patches into an image. It takes a register at a time and not, as the sums of rows do, 64 bytes,
// of which a mask would leave out the second register of AVX2 for short runs: a store of nothing takes long.
func (e *emitter) addRuns() {
	e.fn("addRuns", "adds patches, which lie one after the other in src as so many rows of run elements, to as many rows of dst. Strides\n"+
		"are in bytes: ldd is from row to row, step from patch to patch.",
		"patches, rows, run int, dst *T, ldd, step int, src *T", "")
	run, dst, src := e.arg("run"), e.arg("dst"), e.arg("src")
	full, rest := e.copyOf(run), e.copyOf(run)
	e.op("SHRQ", log2(e.lanes()), full)
	e.op("ANDQ", e.lanes()-1, rest)
	k := e.mask(rest, rMask)
	add := func(from, to operand.Mem, k *mask) {
		e.load(from, rX, k, 0)
		e.packed("VADD", e.source(to, rTmp, k, 0), e.vec(rX), e.vec(rX))
		e.store(rX, to, k, 0)
	}
	e.label("patch")
	line, rows := e.copyOf(dst), e.arg("rows")
	e.label("row")
	to, count := e.copyOf(line), e.copyOf(full)
	e.op("TESTQ", count, count)
	e.jump("JZ", "rest")
	e.label("register")
	add(memory(src, 0), memory(to, 0), nil)
	e.op("ADDQ", e.width, src)
	e.op("ADDQ", e.width, to)
	e.countDown(count, "register")
	e.label("rest")
	e.op("TESTQ", rest, rest)
	e.jump("JZ", "next")
	add(memory(src, 0), memory(to, 0), &k)
	e.LEAQ(operand.Mem{Base: src, Index: rest, Scale: uint8(e.size)}, src)
	e.label("next")
	e.ADDQ(e.param("ldd"), line)
	e.countDown(rows, "row")
	e.ADDQ(e.param("step"), dst)
	e.countDown(e.param("patches"), "patch")
	e.ret()
}
