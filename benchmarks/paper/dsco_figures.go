package main

import (
	"context"
	"fmt"
	"math"

	"dsbo/algo"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
	"dsbo/runs"
	"dsbo/runs/report"
	"dsbo/train"
)

// compositional runs MA-DSBO and D-ASCGD on the compositional problem.
func compositional(ctx context.Context, l *lab) {
	c := composition{n: pick(l, 6, 2), p: pick(l, 4, 2), q: pick(l, 6, 3), seed: l.seed}
	p := c.problem(0)
	best := solve(ctx, p)
	l.printf("exact optimum: Φ* = %.12f, ‖∇Φ(x*)‖ = %.1e\n\n", best.phi, best.gradient)
	for _, noise := range []float64{0, 0.3} {
		c.noise = noise
		c.compare(ctx, l, best)
	}
}

func compositionMethods() []contestant {
	// The lower Hessian is the identity for all agents: γ is below (1 + λ_min(W))²/2 = 1/2.
	ma := func(a, b algo.Schedule) algo.Method {
		return &algo.MADSBO{Alpha: a, Beta: b, Gamma: "0.25", T: 1, N: 40}
	}
	return []contestant{
		{"MA-DSBO, α = 0.02, β = 0.1", ma("0.02", "0.1")},
		{"MA-DSBO, α = 0.2/√(k+1), β = 1/√(k+1)", ma("0.2/sqrt(k+1)", "1/sqrt(k+1)")},
		{"D-ASCGD, α = 0.02", &algo.DASCGD{Alpha: "0.02", B: 0.1}},
		{"D-ASCGD, α = 0.2/√(k+1)", &algo.DASCGD{Alpha: "0.2/sqrt(k+1)", B: 0.1}},
	}
}

// compare runs the methods and compares where they end with the optimum.
func (c composition) compare(ctx context.Context, l *lab, best optimum) {
	kind, seeds, K := "full", 1, pick(l, 4000, 10)
	if c.noise > 0 {
		kind, seeds = "stochastic", pick(l, 6, 1)
	}
	byK := newChart("dsco-"+kind+"-iterations", fmt.Sprintf("Compositional problem, %s gradients", kind),
		"k, iterations", "Φ at the average x, above its minimum", report.Auto, report.Log)
	sent := byK.sibling("dsco-"+kind+"-traffic", "numbers sent to each neighbour", report.Log)
	rows := table{{"method", "floats", "oracle calls", "Φ(x̄_K) − Φ*", "‖x̄_K − x*‖", "‖∇Φ(x̄_K)‖"}}
	for _, r := range compositionMethods() {
		gap := func(rec runs.Record) float64 { return math.Max(float64(rec.Phi)-best.phi, 1e-16) }
		cfg := train.Config{W: ring(c.n), Method: r.method, K: K, EvalEvery: max(1, K/100)}
		k, means := average(ctx, c.problem, seeds, cfg, gap, func(rec runs.Record) float64 { return float64(rec.GradNorm) })
		res := testkit.Get(run(ctx, c.problem(1), cfg))
		cost := initialized(r.method, c.p, c.q, K).Cost(1)
		floats := make([]float64, len(k))
		linalg.Scale(floats, float64(cost.Floats), k)
		last := len(k) - 1
		rows.add(r.name, cost.Floats, totalCalls(cost.Calls), means[0][last], math.Sqrt(linalg.Dist2(res.X, best.x)), means[1][last])
		byK.line(r.name, k, means[0])
		sent.line(r.name, floats[1:], means[0][1:])
	}
	l.printf("%s gradients, ring of %d, K = %d, mean of %d seeds (x̄ of the first):\n\n", kind, c.n, K, seeds)
	l.table(rows)
	l.save(byK, sent)
}
