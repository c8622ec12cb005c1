package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/runs/report"
)

func higp(ctx context.Context, l *lab) {
	higpSteps(ctx, l)
	higpGamma(ctx, l)
	higpRho(ctx, l)
	higpLimits(l)
}

// unlikeAgents are eight agents whose Hessians have eigenvalues from 1 to 4, each in a basis of
// its own.
func unlikeAgents(l *lab) quadratics {
	return quadratics{n: 8, p: 2, q: 5, low: 1, high: 4, coupling: 0.5, differ: 1, seed: l.seed}
}

// higpSteps draws the error against the number of steps on the paper's ring.
func higpSteps(ctx context.Context, l *lab) {
	s := newInverseProduct(unlikeAgents(l), ring(8))
	f := newChart("higp-steps", "HIGP alone: ring of 8, w = 1/2",
		"N, steps", "‖z − z*‖ / ‖z*‖, root mean square over agents")
	f.XScale = report.Linear
	rows := table{{"γ L_max", "steps to 1e-11", "factor a step", "spectral radius", "straightness R²"}}
	worst := 1.0
	for _, share := range pick(l, []float64{0.05, 0.1, 0.2, 0.4, 0.5}, []float64{0.2}) {
		gamma := share / s.lmax
		d := s.decay(ctx, gamma, pick(l, 1500, 60))
		radius := s.radius(gamma)
		worst = min(worst, d.rSquared)
		rows.add(share, d.steps[len(d.steps)-1], fmt.Sprintf("%.4f", d.factor), fmt.Sprintf("%.4f", radius),
			fmt.Sprintf("%.4f", d.rSquared))
		f.line(fmt.Sprintf("γ = %g / L_max", share), d.steps, d.errors)
	}
	l.table(rows)
	l.claim(worst > 0.99,
		"HIGP converges linearly: lines through the logarithms of the error explain at least %.2f %% of it", 100*worst)
	l.save(f)
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

// higpGamma draws the factor a step against γ for several graphs.
func higpGamma(ctx context.Context, l *lab) {
	gs := namedGraphs(pick(l, []string{"path", "ring", "exponential", "complete"}, []string{"complete"}), nil)
	f := newChart("higp-gamma", "HIGP's rate against its step",
		"γ · L_max", "factor of the error in a step (line: spectral radius)")
	f.XScale, f.YScale = report.Linear, report.Linear
	step, every := pick(l, 0.01, 0.1), pick(l, 4, 2) // shares of 1/L_max, and how many of them are measured
	far := 0.0
	var theory []report.Series
	for _, g := range gs {
		s := newInverseProduct(unlikeAgents(l), g.W)
		points := report.Series{Name: fmt.Sprintf("%s, ρ = %.2f", g.Name, g.W.Rho()), Points: true}
		line := report.Series{Reference: true}
		for i := 1; i <= int(0.6/step); i++ {
			share := step * float64(i)
			radius := s.radius(share / s.lmax)
			if radius > 1 {
				break
			}
			line.X, line.Y = append(line.X, share), append(line.Y, radius)
			if i%every != 0 || radius >= 0.999 {
				continue
			}
			d := s.decay(ctx, share/s.lmax, pick(l, 2500, 60))
			points.X, points.Y = append(points.X, share), append(points.Y, d.factor)
			far = max(far, math.Abs(d.factor-radius))
		}
		f.Series = append(f.Series, points)
		theory = append(theory, line)
	}
	theory[0].Name = "spectral radius of the iteration"
	f.Series = append(f.Series, theory...)
	l.printf("measured factors are within %.4f of the spectral radius\n\n", far)
	l.save(f)
}

// higpRho draws the factor a step against ρ, on graphs of all kinds and on the ring with
// other weights.
func higpRho(ctx context.Context, l *lab) {
	gs := namedGraphs(pick(l, []string{"path", "star", "ring", "torus", "hypercube", "exponential", "complete"},
		[]string{"ring", "complete"}),
		pick(l, []float64{0.5, 0.6, 0.7, 0.8, 0.9, 0.95}, nil))
	slices.SortFunc(gs, func(a, b *network.Graph) int { return cmp.Compare(a.W.Rho(), b.W.Rho()) })
	const share = 0.08 // below the limit of all these graphs
	f := newChart("higp-rho", "HIGP's rate against the graph",
		"1 − ρ, spectral gap of W", "1 − factor of the error in a step")
	rows := table{{"graph", "ρ", "factor a step", "spectral radius"}}
	points := fmt.Sprintf("measured, γ = %g / L_max", share)
	for _, g := range gs {
		s := newInverseProduct(unlikeAgents(l), g.W)
		d := s.decay(ctx, share/s.lmax, pick(l, 3000, 60))
		rows.add(g.Name, g.W.Rho(), fmt.Sprintf("%.4f", d.factor), fmt.Sprintf("%.4f", s.radius(share/s.lmax)))
		f.point(points, 1-g.W.Rho(), 1-d.factor).Points = true
		central := 1 - share/s.lmax*s.least()
		f.Levels = []report.Level{{Name: "one machine: γ λ_min of the mean Hessian", Y: 1 - central}}
	}
	l.table(rows)
	l.save(f)
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
