package main

import "github.com/mmcloughlin/avo/reg"

// The functions: each leaves f(vX) in vQ.

func (m *mathEmitter) fExp() {
	m.op("VMINPD", m.vec(vX), m.vec(vHigh), m.vec(vX))
	m.clamp(vX)
	m.exp(vX)
}

// decay leaves e^−|x| in vQ and keeps x.
func (m *mathEmitter) decay() {
	m.withConstant("VORPD", "sign", m.vec(vX), m.vec(vW))
	m.clamp(vW)
	m.exp(vW)
}

// fSigmoid is 1/(1+e⁻ˣ), or eˣ/(1+eˣ) for negative x.
func (m *mathEmitter) fSigmoid() {
	m.decay()
	m.op("VADDPD", m.vec(vOne), m.vec(vQ), m.vec(vU))
	if m.wide {
		m.op("VPMOVQ2M", m.vec(vX), reg.K2)
	}
	m.selectLanes(vX, vQ, vOne, vQ)
	m.op("VDIVPD", m.vec(vU), m.vec(vQ), m.vec(vQ))
}

// fLog1pExp is max(x, 0) + log(1+e^−|x|).
func (m *mathEmitter) fLog1pExp() {
	m.decay()
	const greater = 30
	m.withConstant("VMULPD", "half", m.vec(vQ), m.vec(vR))
	m.withConstant("VSUBPD", "half", m.vec(vR), m.vec(vR))
	m.compare(greater, "split", vQ)
	m.constantWhere("ln2", vU)
	m.selectLanes(vT, vR, vQ, vR)
	m.atanh()
	m.op("VADDPD", m.vec(vU), m.vec(vQ), m.vec(vQ))
	m.withConstant("VMAXPD", "zero", m.vec(vX), m.vec(vX))
	m.op("VADDPD", m.vec(vX), m.vec(vQ), m.vec(vQ))
}

// fLog is k·log 2 + log m with x = 2ᵏ·m and m between √½ and √2.
func (m *mathEmitter) fLog() {
	const equal, less, notLess = 0, 17, 21
	m.op("VMOVAPD", m.vec(vX), m.vec(vW))
	if m.size == 8 {
		// Numbers below the normal ones are lifted among them. A float32 is none of them here.
		m.compare(less, "tiny", vX)
		m.withConstant("VMULPD", "lift", m.vec(vX), m.vec(vR))
		m.selectLanes(vT, vR, vX, vX)
		m.constantWhere("lifted", vU)
	}
	m.withConstant("VPSUBQ", "root", m.vec(vX), m.vec(vT))
	m.withConstant("VANDPD", "exponent", m.vec(vT), m.vec(vN))
	m.op("VPSUBQ", m.vec(vN), m.vec(vX), m.vec(vR)) // m
	m.withConstant("VPADDQ", "biased", m.vec(vN), m.vec(vN))
	m.op("VPSRLQ", 52, m.vec(vN), m.vec(vN))
	m.withConstant("VORPD", "whole", m.vec(vN), m.vec(vN))
	m.withConstant("VSUBPD", "wholeBias", m.vec(vN), m.vec(vN)) // k
	if m.size == 8 {
		m.op("VSUBPD", m.vec(vU), m.vec(vN), m.vec(vN))
	}
	m.op("VSUBPD", m.vec(vOne), m.vec(vR), m.vec(vR))
	m.atanh()
	m.withConstant("VFMADD231PD", "ln2lo", m.vec(vN), m.vec(vQ))
	m.withConstant("VFMADD231PD", "ln2hi", m.vec(vN), m.vec(vQ))
	for _, c := range []struct {
		predicate      int
		limit, becomes string
	}{{equal, "zero", "negInf"}, {less, "zero", "nan"}, {notLess, "inf", ""}} {
		m.compare(c.predicate, c.limit, vW)
		from := vW // x itself: +Inf or NaN
		if c.becomes != "" {
			from = vU
			m.fill(vU, c.becomes)
		}
		m.selectLanes(vT, from, vQ, vQ)
	}
}

// compare compares register v with a constant, for selectLanes with mask vT.
func (m *mathEmitter) compare(predicate int, constant string, v int) {
	if m.wide {
		m.op("VCMPPD_BCST", predicate, m.constant(constant), m.vec(v), reg.K2)
	} else {
		m.op("VCMPPD", predicate, m.constant(constant), m.vec(v), m.vec(vT))
	}
}

