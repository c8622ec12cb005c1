package algo_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsbo"
	"dsbo/algo"
	"dsbo/algo/algotest"
)

// A test for each statement of the paper's Algorithms 1-3 and of the text around them.

var steps = algo.MADSBO{Alpha: "0.3", Beta: "0.15", Gamma: "0.1", T: 3, N: 4}

// crew is n agents of MA-DSBO on noisy quadratics that differ, on a ring.
type crew struct {
	agents  []*algo.MADSBO
	os      []dsbo.Oracle
	ms      []*algotest.Mixer
	W       [][]float64
	records []*algotest.Recorder
}

func newCrew(t *testing.T, n int, template algo.MADSBO) crew {
	t.Helper()
	w := crew{W: algotest.Ring(n, 0.4)}
	w.ms = algotest.NewMixers(w.W)
	for _, q := range algotest.NewQuadratics(n, 3, 4, 5) {
		q.Noise = 0.2
		r := algotest.NewRecorder(q)
		w.agents = append(w.agents, ready(t, algo.Clone(&template).(*algo.MADSBO), 3, 4))
		w.os, w.records = append(w.os, r), append(w.records, r)
	}
	return w
}

func (w crew) step(t *testing.T, k int) {
	t.Helper()
	if err := algotest.Step(t.Context(), k, w.agents, w.os, w.ms); err != nil {
		t.Fatal(err)
	}
}

// all collects one vector of each agent.
func (w crew) all(part func(a *algo.MADSBO) []float64) [][]float64 {
	var rows [][]float64
	for _, a := range w.agents {
		rows = append(rows, slices.Clone(part(a)))
	}
	return rows
}

// Algorithm 3, line 1: x_0 = r_0 = 0 and y_0 = 0.
func TestStartIsZero(t *testing.T) {
	a := newCrew(t, 1, steps).agents[0]
	for _, part := range a.State() {
		if norm(part.Value) != 0 {
			t.Errorf("%s starts at %v", part.Name, part.Value)
		}
	}
}

// Algorithm 3, line 3: the y loop starts from y_{k-1}^(T); lines 4-6: its t-th gradient is taken at
// (x_k, y_k^(t)) with the fresh draw ξ̃_k^(t).
func TestYStartsWhereItEnded(t *testing.T) {
	w := newCrew(t, 3, steps)
	w.step(t, 0)
	y, x := slices.Clone(w.agents[0].Y()), slices.Clone(w.agents[0].X())
	w.records[0].Reset()
	w.step(t, 1)
	c := w.records[0].Calls[0]
	if c.Kind != "lower" || !slices.Equal(c.Y, y) || !slices.Equal(c.X, x) {
		t.Errorf("the first gradient is %v at x = %v, y = %v; want x_1 = %v, y_0^(T) = %v", c, c.X, c.Y, x, y)
	}
}

// The draws: ξ̃_{k,t} for the y loop; H_t and b_t with ξ_t and φ_t, t = 1..N−1; b_0 and ∇_x f with φ_0
// (lines 4 and 6 of Algorithm 2, one call); the Jacobian with ξ_0 (line 7). H_N, b_N reach nothing.
func TestDraws(t *testing.T) {
	w := newCrew(t, 1, steps)
	w.step(t, 7)
	var got []string
	for _, c := range w.records[0].Calls {
		got = append(got, c.String())
	}
	want := []string{
		"lower lower k=7 t=0", "lower lower k=7 t=1", "lower lower k=7 t=2",
		"upper upper k=7 t=0",
		"hvp curvature k=7 t=1", "upper upper k=7 t=1",
		"hvp curvature k=7 t=2", "upper upper k=7 t=2",
		"hvp curvature k=7 t=3", "upper upper k=7 t=3",
		"jvp curvature k=7 t=0",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("draws (-want +got):\n%s", d)
	}
	if c := w.records[0].Calls[3]; !c.DX || !c.DY {
		t.Errorf("φ_0 gives ∇_x f: %v, b_0: %v; want both from one call", c.DX, c.DY)
	}
}

// Algorithm 2, lines 6-7: u = ∇_x f(x_k, y_k^(T); φ_0) − J(x_k, y_k^(T); ξ_0) z_N.
func TestUUsesPhi0AndXi0(t *testing.T) {
	w := newCrew(t, 4, steps)
	w.step(t, 0)
	x := w.all((*algo.MADSBO).X)
	w.step(t, 1)
	for i, a := range w.agents {
		u, j := make([]float64, 3), make([]float64, 3)
		w.os[i].UpperGrad(u, nil, x[i], a.Y(), dsbo.Sample{Set: dsbo.Upper, K: 1})
		w.os[i].JVP(j, x[i], a.Y(), a.Z(), dsbo.Sample{Set: dsbo.Curvature, K: 1})
		axpy(u, -1, j)
		if !slices.Equal(u, a.U()) {
			t.Errorf("agent %d: u = %v, want %v", i, a.U(), u)
		}
	}
}

