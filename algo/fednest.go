package algo

import (
	"dsbo"
	"dsbo/internal/linalg"
)

// FedNest is FEDNEST (Tarzanagh, Li, Thrampoulidis, Oymak, "FedNest: Federated Bilevel, Minimax,
// and Compositional Optimization", ICML 2022), with every client in every round. The mixer must be
// the exact average (the complete graph with weights 1/n), written avg:
//
//	T times:  G = ∇_y g(x,y);  h = avg(G);  v = y;
//	          τ times v −= (β/τ)(∇_y g(x,v) − G + h);  y = avg(v)
//	"sum":    c = avg(b), z = c;  N−1 times c = avg(c − Hc/l), z += c;  z = z/l
//	draw N':  z = (N/l) avg(b);  N' times z = avg(z − Hz/l)
//	F = ∇_x f(x,y);  u = avg(F − J z);  v = x;  τ times v −= (α/τ)(∇_x f(v,y) − F + u);
//	          x = avg(v)
//
// The original is known with high certainty; that the sum stands in for the random draw, and the
// sampling, are our reading. Draws: round t uses {Lower, k, t} for G and for the local steps, so
// that they differ by v alone and not by their examples; b, F and the local steps of x use
// {Upper, k, 0}. In the first local step v = y and the difference is 0, so it needs no gradient.
type FedNest struct {
	Alpha Schedule `json:"alpha,omitzero" default:"0.1"` // α, step of x, below 1/L_Φ
	Beta  Schedule `json:"beta,omitzero" default:"0.1"`  // β, step of y, below 2/L_g
	T     int      `json:"T,omitzero" default:"10"`      // rounds of y
	N     int      `json:"N,omitzero" default:"10"`      // terms of the Neumann series
	Tau   int      `json:"tau,omitzero" default:"1"`     // τ, local steps of a client in a round
	// l, at least the largest eigenvalue of any H_i; must be given
	L      Schedule `json:"lg,omitzero"`
	NPrime []int    `json:"nprime,omitempty"` // draws of the truncation N', one an iteration; empty: the series

	methodState
	inverse    neumann   // the Neumann series of H⁻¹
	g, h, v, d []float64 // length q
	f, e, j    []float64 // length p
	b, vx      []float64 // ∇_y f; the direction of x
}

// Init implements [Method].
func (a *FedNest) Init(p, q, K int) error {
	return a.prepare(a, p, q, K, func(*checker) {
		a.inverse = newNeumann(q, a.N, a.NPrime, true)
		a.scratch(q, &a.g, &a.h, &a.v, &a.d, &a.b)
		a.scratch(p, &a.f, &a.e, &a.j, &a.vx)
	})
}

// Cost of an iteration: 2Tq + Nq + 2p numbers up, and as many down, in 2T+N+2 exchanges; for a draw
// N'+1 in place of N. Tτ gradients of g, τ of f, N−1 (N') Hessian-vector products and one
// Jacobian-vector product.
func (a *FedNest) Cost(k int) Cost {
	p, q, n := len(a.x), len(a.y), a.inverse.products(k)
	return Cost{
		Floats: 2*a.T*q + (n+1)*q + 2*p, Messages: 2*a.T + n + 3,
		Calls: dsbo.Calls{UpperGrad: a.Tau, LowerGrad: a.T * a.Tau, HVP: n, JVP: 1},
	}
}

// Traits implements [Described].
func (a *FedNest) Traits() Traits { return a.traits(Traits{ExactAverage: true}) }

// step is one outer iteration.
func (a *FedNest) step(w *Turn, k int) {
	for t := range w.steps(a.T) {
		a.roundOfY(w, t, a.beta(k)/float64(a.Tau))
	}
	w.UpperGrad(a.f, a.b, a.x, a.y, w.Draw(dsbo.Upper, 0))
	a.inverse.solve(w, a.z, a.b, a.x, a.y, 1/a.lg())
	a.roundOfX(w, a.alpha(k)/float64(a.Tau))
}

// roundOfY is round t of y: an exchange of gradients, Tau local steps of the given size, and the
// average of the agents' y. The first local step is along h alone, as G cancels the gradient there.
func (a *FedNest) roundOfY(w *Turn, t int, step float64) {
	s := w.Draw(dsbo.Lower, t)
	w.LowerGrad(a.g, a.x, a.y, s) // G
	w.Mix(a.h, a.g)               // h = avg(G)
	copy(a.v, a.y)
	linalg.Axpy(a.v, -step, a.h)
	for range a.Tau - 1 {
		w.LowerGrad(a.d, a.x, a.v, s)
		correctedStep(a.v, a.d, a.g, a.h, step)
	}
	w.Mix(a.y, a.v) // y = avg(v)
}

// roundOfX is the round of x, of the same form as a round of y. On entry a.f is F = ∇_x f.
func (a *FedNest) roundOfX(w *Turn, step float64) {
	copy(a.e, a.f)
	implicitGrad(w, a.e, a.j, a.x, a.y, a.z)
	w.Mix(a.u, a.e) // u = avg(F − J z)
	copy(a.vx, a.x)
	linalg.Axpy(a.vx, -step, a.u)
	for range a.Tau - 1 {
		w.UpperGrad(a.e, nil, a.vx, a.y, w.Draw(dsbo.Upper, 0))
		correctedStep(a.vx, a.e, a.f, a.u, step)
	}
	w.Mix(a.x, a.vx) // x = avg(v)
}

// correctedStep is a local step with the server's correction: v −= step (at − from + server).
func correctedStep(v, at, from, server []float64, step float64) {
	for i := range v {
		v[i] -= float64(step * (at[i] - from[i] + server[i]))
	}
}
