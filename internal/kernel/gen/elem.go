package main

import (
	"strings"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The scratch register of masks in the elementwise functions, and the one for a scalar factor.
const elemMask, elemFactor = 15, 14

// An entries is 64 bytes of the entries of arrays, or a register's part p of them.
type entries struct {
	*emitter
	arrays map[string]reg.GPVirtual
	off    reg.Register
	k      *mask
	p      int
}

// load loads entries of an array into register v, and source is them as an operand, in register v
// if they have to be loaded.
func (a entries) load(array string, v int) {
	a.emitter.load(indexed(a.arrays[array], a.off), v, a.k, a.p)
}
func (a entries) source(array string, v int) operand.Op {
	return a.emitter.source(indexed(a.arrays[array], a.off), v, a.k, a.p)
}

// entrywise emits a function that computes each entry of dst from one of x, and of y if params has
// it: in plain Go it is plain. before is emitted once. entry emits the computation of part p of a
// piece into vector register v, which is p; it may use register w, which is p+2.
func (e *emitter) entrywise(name, doc, params, plain string, before func(), entry func(a entries, v, w int)) {
	e.fn(name, doc, "n int, "+params, "")
	e.twin(plain)
	s := e.span(e.arg("n"), elemMask)
	arrays := map[string]reg.GPVirtual{"dst": e.arg("dst"), "x": e.arg("x")}
	if strings.Contains(params, "y") {
		arrays["y"] = e.arg("y")
	}
	before()
	e.eachPiece("all", s, func(off reg.Register, k *mask) {
		for p := range e.parts() {
			entry(entries{e, arrays, off, k, p}, p, p+2)
			e.store(p, indexed(arrays["dst"], off), k, p)
		}
	})
	e.ret()
}

// elementwise emits the functions that make one entry of others. The maximum of two zeros is the
// second, and so is that with a NaN: what ReLU adds makes a −0 of x 0, as the maximum of compiled
// Go is.
func (e *emitter) elementwise() {
	const second, zero = elemFactor - 1, elemFactor - 1
	none, zeros := func() {}, func() { e.zero(zero) }
	factor := func() { e.broadcast(e.param("a"), elemFactor) }
	for _, f := range []struct{ name, sign, plain, op string }{{"AddTo", " + ", "+", "VADD"},
		{"SubTo", " − ", "-", "VSUB"}, {"MulTo", "·", "*", "VMUL"}, {"DivTo", "/", "/", "VDIV"}} {
		e.entrywise(f.name, "sets dst = x"+f.sign+"y, entry by entry. All have one length, and dst may be x or y.",
			"dst, x, y *T", "x[i] "+f.plain+" y[i]", none, func(a entries, v, w int) {
				a.load("x", v)
				a.packed(f.op, a.source("y", w), v, v)
			})
	}
	e.entrywise("Sqrt", "sets dst = √x, entry by entry, NaN of negative numbers. Both have one length, and dst may\n"+
		"be x.", "dst, x *T", "T(math.Sqrt(float64(x[i])))", none, func(a entries, v, w int) {
		a.load("x", v)
		a.packed("VSQRT", v, v)
	})
	e.entrywise("ReLU", "sets dst to the larger of x and 0, entry by entry: NaN where x is, and never −0. "+
		"Both have\none length, and dst may be x.", "dst, x *T", "max(x[i], 0)", zeros, func(a entries, v, w int) {
		a.packed("VMAX", a.source("x", v), zero, v)
		a.packed("VADD", zero, v, v)
	})
	e.entrywise("step", "sets dst to a where x is positive, else to 0.", "dst *T, a T, x *T", "positive(x[i], a)",
		func() { factor(); zeros() }, func(a entries, v, w int) {
			a.load("x", v)
			a.positive(v, zero, elemFactor)
		})
	e.entrywise("Gate", "sets dst to y where x is positive, else to 0, also where y is not finite. All have one\n"+
		"length, and dst may be x or y.", "dst, x, y *T", "positive(x[i], y[i])", zeros, func(a entries, v, w int) {
		a.load("x", v)
		a.load("y", w)
		a.positive(v, zero, w)
	})
	e.entrywise("Axpy", "adds a·x to dst; the product is rounded before it is added, on every path. Both have one\n"+
		"length, and dst may be x.", "dst *T, a T, x *T", "dst[i] + T(a*x[i])", factor, func(a entries, v, w int) {
		a.load("x", v)
		a.packed("VMUL", elemFactor, v, v)
		a.load("dst", w)
		a.packed("VADD", w, v, v)
	})
	e.entrywise("Scale", "sets dst = a·x. Both have one length, and dst may be x.", "dst *T, a T, x *T", "a * x[i]",
		factor, func(a entries, v, w int) {
			a.load("x", v)
			a.packed("VMUL", elemFactor, v, v)
		})
	e.entrywise("Comb", "sets dst = a·x + b·y; products are rounded before they are added, on every path. All have\n"+
		"one length, and dst may be x or y.", "dst *T, a T, x *T, b T, y *T", "T(a*x[i]) + T(b*y[i])", func() {
		factor()
		e.broadcast(e.param("b"), second)
	}, func(a entries, v, w int) {
		a.packed("VMUL", a.source("x", v), elemFactor, v)
		a.packed("VMUL", a.source("y", w), second, w)
		a.packed("VADD", w, v, v)
	})
}

// positive sets register v to the numbers in y where its own are above zero, else to 0.
func (e *emitter) positive(v, zero, y int) {
	const greater = 30
	e.compare(greater, zero, v, v)
	if e.wide {
		e.vectors("VMOVUP"+e.letter()+"_Z", y, reg.K2, v)
		return
	}
	e.packed("VAND", y, v, v)
}

// compare notes in which lanes a comparison holds of register x with y: in K2, or in the lanes of
// register where with AVX2.
func (e *emitter) compare(predicate, y, x, where int) {
	var to any = where
	if e.wide {
		to = reg.K2
	}
	e.packed("VCMP", immediate(predicate), y, x, to)
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
	e.fn("Sum", "returns Σ x_i. The order of summation depends on the length alone.", "n int, x *T", "T")
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
	s.jumpIfZero(rounds, "ones")
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
		a := s.acc(chain, p)
		if s.y == nil {
			s.packed("VADD", s.source(where(s.x), s.last, k, p), a, a)
			continue
		}
		s.load(where(s.x), s.last, k, p)
		if k == nil {
			s.packed("VFMADD231", where(s.y).Offset(p*s.width), s.last, a)
		} else {
			s.load(where(s.y), s.last+1, k, p)
			s.packed("VFMADD231", s.last, s.last+1, a)
		}
	}
}

