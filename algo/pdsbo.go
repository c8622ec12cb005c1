package algo

import (
	"context"

	"dsbo"
	"dsbo/internal/vec"
)

// Gossip is the plain method for the personalized problem, in which agent i has its own
// y_i*(x) = argmin g_i(x, ·) and only x is shared:
//
//	T times y −= β ∇_y g(x, y);  z = 0, N times z −= γ(Hz − b);  u = ∇_x f − J z
//	x ← mix(x) − α u
//
// It is decentralized gradient descent, with a bias of order α. Of SPDB (Lu et al. 2022) only the
// problem and its kind are certain; this is the baseline, not SPDB. Draws: {Lower, k, t},
// {Upper, k, 0}, the Jacobian at {Curvature, k, 0}, products at {Curvature, k, t}, t = 1..N−1.
type Gossip struct {
	Alpha Schedule `json:"alpha,omitzero"` // α, step of x; default 0.1
	Beta  Schedule `json:"beta,omitzero"`  // β, step of y; default 0.1
	Gamma Schedule `json:"gamma,omitzero"` // γ, step of z; default 0.1
	T     int      `json:"T,omitzero"`     // local steps of y; default 10
	N     int      `json:"N,omitzero"`     // local steps of z; default 10

	state
	b, h, j, mixed []float64
}

// Init implements [Method].
func (a *Gossip) Init(p, q, K int) error {
	c := a.prepare("pdsbo_gossip", p, q, K)
	a.alpha, a.beta, a.gamma = c.step("alpha", &a.Alpha), c.step("beta", &a.Beta), c.step("gamma", &a.Gamma)
	c.count("T", &a.T, 10)
	c.count("N", &a.N, 10)
	if c.err != nil {
		return c.err
	}
	a.b, a.h, a.j, a.mixed = vecs(q), vecs(q), vecs(p), vecs(p)
	return nil
}

// Cost of an iteration: p numbers to each neighbour in one message; T gradients of g, one of f,
// N−1 Hessian-vector products and one Jacobian-vector product.
func (a *Gossip) Cost(int) Cost {
	return Cost{Floats: len(a.x), Messages: 1, Calls: Calls{UpperGrad: 1, LowerGrad: a.T, HVP: a.N - 1, JVP: 1}}
}

// Traits implements the option of [Method].
func (a *Gossip) Traits() Traits { return Traits{Personalized: true} }

// Step is one outer iteration.
func (a *Gossip) Step(ctx context.Context, k int, o dsbo.Oracle, m dsbo.Mixer) error {
	w := a.begin(ctx, k, o, m)
	a.solveLocal(&w, a.b, a.h, a.j, a.T, a.N, a.beta(k), a.gamma(k))
	w.mix(a.mixed, a.x)
	vec.Comb(a.x, 1, a.mixed, -a.alpha(k), a.u)
	return w.err
}

// solveLocal is what an agent of the personalized problem does by itself: it moves y, and leaves z and u. The first step of z
// from 0 needs no product.
func (s *state) solveLocal(w *turn, b, h, j []float64, T, N int, beta, gamma float64) {
	descend(w, s.x, s.y, h, T, beta)
	w.upperGrad(s.u, b, s.x, s.y, w.draw(dsbo.Upper, 0))
	vec.Scale(s.z, gamma, b)
	for t := 1; t < N; t++ {
		w.hvp(h, s.x, s.y, s.z, w.draw(dsbo.Curvature, t))
		vec.Sub(h, h, b)
		vec.Axpy(s.z, -gamma, h)
	}
	implicit(w, s.u, j, s.x, s.y, s.z)
}
