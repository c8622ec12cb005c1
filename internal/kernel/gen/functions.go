package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/reg"
)

// The functions: each leaves f(vX) in vQ.

func (m *mathEmitter) fExp() {
	m.vectors("VMINPD", vX, vHigh, vX)
	m.clamp(vX)
	m.exp(vX)
}

// decay leaves e^−|x| in vQ and keeps x.
func (m *mathEmitter) decay() {
	m.withConstant("VORPD", "sign", vX, vW)
	m.clamp(vW)
	m.exp(vW)
}

// fSigmoid is 1/(1+e⁻ˣ), or eˣ/(1+eˣ) for negative x.
func (m *mathEmitter) fSigmoid() {
	m.decay()
	m.vectors("VADDPD", vOne, vQ, vU)
	m.signSelects(vX, vQ, vOne, vQ)
	m.vectors("VDIVPD", vU, vQ, vQ)
}

// fLog1pExp is max(x, 0) + log(1+e^−|x|).
func (m *mathEmitter) fLog1pExp() {
	m.decay()
	const greater = 30
	m.withConstant("VMULPD", "half", vQ, vR)
	m.withConstant("VSUBPD", "half", vR, vR)
	m.compareWith(greater, "split", vQ)
	m.constantWhere("ln2", vU)
	m.selectLanes(vT, vR, vQ, vR)
	m.atanh()
	m.vectors("VADDPD", vU, vQ, vQ)
	m.withConstant("VMAXPD", "zero", vX, vX)
	m.vectors("VADDPD", vX, vQ, vQ)
}

// fLog is k·log 2 + log m with x = 2ᵏ·m and m between √½ and √2.
func (m *mathEmitter) fLog() {
	const equal, less, notLess = 0, 17, 21
	m.vectors("VMOVAPD", vX, vW)
	if m.size == 8 {
		// Numbers below the normal ones are lifted among them. A float32 is none of them here.
		m.compareWith(less, "tiny", vX)
		m.withConstant("VMULPD", "lift", vX, vR)
		m.selectLanes(vT, vR, vX, vX)
		m.constantWhere("lifted", vU)
	}
	m.withConstant("VPSUBQ", "root", vX, vT)
	m.withConstant("VANDPD", "exponent", vT, vN)
	m.vectors("VPSUBQ", vN, vX, vR) // m
	m.withConstant("VPADDQ", "biased", vN, vN)
	m.vectors("VPSRLQ", immediate(52), vN, vN)
	m.withConstant("VORPD", "whole", vN, vN)
	m.withConstant("VSUBPD", "wholeBias", vN, vN) // k
	if m.size == 8 {
		m.vectors("VSUBPD", vU, vN, vN)
	}
	m.vectors("VSUBPD", vOne, vR, vR)
	m.atanh()
	m.withConstant("VFMADD231PD", "ln2lo", vN, vQ)
	m.withConstant("VFMADD231PD", "ln2hi", vN, vQ)
	for _, c := range []struct {
		predicate      int
		limit, becomes string
	}{{equal, "zero", "negInf"}, {less, "zero", "nan"}, {notLess, "inf", ""}} {
		m.compareWith(c.predicate, c.limit, vW)
		from := vW // x itself: +Inf or NaN
		if c.becomes != "" {
			from = vU
			m.fill(vU, c.becomes)
		}
		m.selectLanes(vT, from, vQ, vQ)
	}
}

// compareWith compares register v with a constant, for selectLanes with mask vT.
func (m *mathEmitter) compareWith(predicate int, constant string, v int) {
	if m.wide {
		m.vectors("VCMPPD_BCST", immediate(predicate), m.constant(constant), v, reg.K2)
	} else {
		m.vectors("VCMPPD", immediate(predicate), m.constant(constant), v, vT)
	}
}

// atanh leaves log(1+f) = 2·atanh(f/(2+f)) in vQ, for f in vR. It uses vT.
func (m *mathEmitter) atanh() {
	m.withConstant("VADDPD", "two", vR, vT)
	m.vectors("VADDPD", vR, vR, vR)
	m.vectors("VDIVPD", vT, vR, vR)
	m.vectors("VMULPD", vR, vR, vT)
	m.series("log", 1, m.terms(logTerms64, logTerms32), vT, vQ)
	m.vectors("VMULPD", vT, vQ, vQ)
	m.vectors("VFMADD213PD", vR, vR, vQ)
}

// fTanh is −d/(2+d) with d = e^−2|x| − 1, and the sign of x.
func (m *mathEmitter) fTanh() {
	m.withConstant("VORPD", "sign", vX, vW)
	m.vectors("VADDPD", vW, vW, vW)
	m.clamp(vW)
	m.expm1(vW)
	m.withConstant("VADDPD", "two", vQ, vU)
	m.vectors("VDIVPD", vU, vQ, vQ)
	m.signOf(vX)
}

// signOf gives vQ the sign of register x, which it changes.
func (m *mathEmitter) signOf(x int) {
	m.withConstant("VANDPD", "abs", vQ, vQ)
	m.withConstant("VANDPD", "sign", x, x)
	m.vectors("VORPD", x, vQ, vQ)
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
	m.withConstant("VANDPD", "abs", vX, vW)
	m.fill(vU, fmt.Sprint("end", m.size))
	m.vectors("VMINPD", vW, vU, vW) // a NaN, which comes last, stays
	m.polynomial("erf", vW, vQ)
	m.vectors("VMULPD", vQ, vW, vW)
	m.expm1(vW)
	m.signOf(vX)
}