// atanh leaves log(1+f) = 2·atanh(f/(2+f)) in vQ, for f in vR. It uses vT.
func (m *mathEmitter) atanh() {
	m.withConstant("VADDPD", "two", m.vec(vR), m.vec(vT))
	m.op("VADDPD", m.vec(vR), m.vec(vR), m.vec(vR))
	m.op("VDIVPD", m.vec(vT), m.vec(vR), m.vec(vR))
	m.op("VMULPD", m.vec(vR), m.vec(vR), m.vec(vT))
	m.series("log", 1, m.terms(logTerms64, logTerms32), vT, vQ)
	m.op("VMULPD", m.vec(vT), m.vec(vQ), m.vec(vQ))
	m.op("VFMADD213PD", m.vec(vR), m.vec(vR), m.vec(vQ))
}

// fTanh is −d/(2+d) with d = e^−2|x| − 1, and the sign of x.
func (m *mathEmitter) fTanh() {
	m.withConstant("VORPD", "sign", m.vec(vX), m.vec(vW))
	m.op("VADDPD", m.vec(vW), m.vec(vW), m.vec(vW))
	m.clamp(vW)
	m.expm1(vW)
	m.withConstant("VADDPD", "two", m.vec(vQ), m.vec(vU))
	m.op("VDIVPD", m.vec(vU), m.vec(vQ), m.vec(vQ))
	m.signOf(vX)
}

// signOf gives vQ the sign of register x, which it changes.
func (m *mathEmitter) signOf(x int) {
	m.withConstant("VANDPD", "abs", m.vec(vQ), m.vec(vQ))
	m.withConstant("VANDPD", "sign", m.vec(x), m.vec(x))
	m.op("VORPD", m.vec(x), m.vec(vQ), m.vec(vQ))
}

// The end of erf's polynomials, where it is next to 1, and their coefficients: of −g/x for 0 ≤ x ≤
// end, nearest in the relative error of erf that they make, by Remez's exchange. That error is
// 7e-17, and 4e-10 for float32.
const erfEnd64, erfEnd32 = 6, 4

var (
	erfTerms64 = []float64{
		-0x1.20dd750429b6dp+0, -0x1.45f306dc9c98ap-1, -0x1.a4f4e2a19441ep-4, 0x1.3966858875a29p-6,
		0x1.b6b6d4c3b7f4fp-13, -0x1.bca6c2730409ep-10,
		0x1.35682586553f0p-11, -0x1.b3731be652950p-16, -0x1.0da7c294da549p-14, 0x1.ebfd61c09c6ebp-16,
		-0x1.777a6e2ba4843p-19, -0x1.de39e4e030039p-19,
		0x1.45f4737350f75p-19, -0x1.c9edda1c91bf4p-21, 0x1.7514dcb7fdc81p-23, -0x1.1add0789929ebp-27,
		-0x1.0cd4f02340fccp-27, 0x1.b2af8dbf0be45p-29,
		-0x1.775cf792ba7c1p-31, 0x1.a4e21b63e4b96p-34, -0x1.3382aab4e4eafp-37, 0x1.0c3fa3178e7b3p-41,
		-0x1.aa0e0df55b475p-47,
	}
	erfTerms32 = []float64{
		-0x1.20dd75025da38p+0, -0x1.45f308e3a14a0p-1, -0x1.a4f3838139a05p-4, 0x1.3939c2421e174p-6,
		0x1.09294cd2ddba1p-12, -0x1.d7a088db65743p-10,
		0x1.843cadc133babp-11, -0x1.5f108f6176e6bp-13, 0x1.65f4b9ca51acdp-16, -0x1.3fd77435e965fp-20,
	}
)

// fErf is 1 − e^−g, and the sign of x.
func (m *mathEmitter) fErf() {
	series, terms, end := "erf", len(erfTerms64), "end64"
	if m.size == 4 {
		series, terms, end = "short", len(erfTerms32), "end32"
	}
	m.withConstant("VANDPD", "abs", m.vec(vX), m.vec(vW))
	m.fill(vU, end)
	m.op("VMINPD", m.vec(vW), m.vec(vU), m.vec(vW)) // a NaN, which comes last, stays
	m.series(series, 0, terms, vW, vQ)
	m.op("VMULPD", m.vec(vQ), m.vec(vW), m.vec(vW))
	m.expm1(vW)
	m.signOf(vX)
}
