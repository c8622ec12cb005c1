package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"dsbo/algo"
	"dsbo/network"
	"dsbo/report"
	"dsbo/train"
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
	q := quadratics{n: 5, p: 5, q: 8, low: 1, high: 3, differ: 0.5, noise: 1, seed: l.seed}
	return theorem{name: "quadratic", of: q.problem, agents: q.n, a: 1, b: 1, gamma: 0.25, logs: 4, T: T}
}

func stochasticLogistic(l *lab, T int) theorem {
	c := logistic{n: 5, p: 10, examples: 60, batch: 10, rate: 0.5, seed: l.seed}
	return theorem{name: "logistic", of: c.problem, agents: c.n, a: 5, b: 2, gamma: 0.2, logs: 4, T: T}
}

// measure runs one K with several seeds.
func (t theorem) measure(ctx context.Context, K, seeds int) (rate, error) {
	ring, err := network.Ring(t.agents, 0.5)
	if err != nil {
		return rate{}, err
	}
	root := math.Sqrt(float64(K))
	r := rate{K: K, N: int(math.Ceil(t.logs * math.Log(float64(K))))}
	_, m, err := average(ctx, t.of, seeds, train.Config{
		W: ring.W, Method: "madsbo", K: K, EvalEvery: max(1, K/50),
		Params: algo.Params{Alpha: algo.Constant(t.a / root), Beta: algo.Constant(t.b / root), Gamma: algo.Constant(t.gamma), T: t.T, N: r.N},
	}, gradient2, consensusX)
	if err != nil {
		return r, fmt.Errorf("%s, K = %d: %w", t.name, K, err)
	}
	r.minGrad, r.meanGrad = slices.Min(m[0]), mean(m[0])
	r.consensus, r.lastConsensus = mean(m[1]), m[1][len(m[1])-1]
	return r, nil
}

func mean(v []float64) float64 {
	s := 0.0
	for _, x := range v {
		s += x
	}
	return s / float64(len(v))
}

// column collects one number of each rate.
func column(rs []rate, of func(rate) float64) []float64 {
	var v []float64
	for _, r := range rs {
		v = append(v, of(r))
	}
	return v
}

func convergence(ctx context.Context, l *lab) error {
	ks := pick(l, []int{100, 215, 464, 1000, 2154, 4642, 10000}, []int{100, 215, 464})
	seeds := pick(l, 10, 2)
	gradient := report.Figure{Title: "MA-DSBO: the gradient against K", XLabel: "K, iterations", YLabel: "min over k of the mean of ‖∇Φ(x̄_k)‖^2", XScale: report.Log, YScale: report.Log}
	apart := report.Figure{Title: "MA-DSBO: the consensus error against K", XLabel: "K, iterations", YLabel: "mean of (1/n) Σ ‖x_i − x̄‖^2", XScale: report.Log, YScale: report.Log}
	for _, t := range []theorem{stochasticQuadratic(l, 1), stochasticLogistic(l, 1)} {
		var rs []rate
		rows := table{{"K", "N", "min gradient²", "mean gradient²", "mean consensus", "last consensus"}}
		for _, K := range ks {
			r, err := t.measure(ctx, K, seeds)
			if err != nil {
				return err
			}
			rs = append(rs, r)
			rows.add(r.K, r.N, r.minGrad, r.meanGrad, r.consensus, r.lastConsensus)
		}
		k := column(rs, func(r rate) float64 { return float64(r.K) })
		minGrad, cons := column(rs, func(r rate) float64 { return r.minGrad }), column(rs, func(r rate) float64 { return r.consensus })
		cells := []any{"slope", ""}
		var slopes []float64
		for _, v := range [][]float64{minGrad, column(rs, func(r rate) float64 { return r.meanGrad }), cons, column(rs, func(r rate) float64 { return r.lastConsensus })} {
			s, err := slope(k, v)
			if err != nil {
				return err
			}
			slopes, cells = append(slopes, s), append(cells, s)
		}
		rows.add(cells...)
		l.printf("%s, %d agents in a ring, %d seeds, α = %g/√K, β = %g/√K, γ = %g, T = %d:\n\n", t.name, t.agents, seeds, t.a, t.b, t.gamma, t.T)
		l.table(rows)
		l.claim(slopes[0] <= -0.45, "%s: min over k of ‖∇Φ‖² falls as K^%.2f, theory -0.5", t.name, slopes[0])
		l.claim(slopes[2] <= -0.9, "%s: the consensus error falls as K^%.2f, theory -1", t.name, slopes[2])
		gradient.Series = append(gradient.Series, report.Series{Name: t.name, X: k, Y: minGrad, Points: true, Fit: true})
		apart.Series = append(apart.Series, report.Series{Name: t.name, X: k, Y: cons, Points: true, Fit: true})
	}
	if err := l.figure("convergence-gradient", gradient); err != nil {
		return err
	}
	return l.figure("convergence-consensus", apart)
}
