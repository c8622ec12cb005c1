package main

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"dsbo/internal/testkit"
	"dsbo/network"
)

func testLab() *lab { return &lab{out: io.Discard, quick: true, seed: 1} }

// A short version of Theorem 3.3 on the quadratic problem, with the thresholds of the full one.
func TestSlopes(t *testing.T) {
	testkit.Long(t, "a second")
	th := stochasticQuadratic(testLab())
	r := th.rates(t.Context(), []int{200, 800}, 1)
	for _, c := range []struct {
		what string
		y    []float64
		most float64
	}{{"least gradient²", r.minGrad, -0.45}, {"consensus error", r.consensus, -0.9}} {
		if s := slope(r.k, c.y); s > c.most {
			t.Errorf("%s falls as K^%.3f, want at most K^%g", c.what, s, c.most)
		}
	}
}

// HIGP's measured factor is the spectral radius of its iteration, and its limit is the formula's.
func TestHIGPFactor(t *testing.T) {
	s := newInverseProduct(unlikeAgents(testLab()), ring(8))
	d := s.decay(t.Context(), 0.1/s.lmax, 250)
	radius := s.radius(0.1 / s.lmax)
	if math.Abs(d.factor-radius) > 0.002 || d.rSquared < 0.99 || radius >= 1 {
		t.Errorf("factor %.4f a step, spectral radius %.4f, straightness %.4f", d.factor, radius, d.rSquared)
	}
	alike := unlikeAgents(testLab())
	alike.differ = 0
	for _, w := range []float64{0.3, 0.8} {
		g := testkit.Get(network.Ring(8, w))
		s := newInverseProduct(alike, g.W)
		limit := s.limit()
		if want := math.Pow(1+g.W.LambdaMin(), 2) / 2; math.Abs(limit-want) > 1e-4 {
			t.Errorf("w = %g: stable up to %.5f/L_max, want %.5f", w, limit, want)
		}
	}
}

func TestMismatch(t *testing.T) {
	c := logistic{n: 8, p: 6, examples: 40, rate: 0.5, weight: 1, seed: 1}
	p := c.problem(0)
	b := biasesAt(t.Context(), p, ring(8), make([]float64, c.p), []int{20, 300})
	if !(b[0] > 0.05 && b[1] > 0.01 && b[3] < 1e-5 && b[3] < b[2]) {
		t.Errorf("local %.3g, MDBO %.3g, HIGP %.3g", b[0], b[1], b[2:])
	}
}

// TestBiasFallsByOrder: as λ doubles bias halves with order 1 and quarters with order 2, by all
// methods with a penalty. Of ν = 1/λ it is c₁ν + c₂ν² + ..., or c₂ν² + c₄ν⁴ + ...: each further
// ν comes with a further factor (∇²_yy g)⁻¹∇²_yy f, of about L_f/μ_g, below 4 here. From λ = 80 to
// 160 the ratios are 2 and 4, to about 4/80 and 3 (4/80)².
func TestBiasFallsByOrder(t *testing.T) {
	for seed := range testkit.Sized[uint64](1, 1, 3) {
		l := testLab()
		var out bytes.Buffer
		l.out, l.seed = &out, seed+1
		order2(t.Context(), l)
		for order := 1; order <= 2; order++ {
			if !strings.Contains(out.String(), fmt.Sprintf("\nholds: order %d: from λ = 80 to 160", order)) {
				t.Errorf("seed %d, order %d:\n%s", l.seed, order, out.String())
			}
		}
	}
}
