package algo

import (
	"context"

	"dsbo"
	"dsbo/internal/linalg"
)

// DSOBA is D-SOBA in its second-order form (Kong, Zhu, Lu, Huang, Yuan, "Decentralized Bilevel
// Optimization: A Perspective from Transient Iteration Complexity", 2024). One loop, all at once:
//
//	x ← mix(x − α r),  y ← mix(y − β ∇_y g),  z ← mix(z − γ(Hz − b)),  r ← (1−θ) r + θ (∇_x f − J z)
//
// Known with medium to high certainty. Draws: {Lower, k, 0}, {Upper, k, 0}, and {Curvature, k, 0}
// for both products.
type DSOBA struct {
	Alpha Schedule `json:"alpha,omitzero"` // α, step of x; default 0.1
	Beta  Schedule `json:"beta,omitzero"`  // β, step of y; default 0.1
	Gamma Schedule `json:"gamma,omitzero"` // γ, step of z; default 0.1
	Theta float64  `json:"theta,omitzero"` // θ, weight of the fresh hypergradient in r, in (0, 1]; default 0.5

	state
	r, g, h, b, j []float64
	out, in       []float64 // y, x and z, and their mix
}

// Init implements [Method].
func (a *DSOBA) Init(p, q, K int) error {
	c := a.prepare("dsoba", p, q, K)
	a.alpha, a.beta, a.gamma = c.step("alpha", &a.Alpha), c.step("beta", &a.Beta), c.step("gamma", &a.Gamma)
	c.fraction("theta", &a.Theta, 0.5)
	if c.err != nil {
		return c.err
	}
	a.z, a.r = a.carried("z", q), a.carried("r", p)
	a.g, a.h, a.b, a.j = a.newVec(q), a.newVec(q), a.newVec(q), a.newVec(p)
	a.out, a.in = a.newVec(p+2*q), a.newVec(p+2*q)
	return nil
}

// Traits implements [Described].
func (a *DSOBA) Traits() Traits {
	t := a.state.Traits()
	t.Robust, t.OneLoop = true, true
	return t
}

// Cost of an iteration: p + 2q numbers to each neighbour in one message; one gradient of f and of
// g, one Hessian- and one Jacobian-vector product.
func (a *DSOBA) Cost(int) Cost {
	p, q := len(a.x), len(a.y)
	return Cost{Floats: p + 2*q, Messages: 1, Calls: dsbo.Calls{UpperGrad: 1, LowerGrad: 1, HVP: 1, JVP: 1}}
}

// Step is one outer iteration.
func (a *DSOBA) Step(ctx context.Context, k int, o dsbo.Oracle, m dsbo.Mixer) error {
	w := a.newTurn(ctx, k, o, m)
	p, q := len(a.x), len(a.y)
	directions(&w, &a.state, a.g, a.h, a.b, a.j)

	linalg.Comb(a.out[:p], 1, a.x, -a.alpha(k), a.r)   // x − α r, the old r
	linalg.Comb(a.out[p:p+q], 1, a.y, -a.beta(k), a.g) // y − β ∇_y g
	linalg.Comb(a.out[p+q:], 1, a.z, -a.gamma(k), a.h) // z − γ (Hz − b)
	w.mix(a.in, a.out, p, q, q)
	copy(a.x, a.in[:p])
	copy(a.y, a.in[p:p+q])
	copy(a.z, a.in[p+q:])
	linalg.Comb(a.r, 1-a.Theta, a.r, a.Theta, a.u) // r = (1−θ) r + θ u
	return w.err
}

// directions asks for the three directions of a single-loop method at one point:
// g = ∇_y g, h = Hz − b, u = ∇_x f − J z.
func directions(w *turn, s *state, g, h, b, j []float64) {
	w.lowerGrad(g, s.x, s.y, w.draw(dsbo.Lower, 0))
	w.upperGrad(s.u, b, s.x, s.y, w.draw(dsbo.Upper, 0))
	w.hvp(h, s.x, s.y, s.z, w.draw(dsbo.Curvature, 0))
	linalg.Sub(h, h, b)
	implicitGrad(w, s.u, j, s.x, s.y, s.z)
}
