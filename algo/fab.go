package algo

import (
	"cmp"

	"dsbo"
)

// FAB is FAB (Ma, Wang, Yao, Zhang, ICML 2026), for directed graphs that may change: a penalty as
// in [DBIFO], Push-Pull for its gradients P. A has rows, B columns that sum to 1.
//
//	at the start: T = P
//	(x, y, z) ← A_k (x, y, z) − (α T_x, β T_y, γ T_z)       pull
//	T ← B_k T + P⁺ − P, P⁺ at the new point                 push
//
// Known with medium to high certainty, from a summary: the penalty, the order pull, evaluate, push,
// and the tracker's line. Our reading: the step is outside of the pull (as in AB of Xin and Khan),
// and λ is constant (theirs is K^{1/3}). The sum of T over the agents is the sum of P always,
// whence x converges as in DBIFO; a T with rows that sum to 1 would lead elsewhere. Where edges
// have no direction A = B = W, and it is DBIFO with a = 1, also with order 2. No draws are
// forgotten, so FAB takes all examples.
type FAB struct {
	Alpha Schedule `json:"alpha,omitzero" default:"0.1"`             // α, step of x
	Beta  Schedule `json:"beta,omitzero" default:"0.01"`             // β, step of y, below 2/(L_f + λL_g)
	Gamma Schedule `json:"gamma,omitzero" default:"0.01"`            // γ, step of z, below 2/(λL_g)
	Lam   float64  `json:"lam,omitzero" default:"10"`                // λ, weight of the penalty
	Order int      `json:"order,omitzero" default:"1" must:"1 or 2"` // 2: central differences

	tripleState
	tracker, last triple // T, P
	next          triple // P⁺, whose x is u
	in            triple // the mix of the vector that was sent
}

// Init implements [Method].
func (a *FAB) Init(p, q, K int) error {
	return a.prepare(a, p, q, K, func(c *checker) {
		c.centralSteps(a.Order, a.Lam, a.Lam)
		a.tracker, a.last = a.carriedTriple("tracker"), a.carriedTriple("last")
		a.tracksTriple(a.tracker, a.last)
		a.next, a.in = a.directionTriple(), a.newTriple()
	})
}

// Traits implements [Described].
func (a *FAB) Traits() Traits {
	lambda := cmp.Or(a.Lam, penaltyWeight)
	return penaltyTraits(a.traits(Traits{Directed: true,
		FullBatch: "its tracker is of the gradients themselves; dbifo takes draws"}), a.Order, lambda, lambda)
}

// Cost of an iteration: 2p + 4q numbers to each that hears the agent, in two messages; two
// gradients of g in both variables and one or, with order 2, two of f, twice as many in the first.
func (a *FAB) Cost(k int) Cost {
	cost := Cost{Floats: 2 * len(a.last.all), Messages: 2, Calls: dsbo.Calls{UpperGrad: a.Order, LowerGrad: 2}}
	if k == 0 {
		cost.UpperGrad, cost.LowerGrad = 2*a.Order, 4
	}
	return cost
}

// step is one outer iteration.
func (a *FAB) step(w *Turn, k int) {
	if k == 0 {
		a.penaltyDirections(w, a.last, a.point, a.Lam, a.Order, wholeDraws)
		copy(a.tracker.all, a.last.all)
	}
	mixDirected(w, a.in.all, a.point.all, w.exchanges.Pull)
	copy(a.point.all, a.in.all)
	a.descend(a.tracker, k)
	a.penaltyDirections(w, a.next, a.point, a.Lam, a.Order, wholeDraws)
	mixDirected(w, a.in.all, a.tracker.all, w.exchanges.Push)
	track(a.tracker.all, a.in.all, a.next.all, a.last.all) // T ← B T + P⁺ − P
}
