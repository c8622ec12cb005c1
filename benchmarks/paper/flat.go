package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"dsbo"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
	"dsbo/train/exact"
)

// flat looks at the logistic problem without a prior, whose Φ has no minimum: what limits the
// method there? It sets the method beside the flow x' = −∇Φ(x), which it follows for small steps,
// with time a√K after K iterations.
func flat(ctx context.Context, l *lab) {
	ks, seeds := pick(l, []int{100, 250, 630, 1600, 4000}, []int{2, 3, 4, 5}), pick(l, 2, 1)
	short := flatLogistic(l)
	long := short
	long.logs *= 10
	states := flowAlong(ctx, short, ks)
	a, b := short.rates(ctx, ks, seeds), long.rates(ctx, ks, seeds)
	names := []string{"x' = −∇Φ(x) up to √K", fmt.Sprintf("N = %g ln K", short.logs),
		fmt.Sprintf("N = %g ln K", long.logs)}
	mins := [][]float64{column(states, func(s flowState) float64 { return s.least }), a.minGrad, b.minGrad}
	rows := table{{"K", "Φ", "least λ", "μ_g", "1/(γμ_g)", "gradient²", "its min", "N", "min, " + names[1],
		"min, " + names[2]}}
	for i, s := range states {
		rows.add(ks[i], s.phi, s.lowest, s.strong, math.Ceil(1/(short.gamma*s.strong)), s.gradient2, s.least,
			short.steps(ks[i]), a.minGrad[i], b.minGrad[i])
	}
	l.printf(
		"%s; Φ, λ, μ_g (the least eigenvalue of the mean Hessian of g) and gradient² where the flow is at √K; "+
			"%d seeds:\n\n", short.name, seeds)
	l.table(rows)
	f := newChart("convergence-flat", "Logistic without prior: what limits MA-DSBO",
		"K, iterations", "least mean squared gradient norm in K iterations")
	for j, name := range names {
		all, late := slope(a.k, mins[j]), slope(a.k[2:], mins[j][2:])
		l.claim(all <= -0.45, "without prior, %s: min of ‖∇Φ‖² falls as K^%.2f, from K = %g on as K^%.2f", name,
			all, a.k[2], late)
		f.line(name, a.k, mins[j])
	}
	f.theory(-0.5)
	l.save(f)
}

// A flowState is where the flow of −∇Φ is at a time.
type flowState struct {
	phi, lowest      float64 // Φ and the least entry of x
	gradient2, least float64 // ‖∇Φ‖², and its least until then
	strong           float64 // the least eigenvalue of the averaged Hessian of g at y*(x)
}

// flowAlong follows the flow from 0 to the times a√K, for ascending K.
func flowAlong(ctx context.Context, t theorem, ks []int) []flowState {
	p := t.of(0)
	n, _ := p.Evaluate[0].Dims()
	solver := exact.Solver{Oracles: p.Evaluate, Tol: 1e-12, AdjointTol: 1e-10}
	x := make([]float64, n)
	sol := testkit.Get(solver.Solve(ctx, x))
	var states []flowState
	now, step, least := 0.0, 1e-3, linalg.Dot(sol.Gradient, sol.Gradient)
	for _, K := range ks {
		for end := t.a * math.Sqrt(float64(K)); now < end; {
			h := min(step, end-now)
			next, off := heun(ctx, &solver, x, sol.Gradient, h)
			const tol = 1e-3 // of x, in each step
			step = h * min(1.5, max(0.5, 0.8*math.Sqrt(tol/off)))
			if off > tol {
				continue
			}
			x, now = next, now+h
			sol = testkit.Get(solver.Solve(ctx, x))
			least = min(least, linalg.Dot(sol.Gradient, sol.Gradient))
		}
		strong := leastEigenvalue(p.Evaluate, x, sol.Y)
		states = append(states, flowState{phi: sol.Phi, lowest: slices.Min(x),
			gradient2: linalg.Dot(sol.Gradient, sol.Gradient), least: least, strong: strong})
	}
	return states
}

// heun makes one step of the flow by Heun's method, and returns how far Euler's is off from it.
func heun(ctx context.Context, solver *exact.Solver, x, gradient []float64, h float64) (next []float64, off float64) {
	euler, next := make([]float64, len(x)), make([]float64, len(x))
	linalg.Comb(euler, 1, x, -h, gradient)
	there := testkit.Get(solver.Solve(ctx, euler))
	linalg.Comb(next, .5, euler, .5, x)
	linalg.Comb(next, 1, next, -h/2, there.Gradient)
	linalg.Sub(euler, euler, next)
	return next, max(linalg.Norm(euler), 1e-12)
}

// leastEigenvalue is the least eigenvalue of the averaged Hessian of g.
func leastEigenvalue(oracles []dsbo.ValueOracle, x, y []float64) float64 {
	q := len(y)
	sum := make([]float64, q*q)
	for _, o := range oracles {
		linalg.Comb(sum, 1, sum, 1/float64(len(oracles)), denseHessian(o, x, y))
	}
	return smallestEigenvalue(mat.NewSymDense(q, sum))
}

func smallestEigenvalue(m mat.Symmetric) float64 {
	var e mat.EigenSym
	if !e.Factorize(m, false) {
		testkit.OK(dsbo.ConfigErrorf("the eigenvalues of a Hessian were not found"))
	}
	return slices.Min(e.Values(nil))
}

// solveDefinite returns the z of hz = b.
func solveDefinite(h mat.Symmetric, b []float64) []float64 {
	var ch mat.Cholesky
	if !ch.Factorize(h) {
		testkit.OK(dsbo.ConfigErrorf("the Hessian must be positive definite"))
	}
	z := make([]float64, len(b))
	testkit.OK(ch.SolveVecTo(mat.NewVecDense(len(z), z), mat.NewVecDense(len(b), b)))
	return z
}

// denseHessian returns one agent's Hessian of g, of all its examples.
func denseHessian(o dsbo.Oracle, x, y []float64) []float64 {
	d, ok := o.(dsbo.DenseOracle)
	if !ok {
		testkit.OK(dsbo.Errorf(dsbo.ErrCapability, "the oracle must give Hessians"))
	}
	h := make([]float64, len(y)*len(y))
	testkit.OK(d.Hessian(h, x, y, allExamples))
	return h
}
