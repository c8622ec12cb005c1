package main

import (
	"context"
	"errors"
	"fmt"
	"math"

	"dsbo"
	"dsbo/algo"
	"dsbo/network"
	"dsbo/report"
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
	K, seeds := pick(l, 2000, 8), pick(l, 6, 1)
	t := problem(l, 1)
	byK := axes(fmt.Sprintf("MA-DSBO: the number T of inner steps (%s, K = %d)", t.name, K),
		"k, iterations", "mean squared norm of the gradient of Φ at the average x", report.Auto, report.Log)
	byCalls := byK
	byCalls.XLabel, byCalls.XScale = "oracle calls of an agent", report.Log
	rows := table{{"T", "calls an iteration", "mean gradient², last half", "slope in K of the min", "slope of the mean", "calls to gradient² < 1% of the start"}}
	for _, T := range []int{1, 2, 5, 20} {
		t := problem(l, T)
		k, m, cost := t.course(ctx, K, seeds, 100)
		calls := make([]float64, len(k))
		reached := math.NaN()
		for i := range k {
			calls[i] = k[i] * float64(cost)
			if math.IsNaN(reached) && m[0][i] < 0.01*m[0][0] {
				reached = calls[i]
			}
		}
		name := fmt.Sprintf("T = %d", T)
		addLine(&byK, name, k, m[0])
		addLine(&byCalls, name, calls, m[0])
		least, whole := t.slopes(ctx, pick(l, []int{100, 400, 1600}, []int{4, 8}), seeds)
		rows.add(T, cost, mean(m[0][len(k)/2:]), least, whole, reached)
	}
	l.printf("%s, K = %d, %d seeds:\n\n", t.name, K, seeds)
	l.table(rows)
	l.figure("loops-"+t.name+"-iterations", byK)
	l.figure("loops-"+t.name+"-calls", byCalls)
}

// course runs one K and returns the measures of average against k, and an agent's oracle calls in an iteration.
func (t theorem) course(ctx context.Context, K, seeds, points int) (k []float64, m [][]float64, cost int) {
	ring := must(network.Ring(t.agents, 0.5))
	root := math.Sqrt(float64(K))
	p := &algo.MADSBO{Alpha: algo.Constant(t.a / root), Beta: algo.Constant(t.b / root), Gamma: algo.Constant(t.gamma), T: t.T, N: t.steps(K)}
	method := initialized(p, 1, 1, K)
	k, m = average(ctx, t.of, seeds, train.Config{W: ring.W, Method: p, K: K, EvalEvery: max(1, K/points)}, gradient2, consensusX)
	return k, m, totalCalls(method.Cost(0).Calls)
}

// totalCalls adds the oracle calls of all kinds.
func totalCalls(c algo.Calls) int {
	return c.UpperGrad + c.LowerGrad + c.HVP + c.JVP + c.Hessian + c.Jacobian
}

// slopes fits the exponents in K of the least and of the mean gradient².
func (t theorem) slopes(ctx context.Context, ks []int, seeds int) (least, whole float64) {
	var rs []rate
	for _, K := range ks {
		r := t.measure(ctx, K, seeds)
		rs = append(rs, r)
	}
	k := column(rs, func(r rate) float64 { return float64(r.K) })
	least = slope(k, column(rs, func(r rate) float64 { return r.minGrad }))
	return least, slope(k, column(rs, func(r rate) float64 { return r.meanGrad }))
}

// ratios shows what stands behind the theorem's constant ratio of the steps: x, its moving average and y move on
// one time scale, and y has to be the fastest. On a quadratic with curvature h of Φ and κ = T (β/α) μ of the
// lower problem, small steps follow x' = −r, r' = hy − r, y' = κ(x − y), which is stable for h < 1 + κ.
func ratios(ctx context.Context, l *lab) {
	ring := must(network.Ring(5, 0.5))
	q := quadratics{n: 5, p: 5, q: 8, low: 1, high: 3, coupling: 1, differ: 0, seed: l.seed}
	K := pick(l, 3000, 8)
	rows := table{{"T", "β/α", "‖∇Φ(x̄)‖ at the start", "after K iterations"}}
	for _, c := range []struct {
		T     int
		ratio float64
	}{{1, 1}, {1, 2}, {1, 4}, {1, 8}, {8, 1}} {
		p := &algo.MADSBO{Alpha: "0.02", Beta: algo.Constant(0.02 * c.ratio), Gamma: "0.15", T: c.T, N: 40}
		res, err := run(ctx, q.problem(0), train.Config{W: ring.W, Method: p, K: K, EvalEvery: K})
		end := any("diverged")
		switch {
		case err == nil:
			end = float64(res.Last().GradNorm)
		case !errors.Is(err, dsbo.ErrDiverged):
			check(err)
		}
		rows.add(c.T, c.ratio, float64(res.Records[0].GradNorm), end)
	}
	l.printf("quadratic, agents alike, curvature of Φ up to 6.3, μ_g = 1, full batch, α = 0.02, K = %d:\n\n", K)
	l.table(rows)
}
