package main

import (
	"context"
	"math"
	"slices"

	"dsbo/algo"
	"dsbo/internal/testkit"
	"dsbo/runs/report"
	"dsbo/train"
)

// A contestant is a method with steps that suit the problem of its family.
type contestant struct {
	name   string
	method algo.Method
}

// A family is methods that solve the same problem.
type family struct {
	name, title string
	agents      int
	contestants []contestant
}

func families() []family {
	sparkle := func(s string) contestant {
		return contestant{"sparkle, " + s, &algo.Sparkle{Alpha: "0.05", Beta: "0.2", Gamma: "0.2", Strategy: algo.Strategy{X: s, Y: s, Z: s}}}
	}
	plain := contestant{"madsbo", &algo.MADSBO{Alpha: "0.05", Beta: "0.2", Gamma: "0.2", T: 1, N: 40}}
	return []family{
		{"global", "The global problem: MA-DSBO and the methods of Table 1", 6, []contestant{
			plain,
			{"madsbo, falling steps", &algo.MADSBO{Alpha: "0.3/sqrt(k+1)", Beta: "0.9/sqrt(k+1)", Gamma: "0.2", T: 1, N: 40}},
			{"madsbo_tuned", &algo.Tuned{Alpha: "0.05", Beta: "0.2", Gamma: "0.2", T: 1, N: 2, WarmZ: true, TrackY: true}},
			{"jhip", &algo.JHIP{Alpha: "0.05", Beta: "0.2", Gamma: "0.2", T: 5, N: 40}},
			{"gbdsbo", &algo.GBDSBO{Alpha: "0.02", Beta: "0.4", Mav: 0.1, L: 3, N: 20}},
			{"fednest", &algo.FedNest{Alpha: "0.05", Beta: "0.4", T: 5, N: 20, L: 3}},
			{"mdbo", &algo.MDBO{Alpha: "0.05", Beta: "0.2", L: 3, N: 20}},
		}},
		{"single-loop", "The global problem: methods of one loop", 6, []contestant{
			plain,
			{"dsoba", &algo.DSOBA{Alpha: "0.05", Beta: "0.2", Gamma: "0.2"}},
			sparkle("ed"), sparkle("extra"), sparkle("gt"), sparkle("none"),
		}},
		{"personalized", "The personalized problem", 6, []contestant{
			{"pdsbo_gossip, α = 0.1", &algo.Gossip{Alpha: "0.1", Beta: "0.4", Gamma: "0.3", T: 5, N: 80}},
			{"pdsbo_gossip, α = 0.02", &algo.Gossip{Alpha: "0.02", Beta: "0.4", Gamma: "0.3", T: 5, N: 80}},
			{"pdsbo_al", &algo.Lagrangian{Alpha: "0.1", Beta: "0.4", Gamma: "0.3", T: 5, N: 80, Rho: 2}},
		}},
		{"one-agent", "One agent", 1, []contestant{
			{"aidcg", &algo.AIDCG{Alpha: "0.1", Beta: "0.4", T: 5, N: 5}},
			{"itd", &algo.ITD{Alpha: "0.1", Beta: "0.4", T: 20}},
			{"stocbio", &algo.StocBiO{Alpha: "0.1", Beta: "0.4", Gamma: "0.3", T: 5, N: 20}},
			{"alset", &algo.ALSET{Alpha: "0.1", Beta: "0.4", T: 5, N: 20, L: 3}},
			{"soba", &algo.SOBA{Alpha: "0.05", Beta: "0.4", Gamma: "0.4"}},
		}},
	}
}

// methods compares the families on one logistic problem, full batch.
func methods(ctx context.Context, l *lab) {
	for _, f := range families() {
		f.compare(ctx, l)
	}
}

func (f family) compare(ctx context.Context, l *lab) {
	K := pick(l, 1500, 3)
	calls := newChart("methods-"+f.name+"-calls", f.title,
		"oracle calls of an agent, a matrix counted as q products", "norm of the gradient of Φ at the average x", report.Log, report.Log)
	sent := calls.sibling("methods-"+f.name+"-traffic", "numbers sent by an agent", report.Log)
	rows := table{{"method", "‖∇Φ(x̄)‖ after K", "iterations", "oracle calls", "numbers sent"}}
	for _, c := range f.contestants {
		s := f.run(ctx, l, c, K)
		rows.add(c.name, s.gradient[len(s.gradient)-1], s.reached(s.k), s.reached(s.calls), s.reached(s.floats))
		calls.line(c.name, s.calls[1:], s.gradient[1:])
		sent.line(c.name, s.floats[1:], s.gradient[1:])
	}
	l.printf("%s, K = %d; the last three columns: what it took to a hundredth of the first gradient:\n\n", f.title, K)
	l.table(rows)
	l.save(calls)
	if f.agents > 1 {
		l.save(sent)
	}
}

// A track is a run's gradient against what it cost each agent.
type track struct{ k, calls, floats, gradient []float64 }

// reached returns the cost at which the gradient is a hundredth of the first.
func (t track) reached(cost []float64) any {
	i := slices.IndexFunc(t.gradient, func(g float64) bool { return g <= 1e-2*t.gradient[0] })
	if i < 0 {
		return "–"
	}
	return cost[i]
}

func (f family) run(ctx context.Context, l *lab, c contestant, K int) (t track) {
	p := logistic{n: f.agents, p: 10, examples: 60, rate: 0.25, weight: 20, prior: 1, seed: l.seed}
	res := testkit.Get(run(ctx, p.problem(0), train.Config{W: ringOrServer(c.method, f.agents), Method: c.method, K: K, EvalEvery: max(1, K/150)}))
	q, n := float64(p.p), float64(f.agents)
	for _, r := range res.Records {
		t.k = append(t.k, float64(r.Iteration))
		t.calls = append(t.calls, (float64(r.UpperGrad+r.LowerGrad+r.HVP+r.JVP)+q*float64(r.Hessian+r.Jacobian))/n)
		t.floats = append(t.floats, float64(r.Floats)/n)
		t.gradient = append(t.gradient, math.Max(float64(r.GradNorm), 1e-14))
	}
	return t
}