// The normal distribution: with Q(z) its tail beyond z ≥ 0 and φ its density, φ/Q − z is a
// polynomial of t = (z − m)/(z + m) over z + m, t from −1 to 1. The polynomial interpolates at
// Chebyshev's points; its error is 5e-17 of the value, and 3e-10 for float32.
const millsMiddle = 3

var (
	millsTerms64 = []float64{
		0x1.b2d6ebb2ce8ffp+0, -0x1.aede2c42fdfbep-1, 0x1.19337485e350ap-6, 0x1.7c500fb505de3p-3,
		-0x1.a0b9138b8c7a2p-6, -0x1.bf9976337a6fbp-5, 0x1.f89c93295e299p-8, 0x1.2dfa290b39455p-6,
		-0x1.ee57ee58246eap-11, -0x1.a190bf8559b72p-8, -0x1.4c66ce288b69cp-11, 0x1.0bd91d0b27c0bp-9,
		0x1.40f03c59f94b8p-11, -0x1.1c3a4dcea6ed9p-11, -0x1.529e3d29edd47p-12, 0x1.80df09477f82cp-14,
		0x1.009f5ebaa372bp-13, 0x1.7a4c74ccf5878p-18, -0x1.15336a799a1c4p-15, -0x1.6cd10f65b1377p-17,
		0x1.61516cfe99013p-18, 0x1.14b24fa80fbbap-18, 0x1.c59f996123ea0p-26, -0x1.b62a1596317adp-21,
		-0x1.c9a0f4e76cbc2p-23, 0x1.1a2837002f16ap-24, 0x1.228d33dac1b22p-25, 0x1.1dc59991be67fp-29,
	}
	millsTerms32 = []float64{
		0x1.b2d6ebb26a9b0p+0, -0x1.aede2c2a40cb6p-1, 0x1.19338499f87a6p-6, 0x1.7c4ffd2c26363p-3,
		-0x1.a0bac94b85718p-6, -0x1.bf956ae61b835p-5, 0x1.f8e4b103c3f97p-8, 0x1.2dc799a9cbce5p-6,
		-0x1.fa599e6f62879p-11, -0x1.9ef6aac5284a7p-8, -0x1.27fa628780b7fp-11, 0x1.0247505386020p-9,
		0x1.fd0ecb58b3cfcp-12, -0x1.ebf95ceb83a7ap-12, -0x1.7ea3755fedee2p-13, 0x1.fbc5aa1f02d47p-15,
		0x1.f9ccb59c5d165p-16,
	}
)

// Registers of the normal distribution: φ/Q − z, and what rounding took off −z²/2.
const vExcess, vLost = 7, 8

// fInverseMills is z + (φ/Q − z) for x = −z, and for positive x φ/(1 − Q).
func (m *mathEmitter) fInverseMills() {
	m.millsRatios()
	m.signSelects(vX, vU, vQ, vQ)
}

// fMillsExcess is x more than fInverseMills.
func (m *mathEmitter) fMillsExcess() {
	m.millsRatios()
	m.vectors("VADDPD", vX, vQ, vQ)
	m.signSelects(vX, vExcess, vQ, vQ)
}

// fNormalCDF is Q for x = −z, and 1 − Q for positive x.
func (m *mathEmitter) fNormalCDF() {
	m.density()
	m.vectors("VDIVPD", vU, vQ, vU)
	m.vectors("VSUBPD", vU, vOne, vQ)
	m.signSelects(vX, vU, vQ, vQ)
}

// millsRatios leaves φ/Q in vU, φ/(1 − Q) in vQ, and what the first is more than |x| in vExcess.
func (m *mathEmitter) millsRatios() {
	m.density()
	m.vectors("VDIVPD", vU, vQ, vR)
	m.vectors("VSUBPD", vR, vOne, vR)
	m.vectors("VDIVPD", vR, vQ, vQ)
}

// density leaves φ/Q in vU, φ in vQ, and what the first is more than |x| in vExcess.
func (m *mathEmitter) density() {
	m.withConstant("VANDPD", "abs", vX, vW)
	m.withConstant("VADDPD", "middle", vW, vR)
	m.vectors("VDIVPD", vR, vOne, vR) // 1/(z + m)
	m.vectors("VMOVAPD", vR, vT)
	m.fill(vU, "twiceMiddle")
	m.vectors("VFNMADD213PD", vOne, vU, vT)
	m.polynomial("mills", vT, vQ)
	m.vectors("VMULPD", vR, vQ, vExcess)
	m.vectors("VADDPD", vExcess, vW, vU)

	// φ is e^(−z²/2) by the square as it is rounded, and by the first term of the rest.
	m.vectors("VMINPD", vW, vHigh, vW) // a NaN, which comes last, stays
	m.vectors("VMULPD", vW, vW, vR)
	m.vectors("VFMSUB213PD", vR, vW, vW)
	m.withConstant("VMULPD", "minusHalf", vW, vLost)
	m.withConstant("VMULPD", "minusHalf", vR, vW)
	m.clamp(vW)
	m.exp(vW)
	m.vectors("VFMADD231PD", vLost, vQ, vQ)
	m.withConstant("VMULPD", "density", vQ, vQ)
}

// signSelects sets dst to yes where register v is negative, else to no.
func (m *mathEmitter) signSelects(v, yes, no, dst int) {
	if m.wide {
		m.vectors("VPMOVQ2M", v, reg.K2)
	}
	m.selectLanes(v, yes, no, dst)
}
