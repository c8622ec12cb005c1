package algo

import (
	"math"

	"dsbo/internal/linalg"
)

// VRDBO is Algorithm 2 of Gao, Gu, Thai, "On the Convergence of Distributed Stochastic Bilevel
// Optimization Algorithms over a Network", AISTATS 2023: [MDBO] with variance reduction (STORM).
//
//	F = ∇_x f − J S_N(b), S_N(b) = (1/l) Σ_{m<N} (I − H/l)^m b, all of it local;  G = ∇_y g
//	first: u = zF = F, v = zG = G; then, with F₋ and G₋ at the point before, on the draw of now,
//	u⁺ = (1−m_1)(u + F − F₋) + m_1 F,  zF ← mix(zF) + u⁺ − u;  m_1 = a_1 η²
//	v⁺ = (1−m_2)(v + G − G₋) + m_2 G,  zG ← mix(zG) + v⁺ − v;  m_2 = a_2 η²
//	x += η(mix(x) − α zF − x),  y += η(mix(y) − β zG − y)
//
// The lines are certain, from the paper. On all examples u is F whatever a_1 is, and the method is
// MDBO with a η = 1. It converges to MDBO's point, in which each agent inverts its own Hessian (the
// paper assumes data of one distribution): the gradient there is 0 only when all g_i are equal.
// Draws, at both points: {Upper, k, 0}, {Lower, k, 0}, the Jacobian at {Curvature, k, 0}, products
// at {Curvature, k, 1..}.
type VRDBO struct {
	Alpha Schedule `json:"alpha,omitzero" default:"0.1"` // α (the paper's β_1), step of x
	Beta  Schedule `json:"beta,omitzero" default:"0.1"`  // β (its β_2), step of y
	A1    float64  `json:"a1,omitzero" default:"0.5"`    // a_1, a_1 η² in (0, 1]
	A2    float64  `json:"a2,omitzero" default:"0.5"`    // a_2, a_2 η² in (0, 1]
	// η, how far to go from the old point to the new
	Eta    Schedule `json:"eta,omitzero" default:"1" must:"in (0, 1]"`
	L      Schedule `json:"lg,omitzero"`             // l, at least the largest eigenvalue of any H_i; must be given
	N      int      `json:"N,omitzero" default:"10"` // terms of the Neumann series (its J)
	NPrime []int    `json:"nprime,omitempty"`        // draws of the truncation N', one an iteration; empty: the series

	localTracker
	xOld, yOld       []float64 // x and y of the iteration before
	fOld, gOld, zOld []float64 // F₋, G₋, and the z that F₋ comes with
}

// Init implements [Method].
func (a *VRDBO) Init(p, q, K int) error {
	return a.prepare(a, p, q, K, func(c *checker) {
		bound := min(1, math.Sqrt(1/max(a.A1, a.A2)))
		c.schedule("eta", a.Eta, "in (0, 1], and its square at most 1/a1 and 1/a2",
			func(v float64) bool { return v > 0 && v <= bound })
		a.inverse = newNeumann(q, a.N, a.NPrime, false)
		a.xOld, a.yOld = a.carried("x_before", p), a.carried("y_before", q)
		a.scratch(p, &a.fOld)
		a.scratch(q, &a.gOld, &a.zOld)
	})
}

// Cost of an iteration: 2p + 2q numbers to each neighbour in one message; two gradients of f and of
// g, 2(N−1) (2N') Hessian-vector products and two Jacobian-vector products; half of all that in the
// first.
func (a *VRDBO) Cost(k int) Cost {
	cost := a.localTracker.cost(k)
	if k > 0 {
		cost.UpperGrad, cost.LowerGrad, cost.HVP, cost.JVP = 2, 2, 2*cost.HVP, 2
	}
	return cost
}

// step is one outer iteration.
func (a *VRDBO) step(w *Turn, k int) {
	eta := a.schedules["eta"](k)
	a.gradients(w, a.fx, a.g, a.z, a.x, a.y)
	if k > 0 {
		a.gradients(w, a.fOld, a.gOld, a.zOld, a.xOld, a.yOld)
	}
	storm(a.un, a.u, a.fx, a.fOld, float64(a.A1*float64(eta*eta))) // u⁺
	storm(a.vn, a.v, a.g, a.gOld, float64(a.A2*float64(eta*eta)))  // v⁺
	copy(a.xOld, a.x)
	copy(a.yOld, a.y)
	a.trackAndStep(w, eta)
}

// storm sets dst = (1−m)(v + now − past) + m now, the estimator of STORM.
func storm(dst, v, now, past []float64, m float64) {
	linalg.Comb(dst, 1-m, v, -(1 - m), past)
	linalg.Add(dst, dst, now)
}
