package algo

import (
	"cmp"

	"dsbo"
)

// DBIFO is a decentralized single loop without Hessians and Jacobians, as a public trainer of the
// name DecBiFirstOrder has it (very likely of the ICML 2026 poster "Decentralized
// Hessian-/Jacobian-Free Algorithm for Nonconvex Stochastic Bilevel Optimization"). z is a second
// y; λ weighs the penalty g(x, y) − g(x, z):
//
//	P = (∇_x f + λ(∇_x g(x,y) − ∇_x g(x,z)),  ∇_y f + λ ∇_y g(x,y),  λ ∇_y g(x,z))
//	first: T = M = P; then M⁺ = (1−a)(M − P₋) + P,  T ← mix(T) + M⁺ − M
//	(x, y, z) ← mix(x, y, z) − (α T_x, β T_y, γ T_z)
//
// P₋ is P at the point before, on the draw of now (STORM). The lines are certain, from the code,
// which has one step η for all, λ = 1/ρ and a = αη². With a = 1 it is our reading of DSGDA-GT
// (Wang, Chen, Ma, Zhang 2024), of which we know the abstract alone.
//
// Each agent converges to the x where the gradient of min_y [f + λ(g − min_z g)] is 0: ∇Φ there is
// of order 1/λ, and of order 1/λ² with order 2 (penalty.go), of which no publication for agents in
// a network is known to us. Safe are β < 2/(L_f + λL_g) and γ < 2/(λL_g), less on a network. Draws:
// {Lower, k, 0} and {Upper, k, 0}, at both points.
type DBIFO struct {
	Alpha Schedule `json:"alpha,omitzero" default:"0.1"`              // α, step of x
	Beta  Schedule `json:"beta,omitzero" default:"0.01"`              // β, step of y
	Gamma Schedule `json:"gamma,omitzero" default:"0.01"`             // γ, step of z
	Lam   float64  `json:"lam,omitzero" default:"10"`                 // λ, weight of the penalty
	Order int      `json:"order,omitzero" default:"1" must:"1 or 2"`  // 2: central differences
	A     float64  `json:"a,omitzero" default:"0.5" must:"in (0, 1]"` // a, weight of what is forgotten of M

	tripleState
	t, m, before triple    // T; M; x, y and z of the iteration before
	p, past      triple    // P, P₋
	message      []float64 // x, y, z and T, in one vector
}

// Init implements [Method].
func (a *DBIFO) Init(p, q, K int) error {
	return a.prepare(a, p, q, K, func(c *checker) {
		c.centralSteps(a.Order, a.Lam, a.Lam)
		a.t, a.m, a.before = a.carriedTriple("tracker"), a.carriedTriple("momentum"), a.carriedTriple("before")
		a.tracksTriple(a.t, a.m)
		a.p, a.past = a.newTriple(), a.newTriple()
		a.u = a.p.x
		a.message = a.newVec(2 * len(a.p.all))
	})
}

// Traits implements [Described].
func (a *DBIFO) Traits() Traits {
	lambda := cmp.Or(a.Lam, penaltyWeight)
	return penaltyTraits(a.traits(Traits{}), a.Order, lambda, lambda)
}

// Cost of an iteration: 2p + 4q numbers to each neighbour in one message (p + 2q in the first); two
// gradients of g in both variables and one or, with order 2, two of f, twice as many from the
// second on where a < 1.
func (a *DBIFO) Cost(k int) Cost {
	cost := Cost{Floats: 2 * len(a.p.all), Messages: 1, Calls: dsbo.Calls{UpperGrad: a.Order, LowerGrad: 2}}
	switch {
	case k == 0:
		cost.Floats /= 2
	case a.A < 1:
		cost.UpperGrad, cost.LowerGrad = 2*a.Order, 4
	}
	return cost
}

// step is one outer iteration.
func (a *DBIFO) step(w *Turn, k int) {
	if k > 0 && a.A < 1 {
		a.penaltyDirections(w, a.past, a.before, a.Lam, a.Order, drawsOf(k)) // P₋
	}
	a.penaltyDirections(w, a.p, a.point, a.Lam, a.Order, drawsOf(k))
	momentum := a.p // M⁺, at first P
	if k > 0 {
		momentum = a.past                                      // M⁺ overwrites P₋
		storm(momentum.all, a.m.all, a.p.all, a.past.all, a.A) // with a = 1 whatever P₋ is
	}
	copy(a.before.all, a.point.all)
	a.trackedStep(w, k > 0, a.t, a.m, momentum, a.message) // T ← mix(T) + M⁺ − M
}
