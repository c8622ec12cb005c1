package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"dsbo"
	"dsbo/algo"
	"dsbo/internal/testkit"
	"dsbo/runs/report"
	"dsbo/train"
)

// loops compares numbers T of inner steps at equal K, per iteration and per oracle call.
func loops(ctx context.Context, l *lab) {
	for _, problem := range []func(*lab, int) theorem{stochasticQuadratic, stochasticLogistic} {
		loopsOn(ctx, l, problem)
	}
	ratios(ctx, l)
}

func loopsOn(ctx context.Context, l *lab, problem func(*lab, int) theorem) {
	K, seeds := pick(l, 2000, 4), pick(l, 6, 1)
	t := problem(l, 1)
	byK := newChart("loops-"+t.name+"-iterations", fmt.Sprintf("MA-DSBO: the number T of inner steps (%s, K = %d)", t.name, K),
		"k, iterations", "mean squared norm of the gradient of Φ at the average x", report.Auto, report.Log)
	byCalls := byK.sibling("loops-"+t.name+"-calls", "oracle calls of an agent", report.Log)
	rows := table{{"T", "calls an iteration", "mean gradient², last half", "slope in K of the min", "slope of the mean", "calls to gradient² < 1% of the start"}}
	for _, T := range pick(l, []int{1, 2, 5, 20}, []int{1, 3}) {
		t := problem(l, T)
		k, m, cost := t.course(ctx, K, seeds, 100)
		calls := column(k, func(k float64) float64 { return k * float64(cost) })
		reached := math.NaN()
		if i := slices.IndexFunc(m[0], func(v float64) bool { return v < 0.01*m[0][0] }); i >= 0 {
			reached = calls[i]
		}
		name := fmt.Sprintf("T = %d", T)
		byK.line(name, k, m[0])
		byCalls.line(name, calls, m[0])
		r := t.rates(ctx, pick(l, []int{100, 400, 1600}, []int{2, 4}), seeds)
		rows.add(T, cost, mean(m[0][len(k)/2:]), slope(r.k, r.minGrad), slope(r.k, r.meanGrad), reached)
	}
	l.printf("%s, K = %d, %d seeds:\n\n", t.name, K, seeds)
	l.table(rows)
	l.save(byK, byCalls)
}

// course runs one K and returns the measures of average against k, and an agent's oracle calls in an iteration.
func (t theorem) course(ctx context.Context, K, seeds, points int) (k []float64, m [][]float64, cost int) {
	root := math.Sqrt(float64(K))
	p := &algo.MADSBO{Alpha: algo.Constant(t.a / root), Beta: algo.Constant(t.b / root), Gamma: algo.Constant(t.gamma), T: t.T, N: t.steps(K)}
	k, m = average(ctx, t.of, seeds, train.Config{W: ring(t.agents), Method: p, K: K, EvalEvery: max(1, K/points)}, gradient2, consensusX)
	return k, m, totalCalls(initialized(p, 1, 1, K).Cost(0).Calls)
}

// totalCalls adds the oracle calls of all kinds.
func totalCalls(c algo.Calls) int {
	return c.UpperGrad + c.LowerGrad + c.HVP + c.JVP + c.Hessian + c.Jacobian
}

// ratios shows what stands behind the theorem's constant ratio of the steps: x, its moving average and y move on
// one time scale, and y has to be the fastest. On a quadratic with curvature h of Φ and κ = T (β/α) μ of the
// lower problem, small steps follow x' = −r, r' = hy − r, y' = κ(x − y), which is stable for h < 1 + κ.
func ratios(ctx context.Context, l *lab) {
	q := quadratics{n: 5, p: 5, q: 8, low: 1, high: 3, coupling: 1, differ: 0, seed: l.seed}
	K := pick(l, 3000, 8)
	rows := table{{"T", "β/α", "‖∇Φ(x̄)‖ at the start", "after K iterations"}}
	for _, c := range []struct {
		T     int
		ratio float64
	}{{1, 1}, {1, 2}, {1, 4}, {1, 8}, {8, 1}} {
		p := &algo.MADSBO{Alpha: "0.02", Beta: algo.Constant(0.02 * c.ratio), Gamma: "0.15", T: c.T, N: 40}
		res, err := run(ctx, q.problem(0), train.Config{W: ring(5), Method: p, K: K, EvalEvery: K})
		end := any("diverged")
		switch {
		case err == nil:
			end = float64(res.Last().GradNorm)
		case !errors.Is(err, dsbo.ErrDiverged):
			testkit.OK(err)
		}
		rows.add(c.T, c.ratio, float64(res.Records[0].GradNorm), end)
	}
	l.printf("quadratic, agents alike, curvature of Φ up to 6.3, μ_g = 1, full batch, α = 0.02, K = %d:\n\n", K)
	l.table(rows)
}
