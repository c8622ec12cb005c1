package main

import (
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/train/exact"
)

func testLab() *lab { return &lab{out: io.Discard, quick: true, seed: 1} }

// A short version of Theorem 3.3 on the quadratic problem, with the thresholds of the full one.
func TestSlopes(t *testing.T) {
	if testing.Short() {
		t.Skip("a second")
	}
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

// Counts equal formulas, and a wrong formula is found.
func TestTraffic(t *testing.T) {
	for _, e := range entrants() {
		e.measure(t.Context(), 7, 3, 1)
		right := e.traffic
		e.traffic = func(d int) int { return right(d) + 1 }
		if err := testkit.Catch(func() { e.measure(t.Context(), 7, 3, 1) }); err == nil ||
			!strings.Contains(err.Error(), "the table's") {
			t.Errorf("%s with a wrong formula: %v", e.method, err)
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

// On a quadratic the flow is linear: ∇Φ(x(t)) = exp(−Qt) ∇Φ(0), with the columns of Q from
// exact gradients.
func TestFlow(t *testing.T) {
	c := quadratics{n: 2, p: 2, q: 3, low: 1, high: 3, coupling: 0.5, differ: 1, seed: 1}
	p := c.problem(0)
	gradient := func(x ...float64) *mat.VecDense {
		solver := exact.Solver{Oracles: p.Evaluate, Tol: 1e-12, AdjointTol: 1e-12}
		s := testkit.Get(solver.Solve(t.Context(), x))
		return mat.NewVecDense(2, s.Gradient)
	}
	const K = 4 // t = 2
	states := flowAlong(t.Context(), theorem{of: c.problem, a: 1}, []int{1, K})
	start := gradient(0, 0)
	q, e := mat.NewDense(2, 2, nil), mat.Dense{}
	for j, x := range [][]float64{{1, 0}, {0, 1}} {
		var column mat.VecDense
		column.SubVec(gradient(x...), start)
		q.SetCol(j, column.RawVector().Data)
	}
	q.Scale(-2, q)
	e.Exp(q)
	var want mat.VecDense
	want.MulVec(&e, start)
	// Each step may be off by 1e-3 in x by the lower-order method, and by much less in fact.
	if got, want := math.Sqrt(states[1].gradient2), mat.Norm(&want, 2); math.Abs(got-want) > 0.01*want {
		t.Errorf("‖∇Φ‖ = %.5g at t = 2, want %.5g", got, want)
	}
	if !(states[1].phi < states[0].phi && states[1].least <= states[0].least) {
		t.Errorf("Φ does not fall: %+v", states)
	}
	var sum mat.SymDense
	sum.AddSym(mat.NewSymDense(3, c.agents()[0].A), mat.NewSymDense(3, c.agents()[1].A))
	var eigen mat.EigenSym
	if !eigen.Factorize(&sum, false) {
		t.Fatal("no eigenvalues")
	}
	if least := slices.Min(eigen.Values(nil)) / 2; math.Abs(states[0].strong-least) > 1e-9 {
		t.Errorf("least eigenvalue %g, want %g", states[0].strong, least)
	}
}
