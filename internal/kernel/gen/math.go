package main

import (
	"fmt"
	"math"
	"strings"

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
// with f = (e−1)/2; so |s| ≤ 0.344 for s = 2f/(2+f), and the series is s·Σ (s²/4)ⁱ/(2i+1). The
// first term left out of 11 is 6e-19, of 6 (float32) 5e-11.

// erf x for x ≥ 0 is 1 − e^−g with g = −log(1 − erf x), which is smooth, so that the digits near 0
// stay: g/x is a polynomial up to the end, where erf x is next to 1.

// Constants of a mathEmitter by name; "expa".. are 1/n!, "loga".. are 1/((2i+1)·4ⁱ), and "erf8a"..
// and their like the constants of polynomials.
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
	add := func(names string, values ...uint64) {
		for i, name := range strings.Fields(names) {
			m.offsets[name] = 8 * m.copies() * len(m.offsets)
			for n := range m.copies() {
				e.AddDatum(m.offsets[name]+8*n, operand.U64(values[i]))
			}
		}
	}
	real := math.Float64bits
	add("sign abs bias", 1<<63, 1<<63-1, 1023)
	add("zero half one two", real(0), real(0.5), real(1), real(2))
	// Past these the exponential has over- or underflowed, and tanh is ±1, and so is erf.
	add("high low flat end8 end4", real(1000), real(-1000), real(-100), real(erfEnd64), real(erfEnd32))
	// 1.5·2⁵²: adding it rounds to an integer, which then stands in the lowest bits.
	add("magic", real(0x1.8p52))
	// log 2 in two parts too; the first ends in zeros so that its product with n is exact.
	add("log2e ln2 ln2hi ln2lo", real(math.Log2E), real(math.Ln2), real(0x1.62e42fee00000p-1),
		real(0x1.a39ef35793c76p-33))
	// For log: half of the mantissas go to either side of 1.
	add("split root", real(math.Sqrt2-1), real(math.Sqrt2/2))
	add("exponent biased whole wholeBias", 0xfff<<52, 1023<<52, real(0x1p52), real(0x1p52+1023))
	add("tiny lift lifted", real(0x1p-1022), real(0x1p54), real(54))
	add("inf negInf nan", real(math.Inf(1)), real(math.Inf(-1)), real(math.NaN()))
	// For the normal distribution, with its density at 0.
	add("middle twiceMiddle minusHalf density", real(millsMiddle), real(2*millsMiddle), real(-0.5),
		real(0x1.9884533d43651p-2))
	factorial := 1.0
	for i := range expTerms64 {
		factorial *= max(1, float64(i))
		add(coefficient("exp", i), real(1/factorial))
	}
	for i := range logTerms64 {
		add(coefficient("log", i), real(1/float64((2*i+1)<<(2*i))))
	}
	for _, p := range polynomials {
		for i, c := range p.terms {
			add(coefficient(p.name, i), real(c))
		}
	}
	return m
}

// polynomials are those that are no series, by what they are of and the bytes of an element.
var polynomials = []struct {
	name  string
	terms []float64
}{{"erf8", erfTerms64}, {"erf4", erfTerms32}, {"mills8", millsTerms64}, {"mills4", millsTerms32}}

// polynomial evaluates a polynomial for the element type into register v.
func (m *mathEmitter) polynomial(of string, at, v int) {
	for _, p := range polynomials {
		if name := fmt.Sprint(of, m.size); name == p.name {
			m.series(name, 0, len(p.terms), at, v)
		}
	}
}

// coefficient names a coefficient of a series.
func coefficient(series string, i int) string { return series + string(rune('a'+i)) }

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

// withConstant emits an instruction on float64 lanes whose first operand is a constant.
func (m *mathEmitter) withConstant(name, constant string, ops ...any) {
	if m.wide {
		name += "_BCST"
	}
	m.vectors(name, append([]any{m.constant(constant)}, ops...)...)
}

// fill fills register v with a constant.
func (m *mathEmitter) fill(v int, constant string) {
	m.vectors("VBROADCASTSD", m.constant(constant), v)
}

