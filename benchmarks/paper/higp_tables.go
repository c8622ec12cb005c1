package main

import (
	"context"
	"fmt"
	"math"

	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
	"dsbo/network"
)

func higp(ctx context.Context, l *lab) {
	higpSteps(ctx, l)
	higpLimits(l)
}

// unlikeAgents are eight agents whose Hessians have eigenvalues from 1 to 4, each in a basis of
// its own.
func unlikeAgents(l *lab) quadratics {
	return quadratics{n: 8, p: 2, q: 5, low: 1, high: 4, coupling: 0.5, differ: 1, seed: l.seed}
}

// higpSteps measures the error against the number of steps on several graphs, at shares of 1/L_max
// that are stable.
func higpSteps(ctx context.Context, l *lab) {
	rows := table{{"graph", "γ L_max", "steps to 1e-11", "factor a step", "spectral radius", "straightness R²"}}
	worst, far := 1.0, 0.0
	for _, g := range namedGraphs(pick(l, []string{"path", "ring", "exponential", "complete"}, nil), []float64{0.5}) {
		s := newInverseProduct(unlikeAgents(l), g.W)
		for _, share := range pick(l, []float64{0.05, 0.1, 0.2, 0.4, 0.5}, []float64{0.2}) {
			radius := s.radius(share / s.lmax)
			if radius >= 0.999 {
				continue
			}
			d := s.decay(ctx, share/s.lmax, pick(l, 2500, 60))
			worst, far = min(worst, d.rSquared), max(far, math.Abs(d.factor-radius))
			rows.add(g.Name, share, d.steps[len(d.steps)-1], fmt.Sprintf("%.4f", d.factor), fmt.Sprintf("%.4f", radius),
				fmt.Sprintf("%.4f", d.rSquared))
		}
	}
	l.table(rows)
	l.claim(worst > 0.99,
		"HIGP converges linearly: lines through the logarithms of the error explain at least %.2f %% of it", 100*worst)
	l.printf("measured factors are within %.4f of the spectral radius\n\n", far)
}

// namedGraphs are graphs of 8 agents, and rings with other weights.
func namedGraphs(names []string, weights []float64) []*network.Graph {
	gs := column(names, func(name string) *network.Graph {
		return testkit.Get(network.New(name, 8, network.Options{}))
	})
	for _, w := range weights {
		g := testkit.Get(network.Ring(8, w))
		g.Name = fmt.Sprintf("ring, w = %g", w)
		gs = append(gs, g)
	}
	return gs
}

// higpLimits compares the largest stable γ with (1 + λ_min)² / (2 L), which is what the iteration
// allows when all agents have the same curvature.
func higpLimits(l *lab) {
	gs := namedGraphs(pick(l, []string{"path", "ring", "exponential", "complete"}, nil),
		pick(l, []float64{0.5, 0.8}, []float64{0.5}))
	rows := table{{"graph", "λ_min(W)", "(1+λ_min)²/2", "alike", "each its own basis", "one agent stiff"}}
	agree := true
	for _, g := range gs {
		bound := math.Pow(1+g.W.LambdaMin(), 2) / 2
		var limits []float64
		for _, c := range []struct {
			differ float64
			stiff  bool
		}{{0, false}, {1, false}, {1, true}} {
			q := unlikeAgents(l)
			q.differ = c.differ
			s := newInverseProduct(q, g.W)
			if c.stiff { // L_max stays the curvature of agent 0 alone
				for _, m := range s.ms[1:] {
					linalg.Scale(m.A, 0.02, m.A)
				}
			}
			limit := s.limit()
			if c.differ == 0 {
				agree = agree && math.Abs(limit-min(bound, 2)) < 1e-3
			}
			limits = append(limits, limit)
		}
		rows.add(g.Name, g.W.LambdaMin(), bound, limits)
	}
	l.printf("largest stable γ, as a multiple of 1/L_max:\n\n")
	l.table(rows)
	l.claim(agree, "with Hessians alike HIGP is stable up to γ = (1 + λ_min(W))² / (2 L_max)")
}
