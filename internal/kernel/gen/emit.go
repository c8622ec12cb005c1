package main

import (
	"fmt"
	"math/bits"
	"reflect"
	"strings"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// An emitter writes the functions of one instruction set and one element type.
type emitter struct {
	*build.Context
	set   string      // AVX512, or AVX2 with FMA
	width int         // bytes of a vector register
	wide  bool        // AVX-512
	short bool        // AVX-512 with registers of 32 bytes
	size  int         // bytes of an element: 4 or 8
	tail  operand.Mem // AVX2: 64 bytes of ones, then 64 of zeros
	name  string      // of the function in hand

	functions *[]function // the functions of the file
}

// both emits the functions of float32, then of float64.
func (e *emitter) both(emit func()) {
	for _, e.size = range []int{4, 8} {
		emit()
	}
}

// lanes is the elements in a register.
func (e *emitter) lanes() int { return e.width / e.size }

// parts is how many registers hold 64 bytes. Sums over columns are kept in 64 bytes on either
// instruction set, which is why both give the same bits.
func (e *emitter) parts() int { return 64 / e.width }

// block is the elements in 64 bytes.
func (e *emitter) block() int { return 64 / e.size }

// fn starts a function, with T for the element type in its parameters and result. A name that is
// exported is the package's function, with this documentation.
func (e *emitter) fn(name, doc, params, result string) {
	if e.first() {
		*e.functions = append(*e.functions, newFunction(name, doc, params, result))
	}
	e.name = fmt.Sprintf("%sF%d%s", low(name), 8*e.size, e.set)
	e.Function(e.name)
	e.Attributes(attr.NOSPLIT)
	e.Pragma("noescape")
	e.Doc(strings.Split(e.name+" "+doc, "\n")...)
	e.SignatureExpr(strings.ReplaceAll("func("+params+") "+result, "T", fmt.Sprintf("float%d", 8*e.size)))
}

// twin gives the function in hand a twin in plain Go, by what it makes each entry of dst.
func (e *emitter) twin(entry string) {
	if e.first() {
		(*e.functions)[len(*e.functions)-1].Entry = entry
	}
}

// first reports whether functions are emitted for the first time: for AVX2 and float32.
func (e *emitter) first() bool { return !e.wide && e.size == 4 }

// op emits the instruction of the given name.
func (e *emitter) op(name string, ops ...any) {
	m := reflect.ValueOf(e.Context).MethodByName(name)
	if !m.IsValid() {
		panic("no instruction " + name)
	}
	args := make([]reflect.Value, len(ops))
	for i, o := range ops {
		if n, ok := o.(int); ok {
			o = immediate(n)
		}
		args[i] = reflect.ValueOf(o)
	}
	m.Call(args)
	if _, err := e.Result(); err != nil {
		panic(fmt.Sprintf("%s: %s %v: %v", e.name, name, ops, err))
	}
}

// immediate is a constant of one byte, or else of four.
func immediate(n int) operand.Op {
	if n < 128 {
		return operand.U8(n)
	}
	return operand.U32(n)
}

// registers emits an instruction on vector registers, for which their numbers may stand among its
// operands: width makes registers of them.
func (e *emitter) registers(width func(int) reg.Physical, name string, ops []any) {
	for i, o := range ops {
		if n, ok := o.(int); ok {
			ops[i] = width(n)
		}
	}
	e.op(name, ops...)
}

// vectors, halves and quarters emit an instruction on registers at the full width, of 32 and of 16
// bytes.
func (e *emitter) vectors(name string, ops ...any)  { e.registers(e.vec, name, ops) }
func (e *emitter) halves(name string, ops ...any)   { e.registers(e.half, name, ops) }
func (e *emitter) quarters(name string, ops ...any) { e.registers(e.quarter, name, ops) }

// packed emits an instruction on all elements of vector registers, by its name without PS or PD.
func (e *emitter) packed(name string, ops ...any) { e.vectors(name+"P"+e.letter(), ops...) }

// scalar emits an instruction on one element, by its name without SS or SD.
func (e *emitter) scalar(name string, ops ...any) { e.quarters(name+"S"+e.letter(), ops...) }

// letter stands for the element type in the names of instructions.
func (e *emitter) letter() string { return map[int]string{4: "S", 8: "D"}[e.size] }

// label and jump name places within the function in hand, other ones in code for shorter registers.
func (e *emitter) label(format string, a ...any) { e.Label(e.place(format, a...)) }
func (e *emitter) jump(cond, format string, a ...any) {
	e.op(cond, operand.LabelRef(e.place(format, a...)))
}

func (e *emitter) place(format string, a ...any) string {
	if e.short {
		format = "short_" + format
	}
	return fmt.Sprintf(format, a...)
}

// jumpIfZero jumps if a count is 0.
func (e *emitter) jumpIfZero(count reg.Register, format string, a ...any) {
	e.op("TESTQ", count, count)
	e.jump("JZ", format, a...)
}

// countDown subtracts 1 from a count and jumps unless that leaves 0.
func (e *emitter) countDown(count operand.Op, format string, a ...any) {
	e.DECQ(count)
	e.jump("JNZ", format, a...)
}

// inSteps emits a loop over n in steps of lanes, then code for the rest of n unless it is 0, and
// returns.
func (e *emitter) inSteps(n reg.Register, lanes int, step, rest func()) {
	e.op("SUBQ", lanes, n)
	e.jump("JLT", "rest")
	e.label("loop")
	step()
	e.op("SUBQ", lanes, n)
	e.jump("JGE", "loop")
	e.label("rest")
	e.op("ADDQ", lanes, n)
	e.jump("JZ", "done")
	rest()
	e.label("done")
	e.ret()
}

// A shape is the size of a tile or panel that a kernel of matrices takes at once.
type shape struct{ mr, nr int }

func (s shape) String() string { return fmt.Sprintf("%dx%d", s.mr, s.nr) }

// choice emits jumps to the code of the shape mr×nr, whose label starts with name, and the code of
// all shapes.
func (e *emitter) choice(name string, shapes []shape, mr, nr reg.GPVirtual, code func(shape)) {
	for _, s := range shapes {
		e.op("CMPQ", mr, s.mr)
		e.jump("JNE", "not%s", s)
		e.op("CMPQ", nr, s.nr)
		e.jump("JEQ", name+"%s", s)
		e.label("not%s", s)
	}
	e.ret()
	for _, s := range shapes {
		code(s)
	}
}

// vec is vector register i at the full width, half at 32 bytes and quarter at 16.
func (e *emitter) vec(i int) reg.Physical {
	if e.wide && !e.short {
		return vector(i, reg.S512)
	}
	return e.half(i)
}

// shorter emits code for registers of 32 bytes.
func (e *emitter) shorter(emit func()) {
	width := e.width
	e.short, e.width = true, 32
	emit()
	e.short, e.width = false, width
}

// eachWidth emits code for columns of one register and, before it, the same for registers of 32
// bytes if they are enough for cols columns, where there is a choice: some processors with AVX-512
// do twice as many of these.
func (e *emitter) eachWidth(cols reg.Register, emit func()) {
	if e.wide {
		e.op("CMPQ", cols, e.lanes()/2)
		e.jump("JG", "long")
		e.shorter(emit)
		e.label("long")
	}
	emit()
}

func (e *emitter) half(i int) reg.Physical    { return vector(i, reg.S256) }
func (e *emitter) quarter(i int) reg.Physical { return vector(i, reg.S128) }

func vector(i int, s reg.Spec) reg.Physical {
	return reg.LookupPhysical(reg.KindVector, reg.Index(i), s)
}

// arg loads a parameter into a register.
func (e *emitter) arg(name string) reg.GPVirtual {
	r := e.GP64()
	e.Load(e.Param(name), r)
	return r
}

// divided returns how often n has a number of elements, a power of two, and the rest, in registers
// of their own.
func (e *emitter) divided(n reg.Register, by int) (full, rest reg.GPVirtual) {
	full, rest = e.copyOf(n), e.copyOf(n)
	e.op("SHRQ", log2(by), full)
	e.op("ANDQ", by-1, rest)
	return full, rest
}

// copyOf returns a new register with the value of r.
func (e *emitter) copyOf(r reg.Register) reg.GPVirtual {
	n := e.GP64()
	e.MOVQ(r, n)
	return n
}

// A mask stands for the elements before the end of a row, within 64 bytes.
type mask struct {
	k   reg.Register  // AVX-512: the opmask
	gp  reg.GPVirtual // AVX2: where the ones of the table begin
	tmp int           // AVX2: a vector register for the mask of one part
}

// mask makes the mask of the first n elements of 64 bytes; tmp is a free vector register.
func (e *emitter) mask(n reg.GPVirtual, tmp int) mask {
	if e.wide {
		ones := e.GP32()
		e.MOVL(operand.U32(0xffffffff), ones)
		e.op("BZHIL", n.As32(), ones, ones)
		e.op("KMOVW", ones, reg.K1)
		return mask{k: reg.K1}
	}
	off, base := e.GP64(), e.GP64()
	e.MOVQ(n, off)
	e.op("SHLQ", log2(e.size), off)
	e.LEAQ(e.tail.Offset(64), base)
	e.SUBQ(off, base)
	return mask{gp: base, tmp: tmp}
}

// move copies a register to memory or memory to a register, or the elements that part p of the mask
// stands for; what is masked becomes 0 in a register. width gives the mask the width of
// the register.
func (e *emitter) move(from, to operand.Op, k *mask, p int, width func(int) reg.Physical) {
	name := "VMOVUP" + e.letter()
	switch _, load := from.(operand.Mem); {
	case k == nil:
		e.op(name, from, to)
	case e.wide && load:
		e.op(name+"_Z", from, k.k, to)
	case e.wide:
		e.op(name, from, k.k, to)
	default:
		e.op("VMOVUPS", memory(k.gp, p*e.width), width(k.tmp))
		e.packed("VMASKMOV", from, width(k.tmp), to)
	}
}

// load reads part p of 64 bytes at m into vector register v; masked elements become 0.
func (e *emitter) load(m operand.Mem, v int, k *mask, p int) {
	e.move(m.Offset(p*e.width), e.vec(v), k, p, e.vec)
}

// source is part p of 64 bytes at m as an operand: memory or, if it is masked, register v after
// a load.
func (e *emitter) source(m operand.Mem, v int, k *mask, p int) operand.Op {
	if k == nil {
		return m.Offset(p * e.width)
	}
	e.load(m, v, k, p)
	return e.vec(v)
}

// store writes vector register v to part p of 64 bytes at m.
func (e *emitter) store(v int, m operand.Mem, k *mask, p int) {
	e.move(e.vec(v), m.Offset(p*e.width), k, p, e.vec)
}

// zero clears vector registers.
func (e *emitter) zero(v ...int) {
	for _, i := range v {
		// The short form clears the whole register; registers from 16 on have no short form.
		if i < 16 {
			e.quarters("VXORPS", i, i, i)
		} else {
			e.vectors("VPXORD", i, i, i)
		}
	}
}

// broadcast fills vector register v with the element at m.
func (e *emitter) broadcast(m any, v int) { e.scalar("VBROADCAST", m, e.vec(v)) }

// ret returns, with the upper halves clean for the SSE instructions of compiled Go.
func (e *emitter) ret() {
	e.VZEROUPPER()
	e.RET()
}

// reduce adds up the 64 bytes of each of the given accumulators (register numbers, by part) and
// leaves the sums side by side in the first register of the result, up to 16 bytes of them in each.
// The tree is one whatever stands beside: halves, then quarters of each 16 bytes, then the two 16
// bytes. tmp is a free vector register.
func (e *emitter) reduce(acc [][]int, tmp int) (sums []int) {
	for _, a := range acc {
		if e.wide {
			e.vectors("VEXTRACTF64X4", immediate(1), a[0], e.half(tmp))
			e.halves("VADDP"+e.letter(), tmp, a[0], a[0])
		} else {
			e.halves("VADDP"+e.letter(), a[1], a[0], a[0])
		}
	}
	group := 16 / e.size
	for i := 0; i < len(acc); i += group {
		g := make([]int, group)
		for j := range g {
			g[j] = acc[min(i+j, len(acc)-1)][0]
		}
		for unpack := ""; len(g) > 1; unpack = "PD" {
			if unpack == "" {
				unpack = "P" + e.letter()
			}
			var next []int
			for j := 0; j < len(g); j += 2 {
				if j > 0 && g[j] == g[0] {
					next = append(next, g[0]) // padding: done already
					continue
				}
				x, y := e.half(g[j]), e.half(g[j+1])
				e.halves("VUNPCKL"+unpack, y, x, tmp)
				e.op("VUNPCKH"+unpack, y, x, x)
				e.packed("VADD", e.half(tmp), x, x)
				next = append(next, g[j])
			}
			g = next
		}
		e.upperHalf(g[0], tmp)
		e.quarters("VADDP"+e.letter(), tmp, g[0], g[0])
		sums = append(sums, g[0])
	}
	return sums
}

// upperHalf copies the upper 16 of the 32 bytes in v to tmp.
func (e *emitter) upperHalf(v, tmp int) {
	if e.wide {
		e.op("VEXTRACTF32X4", 1, e.half(v), e.quarter(tmp))
	} else {
		e.op("VEXTRACTF128", 1, e.half(v), e.quarter(tmp))
	}
}

// lane returns a register whose low element is element l of the 16 bytes in v.
func (e *emitter) lane(v, l, tmp int) reg.Physical {
	if l == 0 {
		return e.quarter(v)
	}
	e.quarters("VPERMILP"+e.letter(), immediate(l), v, tmp)
	return e.quarter(tmp)
}

func log2(n int) int { return bits.Len(uint(n)) - 1 }
