package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The scratch register of masks in the elementwise functions, and the one for a scalar factor.
const elemMask, elemFactor = 15, 14

// elementwise emits the functions that make one entry of others.
func (e *emitter) elementwise() {
	for _, f := range []struct{ name, op string }{{"addTo", "VADD"}, {"subTo", "VSUB"}, {"mulTo", "VMUL"}} {
		e.fn(f.name, "makes the n entries of dst of those of x and y.", "func(n int, dst, x, y *%[1]s)")
		s := e.span(e.arg("n"), elemMask)
		dst, x, y := e.arg("dst"), e.arg("x"), e.arg("y")
		e.each("all", s, func(off reg.Register, k *mask) {
			for p := range e.parts() {
				e.load(indexed(x, off), p, k, p)
				if k == nil {
					e.packed(f.op, indexed(y, off).Offset(p*e.width()), e.vec(p), e.vec(p))
				} else {
					e.load(indexed(y, off), p+2, k, p)
					e.packed(f.op, e.vec(p+2), e.vec(p), e.vec(p))
				}
				e.store(p, indexed(dst, off), k, p)
			}
		})
		e.ret()
	}
	e.scaled("axpy", "adds a·x to the n entries of dst, each product rounded before.", true)
	e.scaled("scale", "sets the n entries of dst to a·x.", false)
}

// scaled emits a function of a scalar factor.
func (e *emitter) scaled(name, doc string, add bool) {
	e.fn(name, doc, "func(n int, dst *%[1]s, a %[1]s, x *%[1]s)")
	s := e.span(e.arg("n"), elemMask)
	dst, x := e.arg("dst"), e.arg("x")
	e.broadcast(e.param("a"), elemFactor)
	e.each("all", s, func(off reg.Register, k *mask) {
		for p := range e.parts() {
			e.load(indexed(x, off), p, k, p)
			e.packed("VMUL", e.vec(elemFactor), e.vec(p), e.vec(p))
			if add {
				e.load(indexed(dst, off), p+2, k, p)
				e.packed("VADD", e.vec(p+2), e.vec(p), e.vec(p))
			}
			e.store(p, indexed(dst, off), k, p)
		}
	})
	e.ret()
}

// param is the memory of a parameter.
func (e *emitter) param(name string) operand.Mem {
	p, err := e.Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return p.Addr
}

// chains is how many sums run side by side in a long sum.
const chains = 4

// sums emits the dot product and the sum: pieces of 64 bytes go to four accumulators in turn, what
// does not fill four of them to the first, and the rest to the second.
func (e *emitter) sums() {
	for _, two := range []bool{true, false} {
		if two {
			e.fn("dotSum", "returns Σ x·y over n entries.", "func(n int, x, y *%[1]s) %[1]s")
		} else {
			e.fn("sum", "returns Σ x over n entries.", "func(n int, x *%[1]s) %[1]s")
		}
		s := e.span(e.arg("n"), elemMask)
		x := e.arg("x")
		y := x
		if two {
			y = e.arg("y")
		}
		acc := func(c, p int) int { return c*e.parts() + p }
		last := chains * e.parts()
		for i := range last {
			e.zero(i)
		}
		// add adds one piece to chain c.
		add := func(mx, my operand.Mem, c int, k *mask) {
			for p := range e.parts() {
				a := e.vec(acc(c, p))
				switch {
				case k == nil && two:
					e.load(mx, last, nil, p)
					e.packed("VFMADD231", my.Offset(p*e.width()), e.vec(last), a)
				case k == nil:
					e.packed("VADD", mx.Offset(p*e.width()), a, a)
				case two:
					e.load(mx, last, k, p)
					e.load(my, last+1, k, p)
					e.packed("VFMADD231", e.vec(last), e.vec(last+1), a)
				default:
					e.load(mx, last, k, p)
					e.packed("VADD", e.vec(last), a, a)
				}
			}
		}
		fours := e.copyOf(s.whole)
		e.op("SHRQ", log2(chains), fours)
		e.op("ANDQ", chains-1, s.whole)
		e.op("TESTQ", fours, fours)
		e.jump("JZ", "ones")
		e.label("four")
		for c := range chains {
			add(at(x, 64*c), at(y, 64*c), c, nil)
		}
		e.op("ADDQ", 64*chains, x)
		if two {
			e.op("ADDQ", 64*chains, y)
		}
		e.DECQ(fours)
		e.jump("JNZ", "four")
		e.label("ones")
		e.each("one", s, func(off reg.Register, k *mask) {
			c := 0
			if k != nil {
				c = 1
			}
			add(indexed(x, off), indexed(y, off), c, k)
		})
		for step := 1; step < chains; step *= 2 {
			for c := 0; c < chains; c += 2 * step {
				for p := range e.parts() {
					a := e.vec(acc(c, p))
					e.packed("VADD", e.vec(acc(c+step, p)), a, a)
				}
			}
		}
		first := []int{acc(0, 0), acc(0, e.parts()-1)}[:e.parts()]
		sum := e.reduce([][]int{first}, last)
		e.Store(e.quarter(sum[0]), e.ReturnIndex(0))
		e.ret()
	}
}

// fromBytes emits the conversion of bytes.
func (e *emitter) fromBytes() {
	e.fn("fromBytes", "sets the n entries of dst to scale·src.", "func(n int, dst *%[1]s, src *byte, scale %[1]s)")
	n, dst, src := e.arg("n"), e.arg("dst"), e.arg("src")
	e.broadcast(e.param("scale"), elemFactor)
	e.op("SUBQ", e.lanes(), n)
	e.jump("JLT", "rest")
	e.label("loop")
	if e.size == 4 {
		e.op("VPMOVZXBD", at(src, 0), e.vec(0))
		e.op("VCVTDQ2PS", e.vec(0), e.vec(0))
	} else {
		ints := e.half(0)
		if !e.wide {
			ints = e.quarter(0)
		}
		e.op("VPMOVZXBD", at(src, 0), ints)
		e.op("VCVTDQ2PD", ints, e.vec(0))
	}
	e.packed("VMUL", e.vec(elemFactor), e.vec(0), e.vec(0))
	e.store(0, at(dst, 0), nil, 0)
	e.op("ADDQ", e.lanes(), src)
	e.op("ADDQ", e.width(), dst)
	e.op("SUBQ", e.lanes(), n)
	e.jump("JGE", "loop")
	e.label("rest")
	e.op("ADDQ", e.lanes(), n)
	e.jump("JZ", "done")
	e.zero(1)
	one := e.GP32()
	e.label("one")
	e.op("MOVBLZX", at(src, 0), one)
	e.op("VCVTSI2S"+map[int]string{4: "S", 8: "D"}[e.size]+"L", one, e.quarter(1), e.quarter(0))
	e.scalar("VMUL", e.quarter(elemFactor), e.quarter(0), e.quarter(0))
	e.scalar("VMOV", e.quarter(0), at(dst, 0))
	e.INCQ(src)
	e.op("ADDQ", e.size, dst)
	e.DECQ(n)
	e.jump("JNZ", "one")
	e.label("done")
	e.ret()
}