// Algorithm 3, lines 11-12: x moves by the OLD r, and r averages the new u.
func TestXUsesOldR(t *testing.T) {
	w := newCrew(t, 4, steps)
	for k := range 4 {
		x, r := w.all((*algo.MADSBO).X), w.all((*algo.MADSBO).R)
		w.step(t, k)
		alpha := 0.3
		for i, a := range w.agents {
			wantX := mixed(w.W, x)[i]
			axpy(wantX, -alpha, r[i])
			wantR := make([]float64, 3)
			axpy(wantR, 1-alpha, r[i])
			axpy(wantR, alpha, a.U())
			// one rounding a product and a sum of at most 5 terms of size 1
			if d := distance(wantX, a.X()) + distance(wantR, a.R()); d > 1e-14 {
				t.Errorf("iteration %d, agent %d: x and r are off by %g", k, i, d)
			}
		}
		if k == 0 && norm(w.agents[0].X()) != 0 {
			t.Errorf("x_1 = %v: it must be mix(x_0) − α r_0 = 0", w.agents[0].X())
		}
	}
}

func distance(a, b []float64) float64 {
	d := slices.Clone(a)
	axpy(d, -1, b)
	return norm(d)
}

// "All communication steps only include sending vectors": per neighbour Tq + 2Nq + p numbers, and
// z travels with d and x with y: T + N messages.
func TestTraffic(t *testing.T) {
	w := newCrew(t, 4, steps)
	w.step(t, 0)
	for i, m := range w.ms {
		if m.Floats != 3*4+2*4*4+3 || m.Messages != 3+4 {
			t.Errorf("agent %d sent %d numbers in %d messages, want 47 in 7", i, m.Floats, m.Messages)
		}
	}
}

// solver runs HIGP for all agents at a common point and returns the solvers.
func solveHIGP(t *testing.T, qs []*algotest.Quadratic, W [][]float64, x, y []float64, gamma float64, N int) []*algo.HIGP {
	t.Helper()
	var hs []*algo.HIGP
	var as []dsbo.Algorithm
	var os []dsbo.Oracle
	for _, q := range qs {
		h := algo.NewHIGP(len(y))
		hs, os = append(hs, h), append(os, q)
		as = append(as, asAlgorithm(func(o dsbo.Oracle, m dsbo.Mixer) error {
			return h.Solve(t.Context(), 0, o, m, x, y, gamma, N)
		}))
	}
	if err := algotest.Step(t.Context(), 0, as, os, algotest.NewMixers(W)); err != nil {
		t.Fatal(err)
	}
	return hs
}

// Algorithm 1 converges linearly to z* = (Σ H_i)⁻¹ Σ b_i, which is not the mean of H_i⁻¹ b_i (eq. 4).
func TestHIGPConvergesLinearly(t *testing.T) {
	const n, q = 5, 4
	qs := algotest.NewQuadratics(n, 3, q, 3)
	x, y := []float64{0.3, -0.2, 0.5}, []float64{0.1, 0.4, -0.3, 0.2}
	star := algotest.InverseProduct(qs, x, y)
	W := algotest.Ring(n, 0.4)
	last := norm(star)
	for N := 60; N <= 360; N += 60 {
		worst := 0.0
		for _, h := range solveHIGP(t, qs, W, x, y, 0.1, N) {
			worst = max(worst, distance(h.Z(), star))
		}
		// γ μ ≥ 0.1 · 1: 60 steps shrink the error by at least (1 − 0.1/2)^60 ≈ 0.05, half the rate of
		// gradient descent for what the graph takes; below 1e-13 round-off rules
		if worst > max(0.05*last, 1e-13) {
			t.Errorf("N = %d: error %g, %g at N = %d", N, worst, last, N-60)
		}
		last = worst
	}
	local := make([]float64, q)
	for i := range qs {
		axpy(local, 1.0/n, algotest.InverseProduct(qs[i:i+1], x, y))
	}
	if d := distance(local, star); d < 0.01 {
		t.Errorf("the mean of H_i⁻¹ b_i differs from z* by %g only: the problem shows no mismatch", d)
	}
}

// z_1 = −γ d_0 = γ b_0: line 1 starts z at 0 and d at −b_0.
func TestHIGPFirstStep(t *testing.T) {
	qs := algotest.NewQuadratics(3, 3, 4, 9)
	x, y := make([]float64, 3), []float64{1, 2, 3, 4}
	for i, h := range solveHIGP(t, qs, algotest.Ring(3, 0.5), x, y, 0.25, 1) {
		b := make([]float64, 4)
		qs[i].UpperGrad(nil, b, x, y, dsbo.Sample{Set: dsbo.Upper})
		for e := range b {
			if h.Z()[e] != 0.25*b[e] {
				t.Errorf("agent %d: z_1 = %v, b_0 = %v", i, h.Z(), b)
			}
		}
	}
}

