package algo_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"dsbo"
	"dsbo/algo"
	"dsbo/algo/algotest"
	"dsbo/internal/testkit"
)

// Tests for statements of the paper's Algorithms 1-3 and of the text around them. What the lines
// say one by one, from which point and draw each quantity is taken and which r moves x, is
// in [TestLiteralTwin].

var steps = algo.MADSBO{Alpha: "0.3", Beta: "0.15", Gamma: "0.1", T: 3, N: 4}

// crew is n agents of MA-DSBO on noisy quadratics that differ, on a ring.
type crew struct {
	agents []*algo.MADSBO
	os     []dsbo.Oracle
	ms     []*algotest.Mixer
	W      [][]float64
}

func newCrew(t *testing.T, n int, template algo.MADSBO) crew {
	t.Helper()
	w := crew{W: algotest.Ring(n, 0.4)}
	w.ms = algotest.NewMixers(w.W)
	for _, q := range algotest.NewQuadratics(n, 3, 4, 5) {
		q.Noise = 0.2
		w.agents = append(w.agents, ready(t, algo.Clone(&template).(*algo.MADSBO), 3, 4))
		w.os = append(w.os, q)
	}
	return w
}

func (w crew) step(t *testing.T, k int) {
	t.Helper()
	testkit.OK(algotest.Step(t.Context(), k, w.agents, w.os, w.ms))
}

func distance(a, b []float64) float64 {
	d := slices.Clone(a)
	axpy(d, -1, b)
	return norm(d)
}

// solveHIGP runs HIGP for all agents at a common point and returns the solvers.
func solveHIGP(t *testing.T, qs []*algotest.Quadratic, W [][]float64, x, y []float64, gamma float64,
	N int) []*algo.HIGP {
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
	iterate(t, 1, as, os, algotest.NewMixers(W))
	return hs
}

// Algorithm 1 converges linearly to z* = (Σ H_i)⁻¹ Σ b_i, which is not the mean of H_i⁻¹ b_i
// (eq. 4).
func TestHIGPConvergesLinearly(t *testing.T) {
	const n, q = 5, 4
	qs := algotest.NewQuadratics(n, 3, q, 3)
	x, y := []float64{0.3, -0.2, 0.5}, []float64{0.1, 0.4, -0.3, 0.2}
	star := algotest.Solve(qs).InverseProduct(y)
	W := algotest.Ring(n, 0.4)
	last := norm(star)
	for N := 60; N <= 360; N += 60 {
		worst := 0.0
		for _, h := range solveHIGP(t, qs, W, x, y, 0.1, N) {
			worst = max(worst, distance(h.Z(), star))
		}
		// γ μ ≥ 0.1 · 1: 60 steps shrink the error by at least (1 − 0.1/2)^60 ≈ 0.05, half the rate
		// of gradient descent for what the graph takes; below 1e-13 round-off rules
		if worst > max(0.05*last, 1e-13) {
			t.Errorf("N = %d: error %g, %g at N = %d", N, worst, last, N-60)
		}
		last = worst
	}
	local := make([]float64, q)
	for i := range qs {
		axpy(local, 1.0/n, algotest.Solve(qs[i:i+1]).InverseProduct(y))
	}
	if d := distance(local, star); d < 0.01 {
		t.Errorf("the mean of H_i⁻¹ b_i differs from z* by %g only: the problem shows no mismatch", d)
	}
}

// Algorithm 2 at y = y*(x): the mean of u tends to ∇Φ(x) as N grows (eq. 6), whatever the data; the
// mean of local hypergradients does not (eq. 4).
func TestHypergradientIsExactInTheLimit(t *testing.T) {
	const n, p, q = 5, 3, 4
	qs := algotest.NewQuadratics(n, p, q, 11)
	x := []float64{0.4, -0.7, 0.2}
	exact := algotest.Solve(qs)
	y, want := exact.LowerSolution(x), exact.Gradient(x)
	var us [][]float64
	var as []dsbo.Algorithm
	var os []dsbo.Oracle
	for _, o := range qs {
		h := algo.NewHypergradient(p, q)
		os, us = append(os, o), append(us, h.U())
		as = append(as, asAlgorithm(func(o dsbo.Oracle, m dsbo.Mixer) error {
			return h.Estimate(t.Context(), 0, o, m, x, y, 0.1, 500)
		}))
	}
	iterate(t, 1, as, os, algotest.NewMixers(algotest.Ring(n, 0.4)))
	if d := distance(average(us), want); d > 1e-12 {
		t.Errorf("mean of u is off by %g", d)
	}
	local := make([]float64, p)
	for i := range qs {
		axpy(local, 1.0/n, algotest.Solve(qs[i:i+1]).Gradient(x))
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
		as, os := agentsOn(qs, func() algo.Method {
			m := &algo.MADSBO{Alpha: "0.5/sqrt(k+1)", Beta: "0.3/sqrt(k+1)", Gamma: "0.15", T: T, N: 20}
			return ready(t, m, p, q)
		})
		start := norm(algotest.Solve(qs).Gradient(make([]float64, p)))
		iterate(t, 800, as, os, algotest.NewMixers(algotest.Ring(n, 0.5)))
		xs := each(as, algo.Method.X)
		end := norm(algotest.Solve(qs).Gradient(average(xs)))
		if !(end < 0.05*start) {
			t.Errorf("T = %d: the gradient went from %g to %g", T, start, end)
		}
		// line 11: mixing keeps the agents together up to the size of the steps
		if c := math.Sqrt(consensus(xs)); c > 0.1 {
			t.Errorf("T = %d: consensus error of x is %g", T, c)
		}
	}
}

