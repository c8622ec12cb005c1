package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The scratch register of masks in the elementwise functions, and the one for a scalar factor.
const elemMask, elemFactor = 15, 14

// elementwise emits the functions that make one entry of others.
func (e *emitter) elementwise() {
	for _, f := range []struct{ name, op string }{{"addTo", "VADD"}, {"subTo", "VSUB"}, {"mulTo", "VMUL"},
		{"divTo", "VDIV"}} {
		e.fn(f.name, "makes the n entries of dst of the entries of x and y.", "n int, dst, x, y *T", "")
		s := e.span(e.arg("n"), elemMask)
		dst, x, y := e.arg("dst"), e.arg("x"), e.arg("y")
		e.eachPiece("all", s, func(off reg.Register, k *mask) {
			for p := range e.parts() {
				e.load(indexed(x, off), p, k, p)
				e.packed(f.op, e.source(indexed(y, off), p+2, k, p), e.vec(p), e.vec(p))
				e.store(p, indexed(dst, off), k, p)
			}
		})
		e.ret()
	}
	e.roots()
	e.rectified()
	e.scaled("axpy", "adds a·x to the n entries of dst, each product rounded before.", true)
	e.scaled("scale", "sets the n entries of dst to a·x.", false)
	e.combined()
}

// roots emits the square root.
func (e *emitter) roots() {
	e.fn("sqrt", "sets the n entries of dst to the square roots of the entries of x.", "n int, dst, x *T", "")
	s := e.span(e.arg("n"), elemMask)
	dst, x := e.arg("dst"), e.arg("x")
	e.eachPiece("all", s, func(off reg.Register, k *mask) {
		for p := range e.parts() {
			e.load(indexed(x, off), p, k, p)
			e.packed("VSQRT", e.vec(p), e.vec(p))
			e.store(p, indexed(dst, off), k, p)
		}
	})
	e.ret()
}

// combined emits the sum of two multiples.
func (e *emitter) combined() {
	const second = elemFactor - 1
	e.fn("comb", "sets the n entries of dst to a·x + b·y, each product rounded before.",
		"n int, dst *T, a T, x *T, b T, y *T", "")
	s := e.span(e.arg("n"), elemMask)
	dst, x, y := e.arg("dst"), e.arg("x"), e.arg("y")
	e.broadcast(e.param("a"), elemFactor)
	e.broadcast(e.param("b"), second)
	e.eachPiece("all", s, func(off reg.Register, k *mask) {
		for p := range e.parts() {
			e.packed("VMUL", e.source(indexed(x, off), p, k, p), e.vec(elemFactor), e.vec(p))
			e.packed("VMUL", e.source(indexed(y, off), p+2, k, p), e.vec(second), e.vec(p+2))
			e.packed("VADD", e.vec(p+2), e.vec(p), e.vec(p))
			e.store(p, indexed(dst, off), k, p)
		}
	})
	e.ret()
}