// series evaluates Σ c_i·at^(i−from), i from the given term to the last, into register v.
func (m *mathEmitter) series(name string, from, terms, at, v int) {
	m.fill(v, coefficient(name, terms-1))
	for i := terms - 2; i >= from; i-- {
		m.withConstant("VFMADD213PD", coefficient(name, i), at, v)
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
func (m *mathEmitter) clamp(x int) { m.vectors("VMAXPD", x, vLow, x) }

// reduceArgument leaves n in vN, n in the lowest bits of vT, and r in vR, for the exponent in
// register x.
func (m *mathEmitter) reduceArgument(x int) {
	m.vectors("VMOVAPD", x, vT)
	m.vectors("VFMADD213PD", vMagic, vLog2e, vT)
	m.vectors("VSUBPD", vMagic, vT, vN)
	m.vectors("VMOVAPD", x, vR)
	m.withConstant("VFNMADD231PD", "ln2hi", vN, vR)
	m.withConstant("VFNMADD231PD", "ln2lo", vN, vR)
}

// exp leaves eˣ in vQ for the clamped x in register x. Two factors make up 2ⁿ where there is no
// instruction for it, so that results below the normal numbers are rounded once.
func (m *mathEmitter) exp(x int) {
	m.reduceArgument(x)
	m.series("exp", 0, m.terms(expTerms64, expTerms32), vR, vQ)
	if m.wide {
		m.vectors("VSCALEFPD", vN, vQ, vQ)
		return
	}
	m.vectors("VPSRAD", immediate(1), vT, vN)
	m.vectors("VPSUBD", vN, vT, vT)
	for _, n := range []int{vN, vT} {
		m.power(n)
		m.vectors("VMULPD", n, vQ, vQ)
	}
}

// power turns the integer n in the lowest bits of register v into 2ⁿ.
func (m *mathEmitter) power(v int) {
	m.withConstant("VPADDD", "bias", v, v)
	m.vectors("VPSLLQ", immediate(52), v, v)
}

// expm1 leaves eˣ−1 in vQ, for x in register x from −100 to 0: 2ⁿ·(eʳ−1) + (2ⁿ−1).
func (m *mathEmitter) expm1(x int) {
	m.reduceArgument(x)
	m.series("exp", 2, m.terms(expTerms64, expTerms32), vR, vQ)
	m.vectors("VMULPD", vR, vQ, vQ)
	m.vectors("VFMADD213PD", vR, vR, vQ)
	if m.wide {
		m.vectors("VSCALEFPD", vN, vOne, vT)
	} else {
		m.power(vT)
	}
	m.vectors("VSUBPD", vOne, vT, vU)
	m.vectors("VFMADD213PD", vU, vT, vQ)
}

// constantWhere fills register v with a constant where the mask vT says so, and with 0 elsewhere.
func (m *mathEmitter) constantWhere(constant string, v int) {
	if m.wide {
		m.vectors("VBROADCASTSD_Z", m.constant(constant), reg.K2, v)
	} else {
		m.vectors("VANDPD", m.constant(constant), vT, v)
	}
}

// selectLanes sets dst to yes where the mask register says so (AVX-512: K2, AVX2: the signs
// of mask).
func (m *mathEmitter) selectLanes(mask, yes, no, dst int) {
	if m.wide {
		m.vectors("VBLENDMPD", yes, no, reg.K2, dst)
	} else {
		m.vectors("VBLENDVPD", mask, yes, no, dst)
	}
}

// functions emits all of them.
func (m *mathEmitter) functions() {
	for _, f := range []struct {
		name, low, plain string
		body             func()
		doc              string
	}{
		{"Exp", "low", "num.Exp", m.fExp,
			`sets dst = eˣ for each x of src, within 2 ulp over the whole range: results below the normal
numbers underflow gradually. NaN gives NaN, -Inf gives 0, +Inf gives +Inf. dst and src have one
length, and dst may be src.`},
		{"Log1pExp", "low", "log1pExp", m.fLog1pExp,
			`sets dst = log(1+eˣ), the softplus, for each x of src, with a relative error of at
most 1e-15 (float64) or 2 ulp (float32) over the whole range: it is eˣ far to the left and x far
to the right. NaN gives NaN. dst and src have one length, and dst may be src.`},
		{"Sigmoid", "low", "sigmoid", m.fSigmoid,
			`sets dst = 1/(1+e⁻ˣ) for each x of src, with a relative error of at most 1e-15 (float64)
or 2 ulp (float32) over the whole range: it is eˣ far to the left. NaN gives NaN. dst and src
have one length, and dst may be src.`},
		{"Tanh", "flat", "num.Tanh", m.fTanh,
			`sets dst = tanh x for each x of src, with a relative error of at most 1e-15 (float64) or
2 ulp (float32), near 0 too. NaN gives NaN. dst and src have one length, and dst may be src.`},
		{"Erf", "low", "num.Erf", m.fErf,
			`sets dst = 2/√π ∫₀ˣ e^−t² dt, the error function, for each x of src, with a relative error of
at most 1e-15 (float64) or 2 ulp (float32), near 0 too. NaN gives NaN. dst and src have one
length, and dst may be src.`},
		{"Log", "low", "num.Log", m.fLog,
			`sets dst = log x for each x of src, with a relative error of at most 1e-15 (float64) or 2 ulp
(float32), near 1 too. 0 gives -Inf, +Inf gives +Inf, NaN and negative numbers give NaN. dst and
src have one length, and dst may be src.`},
		{"InverseMills", "low", "num.InverseMills", m.fInverseMills,
			`sets dst = φ(x)/Φ(x) for each x of src, φ being the density of the standard normal
distribution Φ, with a relative error of at most 1e-15 (float64) or 2 ulp (float32): it is about
−x far to the left. NaN gives NaN. dst and src have one length, and dst may be src.`},
		{"MillsExcess", "low", "num.MillsExcess", m.fMillsExcess,
			`sets dst = x + φ(x)/Φ(x) for each x of src as [InverseMills] does, and as precisely
far to the left, where it is about −1/x.`},
		{"NormalCDF", "low", "num.NormalCDF", m.fNormalCDF,
			`sets dst = Φ(x) for each x of src, Φ being the standard normal distribution, with the
relative error of [InverseMills]: far to the left it is small. NaN gives NaN. dst and src have one
length, and dst may be src.`},
	} {
		m.fn(f.name, f.doc, "n int, dst, src *T", "")
		m.twin("T(" + f.plain + "(float64(src[i])))")
		m.eachLanes(f.low, f.body)
	}
}

// eachLanes emits the loop over a register of float64 at a time.
func (m *mathEmitter) eachLanes(low string, body func()) {
	n, dst, src := m.arg("n"), m.arg("dst"), m.arg("src")
	m.fill(vHigh, "high")
	m.fill(vLow, low)
	m.fill(vLog2e, "log2e")
	m.fill(vMagic, "magic")
	m.fill(vOne, "one")
	lanes := m.width / 8
	m.inSteps(n, lanes, func() {
		m.read(at(src), nil)
		body()
		m.write(at(dst), nil)
		m.op("ADDQ", lanes*m.size, src)
		m.op("ADDQ", lanes*m.size, dst)
	}, func() {
		k := m.mask(n, vMask)
		m.read(at(src), &k)
		body()
		m.write(at(dst), &k)
	})
}

// read loads as many elements as there are float64 lanes into vX.
func (m *mathEmitter) read(src operand.Mem, k *mask) {
	switch {
	case m.size == 8:
		m.load(src, vX, k, 0)
	case k == nil:
		m.vectors("VCVTPS2PD", src, vX)
	default:
		m.move(src, m.narrow(vX), k, 0, m.narrow)
		m.vectors("VCVTPS2PD", m.narrow(vX), vX)
	}
}

// write stores as many elements as there are float64 lanes from vQ.
func (m *mathEmitter) write(dst operand.Mem, k *mask) {
	switch {
	case m.size == 8:
		m.store(vQ, dst, k, 0)
		return
	case m.wide:
		m.vectors("VCVTPD2PS", vQ, m.narrow(vQ))
	default:
		m.vectors("VCVTPD2PSY", vQ, m.narrow(vQ))
	}
	m.move(m.narrow(vQ), dst, k, 0, m.narrow)
}

// narrow is vector register v with as many float32 as the full width has float64.
func (m *mathEmitter) narrow(v int) reg.Physical {
	if m.wide {
		return m.half(v)
	}
	return m.quarter(v)
}
