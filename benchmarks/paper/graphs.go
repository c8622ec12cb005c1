package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"dsbo/algo"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/runs/report"
	"dsbo/train"
)

// graphs runs one problem of 16 agents on graphs of different ρ.
func graphs(ctx context.Context, l *lab) {
	K, seeds := pick(l, 2000, 6), pick(l, 3, 1)
	c := quadratics{n: 16, p: 5, q: 8, low: 1, high: 3, coupling: 1, differ: 0.5, noise: 1, seed: l.seed}
	root := math.Sqrt(float64(K))
	// γ is below the limit of all graphs, see higp's table.
	p := algo.MADSBO{Alpha: algo.Constant(1 / root), Beta: algo.Constant(1 / root), Gamma: "0.06", T: 1, N: pick(l, 50, 10)}
	gradient := newChart("graphs-gradient", fmt.Sprintf("MA-DSBO on graphs of 16 agents (quadratic, K = %d)", K),
		"k, iterations", "mean squared norm of the gradient of Φ at the average x", report.Auto, report.Log)
	apart := gradient.sibling("graphs-consensus", gradient.XLabel, gradient.XScale)
	apart.YLabel = "mean squared distance of x from its average"
	rows := table{{"graph", "ρ", "neighbours", "floats an iteration and agent", "min gradient²", "mean gradient², last half", "consensus, last half"}}
	var gaps, errors []float64
	for _, v := range []struct {
		name  string
		w     float64 // 1/2 as in the paper, which keeps λ_min(W) ≥ 0 and so γ stable
		steps int     // N, in multiples of the others'
	}{{"path", 0, 1}, {"ring", 0.5, 1}, {"ring", 0.5, 4}, {"torus", 0.5, 1}, {"exponential", 0.5, 1}, {"complete", 0, 1}} {
		w := testkit.Get(network.New(v.name, c.n, network.Options{W: v.w})).W
		name, p := v.name, p
		if v.steps > 1 {
			p.N *= v.steps
			name = fmt.Sprintf("%s, N = %d", name, p.N)
		}
		k, m := average(ctx, c.problem, seeds, train.Config{W: w, Method: &p, K: K, EvalEvery: max(1, K/50)}, gradient2, consensusX)
		sends := 0
		for i := range c.n {
			sends += w.Sends(i)
		}
		degree := float64(sends) / float64(c.n)
		floats := math.Round(degree * float64(initialized(&p, c.p, c.q, K).Cost(0).Floats))
		late := len(k) / 2
		consensus := mean(m[1][late:])
		rows.add(name, w.Rho(), degree, floats, slices.Min(m[0]), mean(m[0][late:]), consensus)
		label := fmt.Sprintf("%s, ρ = %.3f", name, w.Rho())
		gradient.line(label, k, m[0])
		apart.line(label, k, m[1])
		if w.Rho() > 1e-9 && v.steps == 1 {
			gaps, errors = append(gaps, 1-w.Rho()), append(errors, consensus)
		}
	}
	l.printf("K = %d, %d seeds, γ = 0.06, N = %d:\n\n", K, seeds, p.N)
	l.table(rows)
	s := slope(gaps, errors)
	l.claim(s >= -2, "the consensus error grows with the spectral gap as (1−ρ)^%.2f, the lemma's bound (1−ρ²)^-2", s)
	l.save(gradient, apart)
}
