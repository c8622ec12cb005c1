package main

import (
	"context"
	"io"
	"math"
	"strings"
	"testing"

	"dsbo/network"
)

func contextThatEnds(t *testing.T) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithCancel(t.Context())
}

func testLab() *lab { return &lab{out: io.Discard, quick: true, seed: 1} }

// A short version of Theorem 3.3 on the quadratic problem, with the thresholds of the full one.
func TestSlopes(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds")
	}
	th := stochasticQuadratic(testLab(), 1)
	var ks, grad, cons []float64
	for _, K := range []int{100, 400, 1600} {
		r, err := th.measure(t.Context(), K, 2)
		if err != nil {
			t.Fatal(err)
		}
		ks, grad, cons = append(ks, float64(K)), append(grad, r.minGrad), append(cons, r.consensus)
	}
	for _, c := range []struct {
		what string
		y    []float64
		most float64
	}{{"least gradient²", grad, -0.45}, {"consensus error", cons, -0.9}} {
		s, err := slope(ks, c.y)
		if err != nil || s > c.most {
			t.Errorf("%s falls as K^%.3f (%v), want at most K^%g", c.what, s, err, c.most)
		}
	}
}

// HIGP's measured factor is the spectral radius of its iteration, and its limit is the formula's.
func TestHIGPFactor(t *testing.T) {
	ring, err := network.Ring(8, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	s, err := newInverseProduct(unlike(testLab()), ring.W)
	if err != nil {
		t.Fatal(err)
	}
	d, err := s.decay(t.Context(), 0.1/s.lmax, 250)
	if err != nil {
		t.Fatal(err)
	}
	radius, err := s.radius(0.1 / s.lmax)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(d.factor-radius) > 0.002 || d.straight < 0.99 || radius >= 1 {
		t.Errorf("factor %.4f a step, spectral radius %.4f, straightness %.4f", d.factor, radius, d.straight)
	}
	alike := unlike(testLab())
	alike.differ = 0
	for _, w := range []float64{0.3, 0.8} {
		g, err := network.Ring(8, w)
		if err != nil {
			t.Fatal(err)
		}
		s, err := newInverseProduct(alike, g.W)
		if err != nil {
			t.Fatal(err)
		}
		limit, err := s.limit()
		if want := math.Pow(1+g.W.LambdaMin(), 2) / 2; err != nil || math.Abs(limit-want) > 1e-4 {
			t.Errorf("w = %g: stable up to %.5f/L_max (%v), want %.5f", w, limit, err, want)
		}
	}
}

// Counts equal formulas, and a wrong formula is found.
func TestTraffic(t *testing.T) {
	for _, e := range entrants() {
		if _, err := e.measure(t.Context(), 7, 3, 1); err != nil {
			t.Error(err)
		}
		right := e.traffic
		e.traffic = func(d, T, N int) int { return right(d, T, N) + 1 }
		if _, err := e.measure(t.Context(), 7, 3, 1); err == nil || !strings.Contains(err.Error(), "the table's") {
			t.Errorf("%s with a wrong formula: %v", e.method, err)
		}
	}
}

func TestMismatch(t *testing.T) {
	ring, err := network.Ring(8, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	c := logistic{n: 8, p: 6, examples: 40, rate: 0.5, weight: 1, seed: 1}
	p, err := c.problem(0)
	if err != nil {
		t.Fatal(err)
	}
	b, err := biasesAt(t.Context(), p, ring.W, make([]float64, c.p), []int{20, 300})
	if err != nil {
		t.Fatal(err)
	}
	if !(b.local > 0.05 && b.mdbo > 0.01 && b.higp[1] < 1e-5 && b.higp[1] < b.higp[0]) {
		t.Errorf("local %.3g, MDBO %.3g, HIGP %.3g", b.local, b.mdbo, b.higp)
	}
}

func TestOptimum(t *testing.T) {
	p, err := composition{n: 6, p: 4, q: 6, seed: 1}.problem(0)
	if err != nil {
		t.Fatal(err)
	}
	o, err := solve(t.Context(), p)
	if err != nil || o.gradient > 1e-12 {
		t.Errorf("gradient %.3g at the optimum, %v", o.gradient, err)
	}
}
