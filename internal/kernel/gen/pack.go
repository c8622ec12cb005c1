package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
)

// packRows emits a copy of short rows.
func (e *emitter) packRows() {
	e.fn("packRows", "copies rows of up to a register, and asks for the next ones. Strides are in bytes.",
		"cols, rows int, dst *T, ldd int, src *T, lds int", "")
	k := e.mask(e.arg("cols"), 15)
	rows, dst, ldd, src, lds := e.arg("rows"), e.arg("dst"), e.arg("ldd"), e.arg("src"), e.arg("lds")
	e.label("row")
	e.load(at(src), 0, &k, 0)
	e.PREFETCHT0(scaled(src, lds, 2))
	e.store(0, at(dst), &k, 0)
	e.ADDQ(lds, src)
	e.ADDQ(ldd, dst)
	e.countDown(rows, "row")
	e.ret()
}

// packColumns emits the transposition of a few rows, of as many as fill 32 bytes. The columns of 16
// bytes are taken from pairs of rows: whole registers would be of more rows, of which those whose
// distance is a power of two evict each other.
func (e *emitter) packColumns() {
	e.fn("packColumns",
		"sets dst to the first columns, in groups of 16 bytes, of as many rows as fill 32 bytes, each column\n"+
			"a row of dst, and asks for the numbers that lie ahead bytes further. Strides are in bytes.",
		"groups int, dst *T, ldd int, src *T, lds, ahead int", "")
	groups, ldd, ahead := e.arg("groups"), e.arg("ldd"), e.arg("ahead")
	per := 16 / e.size
	src, dst := e.rows(e.arg("src"), e.arg("lds"), 2*per), e.rows(e.arg("dst"), ldd, per)
	next := e.rows(e.arg("src"), e.arg("lds"), 2*per)
	e.advance(next, ahead)
	e.label("group")
	e.op("TESTQ", operand.U32(3), groups)
	e.jump("JNZ", "move")
	for r := range 2 * per {
		e.PREFETCHT0(next.row(r, 0))
	}
	e.advance(next, 64)
	e.label("move")
	for r := range per {
		e.quarters("VMOVUPS", src.row(r, 0), r)
		e.halves("VINSERTF128", immediate(1), src.row(r+per, 0), r, r)
	}
	columns := []int{2, 3}
	if per == 4 {
		e.interleave("VUNPCK%sPS", 0, 1, 4, 5)
		e.interleave("VUNPCK%sPS", 2, 3, 6, 7)
		e.interleave("VUNPCK%sPD", 4, 6, 0, 1)
		e.interleave("VUNPCK%sPD", 5, 7, 2, 3)
		columns = []int{0, 1, 2, 3}
	} else {
		e.interleave("VUNPCK%sPD", 0, 1, 2, 3)
	}
	for c, v := range columns {
		e.halves("VMOVUPS", v, dst.row(c, 0))
	}
	e.advance(src, 16)
	for range per {
		e.advance(dst, ldd)
	}
	e.countDown(groups, "group")
	e.ret()
}

// interleave leaves the elements of x and y by turns in low and high, the elements of the lower
// halves of each 16 bytes in low.
func (e *emitter) interleave(unpack string, x, y, low, high int) {
	e.halves(fmt.Sprintf(unpack, "L"), y, x, low)
	e.halves(fmt.Sprintf(unpack, "H"), y, x, high)
}
