package train

import (
	"context"
	"fmt"

	"dsbo"
	"dsbo/algo"
	"dsbo/internal/linalg"
	"dsbo/network"
)

// Curvature returns L_max, the largest eigenvalue of any agent's ∇²_yy g_i(x, y) on all its
// examples, by the method of Lanczos on products: from below, and by at most a hundredth but for
// two start vectors of a million. x and y are not changed. The cost is some 15 products an agent,
// 100 where eigenvalues crowd at the end; agents are asked in parallel, and send their largest
// number alone.
func (p Problem) Curvature(ctx context.Context, x, y []float64) (float64, error) {
	return p.curvature(ctx, func(int) []float64 { return x }, y)
}

// curvature is Curvature where agent i has its own x.
func (p Problem) curvature(ctx context.Context, x func(i int) []float64, y []float64) (float64, error) {
	g, err := p.group()
	if err != nil {
		return 0, err
	}
	return g.Maximum(ctx, "largest curvature", func(i int) (float64, error) {
		l, err := linalg.Largest(len(y), func(dst, v []float64) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return p.Oracles[i].HVP(dst, x(i), y, v, allExamples)
		})
		if err != nil {
			err = fmt.Errorf("curvature of agent %d: %w", g.Number(i), err)
		}
		return l, err
	})
}

// followMembers finds the curvature anew when an epoch after the first begins, for methods whose
// steps follow it: at the agents' present x and the start of y. The members' W may allow only
// smaller steps of trackers than the roster's, so the curvature is multiplied by the ratio of the
// two bounds. The condition depends on the iteration only, so that all processes take part.
func (r *runner) followMembers(ctx context.Context) error {
	if len(r.Following) == 0 || r.epoch.Number == 0 || r.done != r.epoch.Iteration {
		return nil
	}
	_, y := r.start()
	l, err := r.Problem.curvature(r.collectiveContext(ctx), func(i int) []float64 { return r.agents[i].x() }, y)
	first, now := trackedBound(r.roster.w, 1, 0), trackedBound(r.W, 1, 0)
	l *= max(1, first/now)
	for _, i := range r.Local() {
		algo.Found(r.agents[i].alg, l, r.agents[i].x())
	}
	return err
}

// leastOfMean returns about the least eigenvalue of the mean of the agents' symmetric matrices,
// given by their products with vectors of length q, by the method of Lanczos: it is never below the
// eigenvalue and rarely above it by more than a twentieth, and takes at most 30 products, each over
// all agents. All agents find the same bits. It is NaN where products are not finite.
func leastOfMean(ctx context.Context, g *network.Group, q int,
	product func(i int, dst, v []float64) error) (float64, error) {
	least, err := linalg.Least(q, func(dst, v []float64) error {
		return g.Mean(ctx, "products for the least eigenvalue", g.FineWire(), dst, func(i int, part []float64) error {
			if err := product(i, part, v); err != nil {
				return fmt.Errorf("agent %d: %w", g.Number(i), err)
			}
			return nil
		})
	})
	if err != nil {
		return 0, fmt.Errorf("least eigenvalue: %w", err)
	}
	return least, nil
}

// oracle returns the oracle that evaluation asks, the oracle of agent i.
func (p Problem) oracle(i int) dsbo.Oracle {
	if p.Evaluate != nil {
		return p.Evaluate[i]
	}
	return p.Oracles[i]
}
