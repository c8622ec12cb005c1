package main

import (
	"math"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The exponential family works on float64 lanes for both element types: a float32 is widened, and
// rounded once at the end, which leaves little more than half an ulp of error. The series are as
// long as the result needs.
//
// eˣ = 2ⁿ·eʳ with n the integer next to x/log 2 and |r| ≤ log(2)/2, eʳ by its Taylor series. The
// first term left out of 14 is 4e-18, of 9 (float32) 2e-10.
//
// log(1+e) for 0 ≤ e ≤ 1 is 2·atanh(f/(2+f)) with f = e up to √2−1 and, beyond, log 2 plus that
// with f = (e−1)/2; so |s| ≤ 0.344 for s = 2f/(2+f), and the series is s·Σ (s²/4)ⁱ/(2i+1). The first
// term left out of 11 is 6e-19, of 6 (float32) 5e-11.

// Constants of a mathEmitter by name; "exp0".. are 1/n!, "log0".. are 1/((2i+1)·4ⁱ).
const (
	expTerms64, expTerms32 = 14, 9
	logTerms64, logTerms32 = 11, 6
)

// A mathEmitter adds a table of constants, which both element types share.
type mathEmitter struct {
	*emitter
	table   operand.Mem
	offsets map[string]int
}

// Registers that hold a constant throughout a function, and the first ones that work.
const (
	vHigh, vLow, vLog2e, vMagic, vOne = 15, 14, 13, 12, 11
	vMask                             = 10 // AVX2: scratch of masked loads and stores
	vX, vT, vN, vR, vQ, vU, vW        = 0, 1, 2, 3, 4, 5, 6
)

// constants writes the table: each constant as often as a register of AVX2 has lanes, or once for
// AVX-512, which broadcasts while it reads.
func (e *emitter) constants() *mathEmitter {
	m := &mathEmitter{emitter: e, table: e.StaticGlobal("constants"), offsets: map[string]int{}}
	e.DataAttributes(attr.RODATA | attr.NOPTR)
	end := 0
	put := func(name string, bits uint64) {
		m.offsets[name] = end
		for range m.copies() {
			e.AddDatum(end, operand.U64(bits))
			end += 8
		}
	}
	real := func(name string, v float64) { put(name, math.Float64bits(v)) }
	put("sign", 1<<63)
	put("abs", 1<<63-1)
	put("bias", 1023)
	real("zero", 0)
	real("half", 0.5)
	real("one", 1)
	real("two", 2)
	// Past these the exponential has over- or underflowed, and tanh is ±1.
	real("high", 1000)
	real("low", -1000)
	real("flat", -100)
	// 1.5·2⁵²: adding it rounds to an integer, which then stands in the lowest bits.
	real("magic", 0x1.8p52)
	real("log2e", math.Log2E)
	real("ln2", math.Ln2)
	// log 2 in two parts; the first ends in zeros so that its product with n is exact.
	real("ln2hi", 0x1.62e42fee00000p-1)
	real("ln2lo", 0x1.a39ef35793c76p-33)
	real("split", math.Sqrt2-1)
	// For log: half of the mantissas go to either side of 1.
	put("root", math.Float64bits(math.Sqrt2/2))
	put("exponent", 0xfff<<52)
	put("biased", 1023<<52)
	real("whole", 0x1p52)
	real("wholeBias", 0x1p52+1023)
	real("tiny", 0x1p-1022)
	real("lift", 0x1p54)
	real("lifted", 54)
	real("inf", math.Inf(1))
	real("negInf", math.Inf(-1))
	real("nan", math.NaN())
	factorial := 1.0
	for i := range expTerms64 {
		if i > 1 {
			factorial *= float64(i)
		}
		real(term("exp", i), 1/factorial)
	}
	for i := range logTerms64 {
		real(term("log", i), 1/float64((2*i+1)<<(2*i)))
	}
	return m
}

func term(series string, i int) string { return series + string(rune('a'+i)) }

func (m *mathEmitter) copies() int {
	if m.wide {
		return 1
	}
	return 4
}

// constant is where a constant lies.
func (m *mathEmitter) constant(name string) operand.Mem {
	off, ok := m.offsets[name]
	if !ok {
		panic("no constant " + name)
	}
	return m.table.Offset(off)
}

// with emits an instruction on float64 lanes whose first operand is a constant.
func (m *mathEmitter) with(name, constant string, ops ...any) {
	if m.wide {
		name += "_BCST"
	}
	m.op(name, append([]any{m.constant(constant)}, ops...)...)
}

// set fills register v with a constant.
func (m *mathEmitter) set(v int, constant string) {
	m.op("VBROADCASTSD", m.constant(constant), m.vec(v))
}

// series evaluates Σ c_i·at^(i−from), i from the given term to the last, into register v.
func (m *mathEmitter) series(name string, from, terms, at, v int) {
	m.set(v, term(name, terms-1))
	for i := terms - 2; i >= from; i-- {
		m.with("VFMADD213PD", term(name, i), m.vec(at), m.vec(v))
	}
}

// terms picks the length of a series by the element type.
func (m *mathEmitter) terms(for64, for32 int) int {
	if m.size == 8 {
		return for64
	}
	return for32
}

// clamp keeps x between the limits; the operand that may be NaN comes last, where it survives.
func (m *mathEmitter) clamp(x int) { m.op("VMAXPD", m.vec(x), m.vec(vLow), m.vec(x)) }

// split leaves n in vN, n in the lowest bits of vT, and r in vR, for the exponent in register x.
func (m *mathEmitter) split(x int) {
	m.op("VMOVAPD", m.vec(x), m.vec(vT))
	m.op("VFMADD213PD", m.vec(vMagic), m.vec(vLog2e), m.vec(vT))
	m.op("VSUBPD", m.vec(vMagic), m.vec(vT), m.vec(vN))
	m.op("VMOVAPD", m.vec(x), m.vec(vR))
	m.with("VFNMADD231PD", "ln2hi", m.vec(vN), m.vec(vR))
	m.with("VFNMADD231PD", "ln2lo", m.vec(vN), m.vec(vR))
}

// exp leaves eˣ in vQ for the clamped x in register x. Two factors make up 2ⁿ where there is no
// instruction for it, so that results below the normal numbers are rounded once.
func (m *mathEmitter) exp(x int) {
	m.split(x)
	m.series("exp", 0, m.terms(expTerms64, expTerms32), vR, vQ)
	if m.wide {
		m.op("VSCALEFPD", m.vec(vN), m.vec(vQ), m.vec(vQ))
		return
	}
	m.op("VPSRAD", 1, m.vec(vT), m.vec(vN))
	m.op("VPSUBD", m.vec(vN), m.vec(vT), m.vec(vT))
	for _, n := range []int{vN, vT} {
		m.power(n)
		m.op("VMULPD", m.vec(n), m.vec(vQ), m.vec(vQ))
	}
}

// power turns the integer n in the lowest bits of register v into 2ⁿ.
func (m *mathEmitter) power(v int) {
	m.with("VPADDD", "bias", m.vec(v), m.vec(v))
	m.op("VPSLLQ", 52, m.vec(v), m.vec(v))
}

// expm1 leaves eˣ−1 in vQ, for x in register x from −100 to 0: 2ⁿ·(eʳ−1) + (2ⁿ−1).
func (m *mathEmitter) expm1(x int) {
	m.split(x)
	m.series("exp", 2, m.terms(expTerms64, expTerms32), vR, vQ)
	m.op("VMULPD", m.vec(vR), m.vec(vQ), m.vec(vQ))
	m.op("VFMADD213PD", m.vec(vR), m.vec(vR), m.vec(vQ))
	if m.wide {
		m.op("VSCALEFPD", m.vec(vN), m.vec(vOne), m.vec(vT))
	} else {
		m.power(vT)
	}
	m.op("VSUBPD", m.vec(vOne), m.vec(vT), m.vec(vU))
	m.op("VFMADD213PD", m.vec(vU), m.vec(vT), m.vec(vQ))
}

// choose sets dst to yes where the mask register says so (AVX-512: K2, AVX2: the signs of mask).
func (m *mathEmitter) choose(mask, yes, no, dst int) {
	if m.wide {
		m.op("VBLENDMPD", m.vec(yes), m.vec(no), reg.K2, m.vec(dst))
	} else {
		m.op("VBLENDVPD", m.vec(mask), m.vec(yes), m.vec(no), m.vec(dst))
	}
}

// functions emits all of them.
func (m *mathEmitter) functions() {
	for _, f := range []struct {
		name, low string
		body      func()
	}{
		{"exp", "low", m.fExp},
		{"log1pExp", "low", m.fLog1pExp},
		{"sigmoid", "low", m.fSigmoid},
		{"tanh", "flat", m.fTanh},
		{"log", "low", m.fLog},
	} {
		m.fn(f.name, "sets the n entries of dst to the function of those of src.", "n int, dst, src *T", "")
		n, dst, src := m.arg("n"), m.arg("dst"), m.arg("src")
		m.set(vHigh, "high")
		m.set(vLow, f.low)
		m.set(vLog2e, "log2e")
		m.set(vMagic, "magic")
		m.set(vOne, "one")
		lanes := m.width() / 8
		m.op("SUBQ", lanes, n)
		m.jump("JLT", "tail")
		m.label("loop")
		m.read(at(src, 0), nil)
		f.body()
		m.write(at(dst, 0), nil)
		m.op("ADDQ", lanes*m.size, src)
		m.op("ADDQ", lanes*m.size, dst)
		m.op("SUBQ", lanes, n)
		m.jump("JGE", "loop")
		m.label("tail")
		m.op("ADDQ", lanes, n)
		m.jump("JZ", "done")
		k := m.mask(n, vMask)
		m.read(at(src, 0), &k)
		f.body()
		m.write(at(dst, 0), &k)
		m.label("done")
		m.ret()
	}
}

// read loads as many elements as there are float64 lanes into vX.
func (m *mathEmitter) read(src operand.Mem, k *mask) {
	switch {
	case m.size == 8:
		m.load(src, vX, k, 0)
		return
	case k == nil:
		m.op("VCVTPS2PD", src, m.vec(vX))
		return
	case m.wide:
		m.op("VMOVUPS_Z", src, k.k, m.half(vX))
		m.op("VCVTPS2PD", m.half(vX), m.vec(vX))
	default:
		m.op("VMOVUPS", at(k.gp, 0), m.quarter(k.tmp))
		m.op("VMASKMOVPS", src, m.quarter(k.tmp), m.quarter(vX))
		m.op("VCVTPS2PD", m.quarter(vX), m.vec(vX))
	}
}

// write stores as many elements as there are float64 lanes from vQ.
func (m *mathEmitter) write(dst operand.Mem, k *mask) {
	if m.size == 8 {
		m.store(vQ, dst, k, 0)
		return
	}
	narrow := m.half(vQ)
	if m.wide {
		m.op("VCVTPD2PS", m.vec(vQ), narrow)
	} else {
		narrow = m.quarter(vQ)
		m.op("VCVTPD2PSY", m.vec(vQ), narrow)
	}
	switch {
	case k == nil:
		m.op("VMOVUPS", narrow, dst)
	case m.wide:
		m.op("VMOVUPS", narrow, k.k, dst)
	default:
		m.op("VMOVUPS", at(k.gp, 0), m.quarter(k.tmp))
		m.op("VMASKMOVPS", narrow, m.quarter(k.tmp), dst)
	}
}
