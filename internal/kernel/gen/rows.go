package main

import (
	"math"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A span is a number of elements in pieces of 64 bytes: whole ones, then a masked one.
type span struct {
	full, rest reg.GPVirtual
	k          mask
}

// span cuts n elements; tmp is a vector register that stays free for masks.
func (e *emitter) span(n reg.GPVirtual, tmp int) span {
	full, rest := e.divided(n, e.block())
	return span{full, rest, e.mask(rest, tmp)}
}

// eachPiece emits a loop over the pieces. The body gets the register of the offset in bytes, and a
// mask for the last piece. The labels start with name.
func (e *emitter) eachPiece(name string, s span, body func(off reg.Register, k *mask)) {
	off, count := e.GP64(), e.copyOf(s.full)
	e.XORQ(off, off)
	e.jumpIfZero(count, "%sRest", name)
	e.label("%sLoop", name)
	body(off, nil)
	e.op("ADDQ", 64, off)
	e.countDown(count, "%sLoop", name)
	e.label("%sRest", name)
	e.jumpIfZero(s.rest, "%sDone", name)
	body(off, &s.k)
	e.label("%sDone", name)
}

// indexed is the memory off bytes behind base.
func indexed(base, off reg.Register) operand.Mem {
	return scaled(base, off, 1)
}

// Registers of the row functions: by part, and what stays over a row.
const (
	rAcc, rX, rTmp, rWhole, rInf, rMask = 0, 2, 4, 5, 6, 7
)

// rowLoop emits a function over the rows of a matrix without gaps; body emits one row, whose
// pointers move on.
func (e *emitter) rowLoop(body func(s span), pointers ...reg.GPVirtual) {
	count, cols := e.arg("rows"), e.arg("cols")
	s := e.span(cols, rMask)
	bytes := e.copyOf(cols)
	e.op("SHLQ", log2(e.size), bytes)
	e.label("row")
	body(s)
	for _, p := range pointers {
		e.ADDQ(bytes, p)
	}
	e.countDown(count, "row")
	e.ret()
}

// rowShift emits dst = src less the row's maximum.
func (e *emitter) rowShift() {
	e.fn("rowShift", "subtracts from every row its maximum, NaN left out of account, and stores the maximum in\n"+
		"peak unless that is nil.", "rows, cols int, dst, src, peak *T", "")
	dst, src, peak := e.arg("dst"), e.arg("src"), e.arg("peak")
	bits := e.GP64()
	if e.size == 4 {
		e.MOVL(operand.U32(math.Float32bits(float32(math.Inf(-1)))), bits.As32())
		e.quarters("VMOVD", bits.As32(), rInf)
	} else {
		e.MOVQ(operand.U64(math.Float64bits(math.Inf(-1))), bits)
		e.quarters("VMOVQ", bits, rInf)
	}
	e.broadcast(e.quarter(rInf), rInf)
	e.rowLoop(func(s span) {
		e.vectors("VMOVAPS", rInf, rAcc)
		e.eachPiece("max", s, func(off reg.Register, k *mask) {
			for p := range e.parts() {
				e.loadOr(indexed(src, off), rX, k, p)
				// A NaN among the first of the two compared loses.
				e.packed("VMAX", rAcc, rX, rAcc)
			}
		})
		e.rowMaximum()
		e.jumpIfZero(peak, "subtract")
		e.scalar("VMOV", rAcc, at(peak))
		e.op("ADDQ", e.size, peak)
		e.label("subtract")
		e.withRow("sub", "VSUB", dst, src, s)
	}, dst, src)
}

// withRow emits an instruction on each entry of a row and the number in the lowest place of rAcc.
func (e *emitter) withRow(name, op string, dst, src reg.Register, s span) {
	e.broadcast(e.quarter(rAcc), rWhole)
	e.eachPiece(name, s, func(off reg.Register, k *mask) {
		for p := range e.parts() {
			e.load(indexed(src, off), rX+p, k, p)
			e.packed(op, rWhole, rX+p, rX+p)
		}
		e.storePieces(name, indexed(dst, off), s, k)
	})
}

// loadOr loads like load, with -Inf in place of the elements that are masked.
func (e *emitter) loadOr(m operand.Mem, v int, k *mask, p int) {
	if k == nil || !e.wide {
		e.load(m, v, k, p)
	}
	switch {
	case k == nil:
	case e.wide:
		e.vectors("VMOVAPS", rInf, v)
		e.packed("VMOVU", m.Offset(p*e.width), k.k, v)
	default:
		e.packed("VBLENDV", k.tmp, v, rInf, v)
	}
}

// storePieces stores the 64 bytes of rX and the register after it, or of the last piece of a row
// what there is of it, in powers of two: a masked store would hold up the load of the next row,
// which begins among the bytes that the mask leaves out.
func (e *emitter) storePieces(name string, m operand.Mem, s span, k *mask) {
	if k == nil {
		for p := range e.parts() {
			e.store(rX+p, m, nil, p)
		}
		return
	}
	to := e.GP64()
	e.LEAQ(m, to)
	for bytes := 32; bytes >= e.size; bytes /= 2 {
		e.op("TESTQ", operand.U32(bytes/e.size), s.rest)
		e.jump("JZ", "%sSkip%d", name, bytes)
		switch {
		case bytes == 32:
			e.halves("VMOVUPS", rX, at(to))
			if e.wide {
				e.vectors("VEXTRACTF64X4", immediate(1), rX, e.half(rX))
			} else {
				e.halves("VMOVAPS", rX+1, rX)
			}
		case bytes == 16:
			e.quarters("VMOVUPS", rX, at(to))
			e.upperHalf(rX, rX)
		case bytes == 8:
			e.quarters("VMOVSD", rX, at(to))
			e.quarters("VPERMILPD", immediate(1), rX, rX)
		default:
			e.quarters("VMOVSS", rX, at(to))
		}
		if bytes > e.size {
			e.op("ADDQ", bytes, to)
		}
		e.label("%sSkip%d", name, bytes)
	}
}

// rowMaximum leaves the greatest element of rAcc in its lowest place.
func (e *emitter) rowMaximum() {
	if e.wide {
		e.vectors("VEXTRACTF64X4", immediate(1), rAcc, e.half(rTmp))
		e.halves("VMAXP"+e.letter(), rTmp, rAcc, rAcc)
	}
	e.upperHalf(rAcc, rTmp)
	e.quarters("VMAXP"+e.letter(), rTmp, rAcc, rAcc)
	swaps := []int{0b01_00_11_10, 0b00_00_00_01}
	if e.size == 8 {
		swaps = []int{0b01}
	}
	for _, s := range swaps {
		e.quarters("VPERMILP"+e.letter(), immediate(s), rAcc, rTmp)
		e.quarters("VMAXP"+e.letter(), rTmp, rAcc, rAcc)
	}
}

// sumRow leaves the sum of the row at p in the lowest place of rAcc.
func (e *emitter) sumRow(p reg.Register, s span) {
	acc := []int{rAcc, rAcc + 1}[:e.parts()]
	e.zero(acc...)
	e.eachPiece("sum", s, func(off reg.Register, k *mask) {
		for part, a := range acc {
			e.packed("VADD", e.source(indexed(p, off), rX, k, part), a, a)
		}
	})
	e.reduce([][]int{acc}, rTmp)
}

// rowSum emits dst = the sums of the rows.
func (e *emitter) rowSum() {
	e.fn("rowSum", "sets dst to the sums of the rows.", "rows, cols int, dst, src *T", "")
	dst, src := e.arg("dst"), e.arg("src")
	e.rowLoop(func(s span) {
		e.sumRow(src, s)
		e.scalar("VMOV", rAcc, at(dst))
		e.op("ADDQ", e.size, dst)
	}, src)
}

// rowNormalize emits the division of each row by its sum.
func (e *emitter) rowNormalize() {
	e.fn("rowNormalize", "divides every row by its sum.", "rows, cols int, dst *T", "")
	dst := e.arg("dst")
	e.rowLoop(func(s span) {
		e.sumRow(dst, s)
		e.withRow("div", "VDIV", dst, dst, s)
	}, dst)
}

// rowNumbers emits the sums and the products of each row and a number.
func (e *emitter) rowNumbers() {
	for _, f := range []struct{ name, doc, op string }{
		{"rowAdd", "sets every row of dst to the row of src plus the number of u that belongs to it.", "VADD"},
		{"rowMul", "sets every row of dst to the row of src times the number of u that belongs to it.", "VMUL"},
	} {
		e.fn(f.name, f.doc, "rows, cols int, dst, src, u *T", "")
		dst, src, u := e.arg("dst"), e.arg("src"), e.arg("u")
		e.rowLoop(func(s span) {
			e.scalar("VMOV", at(u), rAcc)
			e.op("ADDQ", e.size, u)
			e.withRow("entry", f.op, dst, src, s)
		}, dst, src)
	}
}
