package algo

import (
	"context"

	"dsbo"
	"dsbo/internal/vec"
)

// Lower solves the lower problem alone, min_y Σ_i g_i(x, y) at a fixed x, by gradient descent
// with gradient tracking and heavy-ball momentum:
//
//	T times:  D ← mix(D) + G − G₋,  y⁺ = mix(y + m (y − y₋)) − β D
//
// Unlike the y loop of the paper it converges to the exact solution on every agent with a constant step. It is the y
// loop of [Tuned], and refits a model at a found x, which is to be copied into X() after Init, the same on all agents. The
// k of Step names the draws.
type Lower struct {
	Beta Schedule `json:"beta,omitzero"`  // β, step of y; default 0.1
	MomY float64  `json:"mom_y,omitzero"` // m, momentum of y, in [0, 1)
	T    int      `json:"T,omitzero"`     // steps of y in one call of Step; default 10

	state
	yOld, d, gOld, g []float64
	out, in          []float64 // y and D, and their mix
}

// Init implements [Method].
func (a *Lower) Init(p, q, K int) error {
	c := a.prepare("lower", p, q, K)
	a.beta = c.step("beta", &a.Beta)
	c.momentum("mom_y", a.MomY)
	c.count("T", &a.T, 10)
	if c.err != nil {
		return c.err
	}
	a.z, a.u = nil, nil
	a.yOld, a.d, a.gOld = a.carried("y_before", q), a.carried("y_tracker", q), a.carried("y_gradient", q)
	a.g, a.out, a.in = newVec(q), newVec(2*q), newVec(2*q)
	return nil
}

// Cost of a Step: 2Tq numbers to each neighbour in T messages, T gradients of g.
func (a *Lower) Cost(int) Cost {
	return Cost{Floats: 2 * a.T * len(a.y), Messages: a.T, Calls: Calls{LowerGrad: a.T}}
}

// Step takes T steps of y.
func (a *Lower) Step(ctx context.Context, k int, o dsbo.Oracle, m dsbo.Mixer) error {
	w := a.begin(ctx, k, o, m)
	q := len(a.y)
	for t := range a.T {
		extrapolate(a.out[:q], a.y, a.yOld, a.MomY)
		copy(a.out[q:], a.d)
		w.mix(a.in, a.out)
		w.lowerGrad(a.g, a.x, a.y, w.draw(dsbo.Lower, t))
		track(a.d, a.in[q:], a.g, a.gOld)
		copy(a.yOld, a.y)
		vec.Comb(a.y, 1, a.in[:q], -a.beta(k), a.d)
	}
	return w.err
}

// Gradient returns a view of the tracked gradient D, this agent's estimate of (1/n) Σ_j ∇_y g_j.
func (a *Lower) Gradient() []float64 { return a.d }
