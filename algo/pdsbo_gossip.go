package algo

import (
	"dsbo"
	"dsbo/internal/linalg"
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
	Alpha Schedule `json:"alpha,omitzero" default:"0.1"` // α, step of x
	Beta  Schedule `json:"beta,omitzero" default:"0.1"`  // β, step of y
	Gamma Schedule `json:"gamma,omitzero" default:"0.1"` // γ, step of z
	T     int      `json:"T,omitzero" default:"10"`      // local steps of y
	N     int      `json:"N,omitzero" default:"10"`      // local steps of z

	personalState
}

// Init implements [Method].
func (a *Gossip) Init(p, q, K int) error {
	return a.prepare(a, p, q, K, func(*checker) {})
}

// Traits implements [Described].
func (a *Gossip) Traits() Traits { return a.traits(Traits{Personalized: true}) }

// Cost of an iteration: p numbers to each neighbour in one message; T gradients of g, one of f,
// N−1 Hessian-vector products and one Jacobian-vector product.
func (a *Gossip) Cost(int) Cost { return a.cost(a.T, a.N) }

// step is one outer iteration.
func (a *Gossip) step(w *Turn, k int) {
	a.solve(w, a.T, a.N)
	w.MixAdd(a.x, a.x, -a.alpha(k), a.u) // x = mix(x) − α u
}

// A personalState is the state of a method for the personalized problem.
type personalState struct{ localState }

// cost is the cost of an iteration.
func (s *personalState) cost(T, N int) Cost {
	return Cost{Floats: len(s.x), Messages: 1, Calls: implicitCalls(T, N-1)}
}

// solve moves y and leaves z and u. The first step of z from 0 needs no product.
func (s *personalState) solve(w *Turn, T, N int) {
	s.descendY(w, T)
	gamma := s.gamma(w.k)
	linalg.Scale(s.z, gamma, s.b) // z = 0 − γ (H 0 − b)
	for t := 1; t < N; t++ {
		w.HVP(s.g, s.x, s.y, s.z, w.Draw(dsbo.Curvature, t))
		linalg.Sub(s.g, s.g, s.b)
		linalg.Axpy(s.z, -gamma, s.g) // z −= γ (Hz − b)
	}
	implicitGrad(w, s.u, s.j, s.x, s.y, s.z) // u = ∇_x f − J z
}
