package main

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"dsbo/algo"
	"dsbo/train"
)

// A theorem is a problem with the steps of Theorem 3.3: α = a/√K, β = b/√K, N = ⌈logs·ln K⌉,
// γ constant.
type theorem struct {
	name        string
	of          problemOf
	agents      int // in a ring, w = 1/2
	a, b        float64
	gamma, logs float64
	T           int
}

// rates are what numbers K of iterations give: averages over seeds, then the least, the mean or the
// last over the iterations.
type rates struct {
	k                        []float64
	minGrad, meanGrad        []float64 // of ‖∇Φ(x̄_k)‖²
	consensus, lastConsensus []float64 // of (1/n) Σ ‖x_i − x̄‖²
}

func stochasticQuadratic(l *lab) theorem {
	q := quadratics{n: 5, p: 5, q: 8, low: 1, high: 3, coupling: 1, differ: 0.5, noise: 1, seed: l.seed}
	return theorem{name: "quadratic", of: q.problem, agents: q.n, a: 1, b: 1, gamma: 0.15, logs: 3, T: 1}
}

// logisticTheorem has a prior that keeps x from running to where Φ is flat; in the paper's
// experiment it is 0.
func logisticTheorem(l *lab, name string, prior float64) theorem {
	c := logistic{n: 5, p: 10, examples: 60, batch: 10, rate: 0.25, weight: 20, prior: prior, seed: l.seed}
	return theorem{name: name, of: c.problem, agents: c.n, a: 1, b: 1, gamma: 0.3, logs: 4, T: 1}
}

// steps is N for K iterations.
func (t theorem) steps(K int) int { return int(math.Ceil(t.logs * math.Log(float64(K)))) }

// rates runs each K with several seeds.
func (t theorem) rates(ctx context.Context, ks []int, seeds int) (r rates) {
	for _, K := range ks {
		root := math.Sqrt(float64(K))
		method := &algo.MADSBO{Alpha: algo.Constant(t.a / root), Beta: algo.Constant(t.b / root),
			Gamma: algo.Constant(t.gamma), T: t.T, N: t.steps(K)}
		gradients, consensus := average(ctx, t.of, seeds,
			train.Config{W: ring(t.agents), Method: method, K: K, EvalEvery: max(1, K/50)})
		r.k = append(r.k, float64(K))
		r.minGrad, r.meanGrad = append(r.minGrad, slices.Min(gradients)), append(r.meanGrad, stat.Mean(gradients, nil))
		r.consensus = append(r.consensus, stat.Mean(consensus, nil))
		r.lastConsensus = append(r.lastConsensus, consensus[len(consensus)-1])
	}
	return r
}

// convergence measures the rates in K of Theorem 3.3 on three problems; the pairs of pick are the
// full and the quick K and seeds. The least consensus error over k, of which the theorem speaks, is
// 0 at k = 0 where all agents start alike; its mean over k is what the proof bounds, and what is
// fitted.
func convergence(ctx context.Context, l *lab) {
	ks, seeds := pick(l, []int{100, 250, 630, 1600, 4000, 10000}, []int{8, 16}), pick(l, 8, 1)
	for _, t := range []theorem{stochasticQuadratic(l), logisticTheorem(l, "logistic", 1),
		logisticTheorem(l, "logistic without prior", 0)} {
		r := t.rates(ctx, ks, seeds)
		l.printf("%s, %d agents in a ring, %d seeds, α = %g/√K, β = %g/√K, γ = %g, T = %d:\n\n", t.name,
			t.agents, seeds, t.a, t.b, t.gamma, t.T)
		t.report(l, r)
	}
}

// report prints a problem's rates with their slopes against K.
func (t theorem) report(l *lab, r rates) {
	rows := table{{"K", "N", "min gradient²", "mean gradient²", "mean consensus", "last consensus"}}
	for i, K := range r.k {
		rows.add(int(K), t.steps(int(K)), r.minGrad[i], r.meanGrad[i], r.consensus[i], r.lastConsensus[i])
	}
	gradient, consensus := slope(r.k, r.minGrad), slope(r.k, r.consensus)
	rows.add("slope", "", gradient, slope(r.k, r.meanGrad), consensus, slope(r.k, r.lastConsensus))
	l.table(rows)
	l.claim(gradient <= -0.45, "%s: min over k of ‖∇Φ‖² falls as K^%.2f, theory -0.5", t.name, gradient)
	l.claim(consensus <= -0.9, "%s: the consensus error falls as K^%.2f, theory -1", t.name, consensus)
	l.printf("\n")
}