// total adds the chains up and returns the sum.
func (s *sumKernel) total() {
	for step := 1; step < chains; step *= 2 {
		for c := 0; c < chains; c += 2 * step {
			for p := range s.parts() {
				a := s.acc(c, p)
				s.packed("VADD", s.acc(c+step, p), a, a)
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
	e.fn("FromFloat64", "sets dst to the numbers of src, rounded. Both have one length, and do not overlap.",
		"n int, dst *T, src *float64", "")
	e.twin("T(src[i])")
	e.converted(wide, e.size, "VCVTPD2PS", "VCVTSD2SS")
	e.fn("ToFloat64", "sets dst to the numbers of src. Both have one length, and do not overlap.",
		"n int, dst *float64, src *T", "")
	e.twin("float64(src[i])")
	e.converted(e.size, wide, "VCVTPS2PD", "VCVTSS2SD")
}

// converted emits a loop over a number of numbers at a time, and one over the rest. Numbers of one
// size are only copied.
func (e *emitter) converted(from, to int, vector, scalar string) {
	n, dst, src, lanes := e.arg("n"), e.arg("dst"), e.arg("src"), e.width/8
	registers, move, last := e.vectors, "VMOVUPD", "VMOVSD"
	switch {
	case from == to:
		vector = move
	case from > to && e.wide:
		registers, move, last = e.halves, "VMOVUPS", "VMOVSS"
	case from > to:
		vector, registers, move, last = vector+"Y", e.quarters, "VMOVUPS", "VMOVSS"
	}
	e.inSteps(n, lanes, func() {
		registers(vector, at(src), 0)
		registers(move, 0, at(dst))
		e.op("ADDQ", lanes*from, src)
		e.op("ADDQ", lanes*to, dst)
	}, func() {
		e.zero(1)
		e.label("one")
		if from == to {
			e.quarters(last, at(src), 0)
		} else {
			e.quarters(scalar, at(src), 1, 0)
		}
		e.quarters(last, 0, at(dst))
		e.op("ADDQ", from, src)
		e.op("ADDQ", to, dst)
		e.countDown(n, "one")
	})
}

// fromBytes emits the conversion of bytes.
func (e *emitter) fromBytes() {
	e.fn("FromBytes", "sets dst = scale·src, each byte taken as a number from 0 to 255 and the product\n"+
		"rounded once. dst and src have one length.", "n int, dst *T, src *byte, scale T", "")
	e.twin("T(src[i]) * scale")
	n, dst, src := e.arg("n"), e.arg("dst"), e.arg("src")
	e.broadcast(e.param("scale"), elemFactor)
	e.inSteps(n, e.lanes(), func() {
		e.loadBytes(at(src), 0)
		e.packed("VMUL", elemFactor, 0, 0)
		e.store(0, at(dst), nil, 0)
		e.op("ADDQ", e.lanes(), src)
		e.op("ADDQ", e.width, dst)
	}, func() {
		e.zero(1)
		one := e.GP32()
		e.label("one")
		e.op("MOVBLZX", at(src), one)
		e.quarters("VCVTSI2S"+e.letter()+"L", one, 1, 0)
		e.scalar("VMUL", elemFactor, 0, 0)
		e.scalar("VMOV", 0, at(dst))
		e.INCQ(src)
		e.op("ADDQ", e.size, dst)
		e.countDown(n, "one")
	})
}