// A dumb twin: Algorithms 1-3 for all agents at once, as printed, with T + 2N + 1 exchanges, each
// vector by itself, and s_N and d_N computed. The bits must be the method's.
func TestLiteralTwin(t *testing.T) {
	for _, c := range []struct{ n, T, N int }{{1, 1, 1}, {2, 1, 3}, {4, 3, 4}, {5, 2, 1}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			p := steps
			p.T, p.N, p.Alpha, p.Beta = c.T, c.N, "0.5/sqrt(k+1)", "0.2,0.1,0.15"
			w := newCrew(t, c.n, p)
			twin := newTwin(w)
			for k := range 5 {
				w.step(t, k)
				twin.step(t, k, p)
				for i, a := range w.agents {
					got := [][]float64{a.X(), a.R(), a.Y(), algo.TraitsOf(a).Z, algo.TraitsOf(a).U}
					want := [][]float64{twin.x[i], twin.r[i], twin.y[i], twin.z[i], twin.u[i]}
					if !slices.EqualFunc(got, want, slices.Equal) {
						t.Fatalf("iteration %d, agent %d: x, r, y, z, u = %v\nthe literal algorithm has %v",
							k, i, got, want)
					}
				}
			}
		})
	}
}

type twin struct {
	os            []dsbo.Oracle
	W             [][]float64
	x, r, y, z, u [][]float64
}

func newTwin(w crew) *twin {
	n := len(w.os)
	return &twin{os: w.os, W: w.W, x: matrix(n, 3), r: matrix(n, 3), y: matrix(n, 4), z: matrix(n, 4), u: matrix(n, 3)}
}

func matrix(n, m int) [][]float64 {
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, m)
	}
	return rows
}

// mix is Σ_j w_ij v_j over agent i and its neighbours, in order, each product rounded.
func mix(W, v [][]float64) [][]float64 {
	out := matrix(len(v), len(v[0]))
	for i := range v {
		for j, w := range W[i] {
			if w != 0 {
				for e := range out[i] {
					out[i][e] += float64(w * v[j][e])
				}
			}
		}
	}
	return out
}

// each asks all agents and stacks the answers.
func (tw *twin) each(m int, ask func(i int, o dsbo.Oracle, dst []float64)) [][]float64 {
	out := matrix(len(tw.os), m)
	for i, o := range tw.os {
		ask(i, o, out[i])
	}
	return out
}

// linear is a + c·b, the product rounded.
func linear(a [][]float64, c float64, b [][]float64) [][]float64 {
	out := matrix(len(a), len(a[0]))
	for i := range a {
		for e := range a[i] {
			out[i][e] = a[i][e] + float64(c*b[i][e])
		}
	}
	return out
}

func (tw *twin) step(t *testing.T, k int, c algo.MADSBO) {
	alpha, beta, gamma := number(t, c.Alpha, k), number(t, c.Beta, k), number(t, c.Gamma, k)
	at := func(set dsbo.Set, t int) dsbo.Sample { return dsbo.Sample{Set: set, K: k, T: t} }
	// lines 3-6: from where the last iteration left y, at the old x, each step with a draw of
	// its own
	for t := range c.T {
		v := tw.each(4, func(i int, o dsbo.Oracle, dst []float64) {
			o.LowerGrad(dst, tw.x[i], tw.y[i], at(dsbo.Lower, t))
		})
		tw.y = linear(mix(tw.W, tw.y), -beta, v)
	}
	b := func(t int) [][]float64 {
		return tw.each(4, func(i int, o dsbo.Oracle, dst []float64) {
			o.UpperGrad(nil, dst, tw.x[i], tw.y[i], at(dsbo.Upper, t))
		})
	}
	zero := matrix(len(tw.os), 4)
	// Algorithm 1: z starts at 0 and d at −b_0
	z, s := zero, linear(zero, -1, b(0))
	d := s
	for t := range c.N {
		z = linear(mix(tw.W, z), -gamma, d)
		hz := tw.each(4, func(i int, o dsbo.Oracle, dst []float64) {
			o.HVP(dst, tw.x[i], tw.y[i], z[i], at(dsbo.Curvature, t+1))
		})
		s1 := linear(hz, -1, b(t+1))
		d = linear(linear(mix(tw.W, d), 1, s1), -1, s)
		s = s1
	}
	tw.z = z
	// Algorithm 2, lines 6 and 7: ∇_x f with φ_0, the Jacobian with ξ_0
	fx := tw.each(3, func(i int, o dsbo.Oracle, dst []float64) {
		o.UpperGrad(dst, nil, tw.x[i], tw.y[i], at(dsbo.Upper, 0))
	})
	jz := tw.each(3, func(i int, o dsbo.Oracle, dst []float64) {
		o.JVP(dst, tw.x[i], tw.y[i], z[i], at(dsbo.Curvature, 0))
	})
	tw.u = linear(fx, -1, jz)
	// Algorithm 3, lines 11 and 12: x moves by the old r, and r averages the new u
	x := linear(mix(tw.W, tw.x), -alpha, tw.r)
	tw.r = linear(linear(matrix(len(tw.os), 3), 1-alpha, tw.r), alpha, tw.u)
	tw.x = x
}

// number returns a schedule's number at iteration k.
func number(t *testing.T, s algo.Schedule, k int) float64 {
	t.Helper()
	at := testkit.Get(s.For(100))
	return at(k)
}