// Gradient tracking: the mean of d equals the mean of s at every step, fresh draws or not.
func TestTrackingInvariant(t *testing.T) {
	qs := algotest.NewQuadratics(5, 3, 4, 4)
	for _, q := range qs {
		q.Noise = 0.3
	}
	x, y := []float64{0.3, -0.2, 0.5}, []float64{0.1, 0.4, -0.3, 0.2}
	for N := 1; N <= 8; N++ {
		var ss, ds [][]float64
		for _, h := range solveHIGP(t, qs, algotest.Ring(5, 0.3), x, y, 0.1, N) {
			s, d := h.Tracking()
			ss, ds = append(ss, s), append(ds, d)
		}
		// numbers of size 10, a few hundred roundings of 1e-16 each
		if d := distance(average(ss), average(ds)); d > 1e-13 {
			t.Errorf("N = %d: mean of d and mean of s differ by %g", N, d)
		}
	}
}

// Algorithm 2 at y = y*(x): the mean of u tends to ∇Φ(x) as N grows (eq. 6), whatever the data; the
// mean of local hypergradients does not (eq. 4).
func TestHypergradientIsExactInTheLimit(t *testing.T) {
	const n, p, q = 5, 3, 4
	qs := algotest.NewQuadratics(n, p, q, 11)
	x := []float64{0.4, -0.7, 0.2}
	y, want := algotest.LowerSolution(qs, x), algotest.Gradient(qs, x)
	var us [][]float64
	var as []dsbo.Algorithm
	var os []dsbo.Oracle
	for _, o := range qs {
		h := algo.NewHypergradient(p, q)
		os, us = append(os, o), append(us, h.U())
		as = append(as, asAlgorithm(func(o dsbo.Oracle, m dsbo.Mixer) error { return h.Estimate(t.Context(), 0, o, m, x, y, 0.1, 500) }))
	}
	if err := algotest.Step(t.Context(), 0, as, os, algotest.NewMixers(algotest.Ring(n, 0.4))); err != nil {
		t.Fatal(err)
	}
	if d := distance(average(us), want); d > 1e-12 {
		t.Errorf("mean of u is off by %g", d)
	}
	local := make([]float64, p)
	for i := range qs {
		axpy(local, 1.0/n, algotest.Gradient(qs[i:i+1], x))
	}
	if d := distance(local, want); d < 0.1 {
		t.Errorf("the mean of local hypergradients is off by %g only: the problem shows no mismatch", d)
	}
}

// asAlgorithm lets algotest.Step run a function on every agent.
type asAlgorithm func(o dsbo.Oracle, m dsbo.Mixer) error

func (f asAlgorithm) Step(_ context.Context, _ int, o dsbo.Oracle, m dsbo.Mixer) error {
	return f(o, m)
}
func (asAlgorithm) X() []float64        { return nil }
func (asAlgorithm) Y() []float64        { return nil }
func (asAlgorithm) State() []dsbo.Named { return nil }

// "More inner iterations will not help": T ≥ 1 suffices. With a falling step (Theorem 1) MA-DSBO
// finds the minimum of a deterministic problem for T = 1 as for T = 5.
func TestOneInnerStepSuffices(t *testing.T) {
	const n, p, q = 4, 3, 4
	qs := algotest.NewQuadratics(n, p, q, 21)
	for _, T := range []int{1, 5} {
		start, end := 0.0, 0.0
		w := crew{W: algotest.Ring(n, 0.5)}
		w.ms = algotest.NewMixers(w.W)
		for _, o := range qs {
			a := ready(t, &algo.MADSBO{Alpha: "0.5/sqrt(k+1)", Beta: "0.3/sqrt(k+1)", Gamma: "0.15", T: T, N: 20}, p, q)
			w.agents, w.os = append(w.agents, a), append(w.os, o)
		}
		for k := range 800 {
			if k == 0 {
				start = norm(algotest.Gradient(qs, average(w.all((*algo.MADSBO).X))))
			}
			w.step(t, k)
		}
		end = norm(algotest.Gradient(qs, average(w.all((*algo.MADSBO).X))))
		if !(end < 0.05*start) {
			t.Errorf("T = %d: the gradient went from %g to %g", T, start, end)
		}
		// line 11: mixing keeps the agents together up to the size of the steps
		if c := math.Sqrt(consensus(w.all((*algo.MADSBO).X))); c > 0.1 {
			t.Errorf("T = %d: consensus error of x is %g", T, c)
		}
	}
}
