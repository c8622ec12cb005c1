package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"dsbo/report"
)

// A theorem is a problem with the steps of Theorem 3.3: α = a/√K, β = b/√K, N = ⌈logs·ln K⌉, γ constant.
type theorem struct {
	name        string
	of          problemOf
	agents      int // in a ring, w = 1/2
	a, b        float64
	gamma, logs float64
	T           int
}

// A rate is what one K gives: averages over seeds, then the least or the mean over the iterations.
type rate struct {
	K, N              int
	minGrad, meanGrad float64 // of ‖∇Φ(x̄_k)‖²
	consensus         float64 // mean over k of (1/n) Σ ‖x_i − x̄‖²
	lastConsensus     float64
}

func stochasticQuadratic(l *lab, T int) theorem {
	q := quadratics{n: 5, p: 5, q: 8, low: 1, high: 3, coupling: 1, differ: 0.5, noise: 1, seed: l.seed}
	return theorem{name: "quadratic", of: q.problem, agents: q.n, a: 1, b: 1, gamma: 0.15, logs: 3, T: T}
}

// stochasticLogistic has a prior that keeps x from running to where Φ is flat.
func stochasticLogistic(l *lab, T int) theorem {
	c := logistic{n: 5, p: 10, examples: 60, batch: 10, rate: 0.25, weight: 20, prior: 1, seed: l.seed}
	return theorem{name: "logistic", of: c.problem, agents: c.n, a: 1, b: 1, gamma: 0.3, logs: 4, T: T}
}

// flatLogistic is without the prior, as in the paper's experiment.
func flatLogistic(l *lab, T int) theorem {
	c := logistic{n: 5, p: 10, examples: 60, batch: 10, rate: 0.25, weight: 20, seed: l.seed}
	return theorem{name: "logistic without prior", of: c.problem, agents: c.n, a: 1, b: 1, gamma: 0.3, logs: 4, T: T}
}

// steps is N for K iterations.
func (t theorem) steps(K int) int { return int(math.Ceil(t.logs * math.Log(float64(K)))) }

// measure runs one K with several seeds.
func (t theorem) measure(ctx context.Context, K, seeds int) rate {
	_, m, _ := t.course(ctx, K, seeds, 50)
	return rate{K: K, N: t.steps(K), minGrad: slices.Min(m[0]), meanGrad: mean(m[0]), consensus: mean(m[1]), lastConsensus: m[1][len(m[1])-1]}
}

func mean(v []float64) float64 {
	s := 0.0
	for _, x := range v {
		s += x
	}
	return s / float64(len(v))
}

// column collects one property of each of several things.
func column[A, B any](all []A, of func(A) B) []B {
	v := make([]B, len(all))
	for i, a := range all {
		v[i] = of(a)
	}
	return v
}

// convergence measures Theorem 3.3. The least consensus error over k, of which the theorem speaks, is 0 at k = 0
// where all agents start alike; its mean over k is what the proof bounds, and what is fitted.
func convergence(ctx context.Context, l *lab) {
	ks := pick(l, []int{100, 250, 630, 1600, 4000, 10000}, []int{8, 16})
	gradient := axes("MA-DSBO: the gradient against K",
		"K, iterations", "least mean squared gradient norm in K iterations", report.Log, report.Log)
	apart := axes("MA-DSBO: the consensus error against K",
		"K, iterations", "mean squared distance of x from its average, mean over k", report.Log, report.Log)
	for _, t := range []theorem{stochasticQuadratic(l, 1), stochasticLogistic(l, 1), flatLogistic(l, 1)} {
		var rs []rate
		for _, K := range ks {
			r := t.measure(ctx, K, pick(l, 8, 1))
			rs = append(rs, r)
		}
		l.printf("%s, %d agents in a ring, %d seeds, α = %g/√K, β = %g/√K, γ = %g, T = %d:\n\n", t.name, t.agents, pick(l, 8, 1), t.a, t.b, t.gamma, t.T)
		t.report(l, rs)
		k := column(rs, func(r rate) float64 { return float64(r.K) })
		gradient.Series = append(gradient.Series, report.Series{Name: t.name, X: k, Y: column(rs, func(r rate) float64 { return r.minGrad }), Points: true, Fit: true})
		apart.Series = append(apart.Series, report.Series{Name: t.name, X: k, Y: column(rs, func(r rate) float64 { return r.consensus }), Points: true, Fit: true})
	}
	gradient.Series = append(gradient.Series, theory(gradient.Series[0], -0.5))
	apart.Series = append(apart.Series, theory(apart.Series[0], -1))
	l.figure("convergence-gradient", gradient)
	l.figure("convergence-consensus", apart)
}

// theory is a line of the given slope from the first point of s.
func theory(s report.Series, slope float64) report.Series {
	r := report.Series{Name: fmt.Sprintf("theory, slope −%g", -slope), X: s.X, Reference: true}
	for _, x := range s.X {
		r.Y = append(r.Y, s.Y[0]*math.Pow(x/s.X[0], slope))
	}
	return r
}

// report prints a problem's rates with their slopes against K.
func (t theorem) report(l *lab, rs []rate) {
	rows := table{{"K", "N", "min gradient²", "mean gradient²", "mean consensus", "last consensus"}}
	for _, r := range rs {
		rows.add(r.K, r.N, r.minGrad, r.meanGrad, r.consensus, r.lastConsensus)
	}
	k := column(rs, func(r rate) float64 { return float64(r.K) })
	cells := []any{"slope", ""}
	var slopes []float64
	for _, of := range []func(rate) float64{
		func(r rate) float64 { return r.minGrad }, func(r rate) float64 { return r.meanGrad },
		func(r rate) float64 { return r.consensus }, func(r rate) float64 { return r.lastConsensus },
	} {
		s := slope(k, column(rs, of))
		slopes, cells = append(slopes, s), append(cells, s)
	}
	rows.add(cells...)
	l.table(rows)
	l.claim(slopes[0] <= -0.45, "%s: min over k of ‖∇Φ‖² falls as K^%.2f, theory -0.5", t.name, slopes[0])
	l.claim(slopes[2] <= -0.9, "%s: the consensus error falls as K^%.2f, theory -1", t.name, slopes[2])
	l.printf("\n")
}
