package algo

import (
	"dsbo"
	"dsbo/internal/linalg"
)

// MDBO is Momentum-based Distributed Bilevel Optimization (Gao, Gu, Thai, "On the Convergence of
// Distributed Stochastic Bilevel Optimization Algorithms over a Network", AISTATS 2023):
//
//	F = ∇_x f − J S_N(b), S_N(b) = (1/l) Σ_{m<N} (I − H/l)^m b, all of it local;  G = ∇_y g
//	first: u = zF = F, v = zG = G; then
//	u⁺ = (1−a_1η)u + a_1ηF,  v⁺ = (1−a_2η)v + a_2ηG,  zF ← mix(zF) + u⁺ − u,
//	zG ← mix(zG) + v⁺ − v
//	x += η(mix(x) − α zF − x),  y += η(mix(y) − β zG − y)
//
// It tracks the average of local hypergradients, each with the agent's own inverse Hessian. That
// average is the hypergradient only when all g_i are equal: when data differ the method stops where
// the exact gradient is not zero, however small the steps and however many the terms.
//
// The lines are certain, from the paper, which draws N' from one value more, 0..N. Draws:
// {Upper, k, 0}, {Lower, k, 0}, the Jacobian at {Curvature, k, 0}, products at {Curvature, k, 1..}.
type MDBO struct {
	Alpha Schedule `json:"alpha,omitzero" default:"0.1"` // α (the paper's β_1), step of x
	Beta  Schedule `json:"beta,omitzero" default:"0.1"`  // β (its β_2), step of y
	A1    float64  `json:"a1,omitzero" default:"1"`      // a_1, momentum of x, a_1 η in (0, 1]
	A2    float64  `json:"a2,omitzero" default:"1"`      // a_2, momentum of y, a_2 η in (0, 1]
	// η, how far to go from the old point to the new
	Eta    Schedule `json:"eta,omitzero" default:"1" must:"in (0, 1]"`
	L      Schedule `json:"lg,omitzero"`             // l, at least the largest eigenvalue of any H_i; must be given
	N      int      `json:"N,omitzero" default:"10"` // terms of the Neumann series (its J)
	NPrime []int    `json:"nprime,omitempty"`        // draws of the truncation N', one an iteration; empty: the series

	localTracker
}

// Init implements [Method].
func (a *MDBO) Init(p, q, K int) error {
	return a.prepare(a, p, q, K, func(c *checker) {
		bound := min(1, 1/max(a.A1, a.A2))
		c.schedule("eta", a.Eta, "in (0, 1], and at most 1/a1 and 1/a2",
			func(v float64) bool { return v > 0 && v <= bound })
		a.inverse = newNeumann(q, a.N, a.NPrime, false)
	})
}

// Cost of an iteration: 2p + 2q numbers to each neighbour (p + q in the first) in one message; one
// gradient of f and of g, N−1 (N') Hessian-vector products and one Jacobian-vector product.
func (a *MDBO) Cost(k int) Cost { return a.localTracker.cost(k) }

// step is one outer iteration.
func (a *MDBO) step(w *Turn, k int) {
	eta := a.schedules["eta"](k)
	a.gradients(w, a.fx, a.g, a.z, a.x, a.y)
	linalg.Comb(a.un, 1-float64(a.A1*eta), a.u, float64(a.A1*eta), a.fx) // u⁺
	linalg.Comb(a.vn, 1-float64(a.A2*eta), a.v, float64(a.A2*eta), a.g)  // v⁺
	a.trackAndStep(w, eta)
}

// A localTracker is the state of a method that tracks local hypergradients F and gradients G.
type localTracker struct {
	methodState
	inverse neumann   // the Neumann series of H⁻¹
	v       []float64 // the moving average of G, as u is of F
	zF, zG  []float64 // trackers of u and v
	fx, g   []float64 // F, G
	un, vn  []float64 // u⁺, v⁺
	b, j    []float64 // scratch
	message []float64 // x, y and the trackers
}

// prepare calls methodState.prepare, and makes the vectors before complete.
func (a *localTracker) prepare(m stepper, p, q, K int, complete func(c *checker)) error {
	return a.methodState.prepare(m, p, q, K, func(c *checker) {
		a.u, a.v = a.carried("u", p), a.carried("v", q)
		a.zF, a.zG = a.carried("u_tracker", p), a.carried("v_tracker", q)
		a.tracks(a.zF, a.u)
		a.tracks(a.zG, a.v)
		a.scratch(p, &a.fx, &a.j, &a.un)
		a.scratch(q, &a.g, &a.b, &a.vn)
		a.message = a.newVec(2 * (p + q))
		complete(c)
	})
}

// cost is the cost of an iteration that asks for one F and one G.
func (a *localTracker) cost(k int) Cost {
	floats := 2 * (len(a.x) + len(a.y))
	if k == 0 { // no trackers are sent yet
		floats /= 2
	}
	return Cost{
		Floats: floats, Messages: 1,
		Calls: implicitCalls(1, a.inverse.products(k)),
	}
}

// gradients writes F, with its z, and G at (x, y).
func (a *localTracker) gradients(w *Turn, f, g, z, x, y []float64) {
	w.UpperGrad(f, a.b, x, y, w.Draw(dsbo.Upper, 0))
	a.inverse.solve(w, z, a.b, x, y, 1/a.lg())
	implicitGrad(w, f, a.j, x, y, z) // F = ∇_x f − J z
	w.LowerGrad(g, x, y, w.Draw(dsbo.Lower, 0))
}

// trackAndStep exchanges x, y and the trackers, updates the trackers by u⁺ and v⁺, and steps along
// them. In iteration 0 there are no trackers to exchange: they start as F and G.
func (a *localTracker) trackAndStep(w *Turn, eta float64) {
	p, q, in := len(a.x), len(a.y), a.message
	if w.k == 0 {
		w.mixJoined(in, a.x, a.y)
		copy(a.u, a.fx)
		copy(a.v, a.g)
		copy(a.zF, a.fx)
		copy(a.zG, a.g)
	} else {
		w.mixJoined(in, a.x, a.y, a.zF, a.zG)
		track(a.zF, in[p+q:2*p+q], a.un, a.u)
		track(a.zG, in[2*p+q:], a.vn, a.v)
	}
	relaxedStep(a.x, in[:p], a.zF, eta, a.alpha(w.k))   // x += η(mix(x) − α zF − x)
	relaxedStep(a.y, in[p:p+q], a.zG, eta, a.beta(w.k)) // y += η(mix(y) − β zG − y)
}

// relaxedStep sets v += η(mixed − step d − v).
func relaxedStep(v, mixed, d []float64, eta, step float64) {
	for i := range v {
		v[i] += float64(eta * (mixed[i] - float64(step*d[i]) - v[i]))
	}
}