// scaled emits a function of a scalar factor.
func (e *emitter) scaled(name, doc string, add bool) {
	e.fn(name, doc, "n int, dst *T, a T, x *T", "")
	s := e.span(e.arg("n"), elemMask)
	dst, x := e.arg("dst"), e.arg("x")
	e.broadcast(e.param("a"), elemFactor)
	e.eachPiece("all", s, func(off reg.Register, k *mask) {
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

// rectified emits the positive part of numbers, its slope, and products with the slope. The maximum
// of two zeros is the second, and so is that with a NaN: what is added makes a −0 of x 0, as the
// maximum of compiled Go is.
func (e *emitter) rectified() {
	const zero = elemFactor - 1
	e.fn("relu", "sets the n entries of dst to the larger of 0 and the entries of x.", "n int, dst, x *T", "")
	s := e.span(e.arg("n"), elemMask)
	dst, x := e.arg("dst"), e.arg("x")
	e.zero(zero)
	e.eachPiece("all", s, func(off reg.Register, k *mask) {
		for p := range e.parts() {
			e.packed("VMAX", e.source(indexed(x, off), p, k, p), e.vec(zero), e.vec(p))
			e.packed("VADD", e.vec(zero), e.vec(p), e.vec(p))
			e.store(p, indexed(dst, off), k, p)
		}
	})
	e.ret()

	e.fn("step", "sets the n entries of dst to a where the entries of x are positive, else to 0.",
		"n int, dst *T, a T, x *T", "")
	s = e.span(e.arg("n"), elemMask)
	dst, x = e.arg("dst"), e.arg("x")
	e.broadcast(e.param("a"), elemFactor)
	e.zero(zero)
	e.eachPiece("all", s, func(off reg.Register, k *mask) {
		for p := range e.parts() {
			e.load(indexed(x, off), p, k, p)
			e.positive(p, zero, elemFactor)
			e.store(p, indexed(dst, off), k, p)
		}
	})
	e.ret()

	e.fn("gate", "sets the n entries of dst to the entries of y where the entries of x are positive, else to 0.",
		"n int, dst, x, y *T", "")
	s = e.span(e.arg("n"), elemMask)
	dst, x = e.arg("dst"), e.arg("x")
	y := e.arg("y")
	e.zero(zero)
	e.eachPiece("all", s, func(off reg.Register, k *mask) {
		for p := range e.parts() {
			e.load(indexed(x, off), p, k, p)
			e.load(indexed(y, off), p+2, k, p)
			e.positive(p, zero, p+2)
			e.store(p, indexed(dst, off), k, p)
		}
	})
	e.ret()
}

// positive sets register v to the numbers in y where its own are larger than those in zero, else to 0.
func (e *emitter) positive(v, zero, y int) {
	const greater = 30
	if e.wide {
		e.packed("VCMP", greater, e.vec(zero), e.vec(v), reg.K2)
		e.op("VMOVUP"+e.letter()+"_Z", e.vec(y), reg.K2, e.vec(v))
		return
	}
	e.packed("VCMP", greater, e.vec(zero), e.vec(v), e.vec(v))
	e.packed("VAND", e.vec(y), e.vec(v), e.vec(v))
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

// A sumKernel is Σ x, or Σ x·y if there is a y.
type sumKernel struct {
	*emitter
	x, y reg.GPVirtual
	last int // the first register after the accumulators
}

// acc is the accumulator of a chain for one part of 64 bytes.
func (s *sumKernel) acc(chain, part int) int { return chain*s.parts() + part }

// sums emits the dot product and the sum: pieces of 64 bytes go to the chains in turn, those that
// do not fill all chains to the first, and the rest to the second.
func (e *emitter) sums() {
	e.fn("dotSum", "returns Σ x·y over n entries.", "n int, x, y *T", "T")
	n := e.arg("n")
	(&sumKernel{emitter: e, x: e.arg("x"), y: e.arg("y")}).emit(n)
	e.fn("sum", "returns Σ x over n entries.", "n int, x *T", "T")
	n = e.arg("n")
	(&sumKernel{emitter: e, x: e.arg("x")}).emit(n)
}

func (s *sumKernel) emit(n reg.GPVirtual) {
	pieces := s.span(n, elemMask)
	s.last = chains * s.parts()
	for i := range s.last {
		s.zero(i)
	}
	rounds := s.copyOf(pieces.full)
	s.op("SHRQ", log2(chains), rounds)
	s.op("ANDQ", chains-1, pieces.full)
	s.op("TESTQ", rounds, rounds)
	s.jump("JZ", "ones")
	s.label("round")
	for c := range chains {
		s.add(c, nil, func(p reg.Register) operand.Mem { return memory(p, 64*c) })
	}
	s.op("ADDQ", 64*chains, s.x)
	if s.y != nil {
		s.op("ADDQ", 64*chains, s.y)
	}
	s.countDown(rounds, "round")
	s.label("ones")
	s.eachPiece("one", pieces, func(off reg.Register, k *mask) {
		c := 0
		if k != nil {
			c = 1
		}
		s.add(c, k, func(p reg.Register) operand.Mem { return indexed(p, off) })
	})
	s.total()
}

// add adds one piece, found from the pointers by where, to a chain.
func (s *sumKernel) add(chain int, k *mask, where func(p reg.Register) operand.Mem) {
	for p := range s.parts() {
		a := s.vec(s.acc(chain, p))
		if s.y == nil {
			s.packed("VADD", s.source(where(s.x), s.last, k, p), a, a)
			continue
		}
		s.load(where(s.x), s.last, k, p)
		if k == nil {
			s.packed("VFMADD231", where(s.y).Offset(p*s.width), s.vec(s.last), a)
		} else {
			s.load(where(s.y), s.last+1, k, p)
			s.packed("VFMADD231", s.vec(s.last), s.vec(s.last+1), a)
		}
	}
}

// total adds the chains up and returns the sum.
func (s *sumKernel) total() {
	for step := 1; step < chains; step *= 2 {
		for c := 0; c < chains; c += 2 * step {
			for p := range s.parts() {
				a := s.vec(s.acc(c, p))
				s.packed("VADD", s.vec(s.acc(c+step, p)), a, a)
			}
		}
	}
	first := []int{s.acc(0, 0), s.acc(0, 1)}[:s.parts()]
	sum := s.reduce([][]int{first}, s.last)
	s.Store(s.quarter(sum[0]), s.ReturnIndex(0))
	s.ret()
}

// conversions emit copies from and to float64.
func (e *emitter) conversions() {
	const wide = 8
	e.fn("fromFloat64", "sets the n entries of dst to the entries of src, rounded.", "n int, dst *T, src *float64", "")
	e.converted(wide, e.size, e.lanes64(), "VCVTPD2PS", "VCVTSD2SS")
	e.fn("toFloat64", "sets the n entries of dst to the entries of src.", "n int, dst *float64, src *T", "")
	e.converted(e.size, wide, e.lanes64(), "VCVTPS2PD", "VCVTSS2SD")
}

// lanes64 is the float64 in a register.
func (e *emitter) lanes64() int { return e.width / 8 }

// converted emits a loop over a number of numbers at a time, and one over the rest. Numbers of one
// size are only copied.
func (e *emitter) converted(from, to, lanes int, vector, scalar string) {
	n, dst, src := e.arg("n"), e.arg("dst"), e.arg("src")
	e.op("SUBQ", lanes, n)
	e.jump("JLT", "rest")
	e.label("loop")
	switch {
	case from == to:
		e.op("VMOVUPD", memory(src, 0), e.vec(0))
		e.op("VMOVUPD", e.vec(0), memory(dst, 0))
	case from > to && e.wide:
		e.op(vector, memory(src, 0), e.half(0))
		e.op("VMOVUPS", e.half(0), memory(dst, 0))
	case from > to:
		e.op(vector+"Y", memory(src, 0), e.quarter(0))
		e.op("VMOVUPS", e.quarter(0), memory(dst, 0))
	default:
		e.op(vector, memory(src, 0), e.vec(0))
		e.op("VMOVUPD", e.vec(0), memory(dst, 0))
	}
	e.op("ADDQ", lanes*from, src)
	e.op("ADDQ", lanes*to, dst)
	e.op("SUBQ", lanes, n)
	e.jump("JGE", "loop")
	e.label("rest")
	e.op("ADDQ", lanes, n)
	e.jump("JZ", "done")
	e.zero(1)
	e.label("one")
	switch {
	case from == to:
		e.op("VMOVSD", memory(src, 0), e.quarter(0))
		e.op("VMOVSD", e.quarter(0), memory(dst, 0))
	case from > to:
		e.op(scalar, memory(src, 0), e.quarter(1), e.quarter(0))
		e.op("VMOVSS", e.quarter(0), memory(dst, 0))
	default:
		e.op(scalar, memory(src, 0), e.quarter(1), e.quarter(0))
		e.op("VMOVSD", e.quarter(0), memory(dst, 0))
	}
	e.op("ADDQ", from, src)
	e.op("ADDQ", to, dst)
	e.countDown(n, "one")
	e.label("done")
	e.ret()
}

// fromBytes emits the conversion of bytes.
func (e *emitter) fromBytes() {
	e.fn("fromBytes", "sets the n entries of dst to scale·src.", "n int, dst *T, src *byte, scale T", "")
	n, dst, src := e.arg("n"), e.arg("dst"), e.arg("src")
	e.broadcast(e.param("scale"), elemFactor)
	e.op("SUBQ", e.lanes(), n)
	e.jump("JLT", "rest")
	e.label("loop")
	e.loadBytes(memory(src, 0), 0)
	e.packed("VMUL", e.vec(elemFactor), e.vec(0), e.vec(0))
	e.store(0, memory(dst, 0), nil, 0)
	e.op("ADDQ", e.lanes(), src)
	e.op("ADDQ", e.width, dst)
	e.op("SUBQ", e.lanes(), n)
	e.jump("JGE", "loop")
	e.label("rest")
	e.op("ADDQ", e.lanes(), n)
	e.jump("JZ", "done")
	e.zero(1)
	one := e.GP32()
	e.label("one")
	e.op("MOVBLZX", memory(src, 0), one)
	e.op("VCVTSI2S"+e.letter()+"L", one, e.quarter(1), e.quarter(0))
	e.scalar("VMUL", e.quarter(elemFactor), e.quarter(0), e.quarter(0))
	e.scalar("VMOV", e.quarter(0), memory(dst, 0))
	e.INCQ(src)
	e.op("ADDQ", e.size, dst)
	e.countDown(n, "one")
	e.label("done")
	e.ret()
}
