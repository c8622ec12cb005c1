package main

import (
	"context"
	"errors"
	"math/rand/v2"

	"dsbo"
	"dsbo/algo"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/train"
	"dsbo/train/exact"
)

func mismatch(ctx context.Context, l *lab) {
	mismatchOfEstimates(ctx, l)
	mismatchOfMethods(ctx, l)
}

var allExamples = dsbo.Sample{Set: dsbo.Whole}

// biasesAt returns the relative errors of averages of hypergradient estimates at x: of each agent's
// own ∇f_i(x, y_i*(x)), eq. 4; with each agent's own inverse Hessian at the common y*(x), MDBO; and
// of Algorithm 2 at y*(x), by the number N of steps.
func biasesAt(ctx context.Context, p train.Problem, w *network.Matrix, x []float64, steps []int) []float64 {
	solver := exact.Solver{Oracles: p.Evaluate, Tol: 1e-12, AdjointTol: 1e-12}
	sol := testkit.Get(solver.Solve(ctx, x))
	off := func(estimates [][]float64) float64 {
		avg := meanOf(estimates)
		linalg.Sub(avg, avg, sol.Gradient)
		return linalg.Norm(avg) / linalg.Norm(sol.Gradient)
	}
	var own, mixed [][]float64
	for _, o := range p.Evaluate {
		alone := exact.Solver{Oracles: []dsbo.ValueOracle{o}, Tol: 1e-12, AdjointTol: 1e-12}
		own = append(own, testkit.Get(alone.Solve(ctx, x)).Gradient)
		mixed = append(mixed, withOwnHessian(o, x, sol.Y))
	}
	all := []float64{off(own), off(mixed)}
	lmax := testkit.Get(p.Curvature(ctx, x, sol.Y))
	for _, N := range steps {
		all = append(all, off(estimates(ctx, p.Oracles, w, x, sol.Y, 0.4/lmax, N)))
	}
	return all
}

// meanOf returns the mean of vectors of one length.
func meanOf(vectors [][]float64) []float64 {
	avg := make([]float64, len(vectors[0]))
	for _, v := range vectors {
		linalg.Add(avg, avg, v)
	}
	linalg.Scale(avg, 1/float64(len(vectors)), avg)
	return avg
}

// withOwnHessian is ∇_x f − J H⁻¹ ∇_y f of one agent at (x, y).
func withOwnHessian(o dsbo.ValueOracle, x, y []float64) []float64 {
	u, j, z := make([]float64, len(x)), make([]float64, len(x)), make([]float64, len(y))
	h := make([]float64, len(y)*len(y))
	testkit.OK(o.UpperGrad(u, z, x, y, allExamples))
	testkit.OK(o.Capabilities().Hessian(h, x, y, allExamples))
	if !linalg.Cholesky(len(y), h) {
		testkit.OK(errors.New("the Hessian must be positive definite"))
	}
	linalg.Solve(len(y), h, z)
	testkit.OK(o.JVP(j, x, y, z, allExamples))
	linalg.Sub(u, u, j)
	return u
}

// estimates runs Algorithm 2 on all agents at (x, y).
func estimates(ctx context.Context, oracles []dsbo.Oracle, w *network.Matrix, x, y []float64, gamma float64,
	N int) [][]float64 {
	us := make([][]float64, len(oracles))
	onAgents(ctx, oracles, w, func(ctx context.Context, i int, o dsbo.Oracle, m dsbo.Mixer) error {
		h := algo.NewHypergradient(len(x), len(y))
		us[i] = h.U()
		return h.Estimate(ctx, 0, o, m, x, y, gamma, N)
	})
	return us
}

// mismatchOfEstimates measures the bias of three estimates against the heterogeneity rate r.
func mismatchOfEstimates(ctx context.Context, l *lab) {
	rates, points, steps := pick(l, []float64{0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1, 1.25, 1.5}, []float64{0.1, 1}),
		pick(l, 5, 1), []int{10, 100, 300}
	names := []string{"average of local hypergradients (eq. 4)", "own Hessians at the common y* (MDBO)", "HIGP, N = 10",
		"HIGP, N = 100", "HIGP, N = 300"}
	rows := table{append([]string{"r"}, names...)}
	var sums []float64
	for _, r := range rates {
		sums = make([]float64, len(names))
		for point := range points {
			c := logistic{n: 8, p: pick(l, 20, 3), examples: pick(l, 100, 20), rate: r, weight: 1,
				seed: l.seed + uint64(point)}
			x := normal(rand.New(rand.NewPCG(l.seed, uint64(point))), c.p, 0.5)
			for i, v := range biasesAt(ctx, c.problem(0), ring(8), x, steps) {
				sums[i] += v / float64(points)
			}
		}
		rows.add(r, sums)
	}
	l.printf("logistic, 8 agents on the ring, p = q = %d, mean of %d problems and points:\n\n", pick(l, 20, 3), points)
	l.table(rows)
	l.claim(sums[0] > 0.1 && sums[4] < 1e-3,
		"at r = %g the average of local hypergradients is off by %.3g of the gradient, MDBO's by %.3g, HIGP's by %.3g",
		rates[len(rates)-1], sums[0], sums[1], sums[4])
}

// mismatchOfMethods measures where methods end, against how much the agents of a quadratic
// problem differ.
func mismatchOfMethods(ctx context.Context, l *lab) {
	K := pick(l, 4000, 10)
	rows := table{{"differ", "mdbo", "madsbo", "sparkle ed"}}
	for _, differ := range pick(l, []float64{0, 0.1, 0.2, 0.4, 0.6, 0.8, 1}, []float64{0, 1}) {
		var norms []float64
		for _, method := range []algo.Method{
			&algo.MDBO{Alpha: "0.05", Beta: "0.05", L: "3", N: 60},
			&algo.MADSBO{Alpha: "0.5/sqrt(k+1)", Beta: "0.5/sqrt(k+1)", Gamma: "0.15", T: 1, N: 60},
			&algo.Sparkle{Alpha: "0.02", Beta: "0.1", Gamma: "0.1"},
		} {
			q := quadratics{n: 5, p: 5, q: 8, low: 1, high: 3, coupling: 0.5, differ: differ, seed: l.seed}
			res := testkit.Get(run(ctx, q.problem(0), train.Config{W: ring(5), Method: method, K: K, EvalEvery: K}))
			norms = append(norms, float64(res.Last().GradNorm))
		}
		rows.add(differ, norms)
	}
	l.table(rows)
}
