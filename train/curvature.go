package train

import (
	"context"
	"fmt"
	"math"

	"dsbo"
	"dsbo/internal/vec"
)

// Curvature returns L_max, the largest eigenvalue of any agent's ∇²_yy g_i(x, y) on all its examples, by power
// iteration on products, to about one percent (from below, as power iteration goes). x and y are not changed. The cost is
// at most 100 products an agent; agents are asked in parallel, and send their largest number alone.
func (p Problem) Curvature(ctx context.Context, x, y []float64) (float64, error) {
	return p.curvature(ctx, func(int) []float64 { return x }, y)
}

// curvature is Curvature where agent i has its own x.
func (p Problem) curvature(ctx context.Context, x func(i int) []float64, y []float64) (float64, error) {
	g, err := p.group()
	if err != nil {
		return 0, err
	}
	return g.maximum(ctx, func(i int) (float64, error) {
		l, err := curvature(ctx, p.Oracles[i], x(i), y)
		if err != nil {
			err = fmt.Errorf("curvature of agent %d: %w", p.agentNumber(i), err)
		}
		return l, err
	})
}

// curvature returns the largest eigenvalue of an oracle's Hessian ∇²_yy g at (x, y), by power iteration.
func curvature(ctx context.Context, o dsbo.Oracle, x, y []float64) (float64, error) {
	v, hv := make([]float64, len(y)), make([]float64, len(y))
	spreadVector(v)
	l := 0.0
	for range 100 {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if err := o.HVP(hv, x, y, v, allExamples); err != nil {
			return 0, err
		}
		before := l
		l = vec.Norm(hv)
		switch {
		case math.IsNaN(l) || math.IsInf(l, 0):
			return 0, errNotFinite
		case l == 0, math.Abs(l-before) <= 1e-3*l:
			return l, nil
		}
		vec.Scale(v, 1/l, hv)
	}
	return l, nil
}
