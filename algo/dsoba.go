package algo

import "dsbo/internal/linalg"

// DSOBA is D-SOBA in its second-order form (Kong, Zhu, Lu, Huang, Yuan, "Decentralized Bilevel
// Optimization: A Perspective from Transient Iteration Complexity", 2024). One loop, all at once:
//
//	x ← mix(x − α r),  y ← mix(y − β ∇_y g),  z ← mix(z − γ(Hz − b)),
//	r ← (1−θ) r + θ (∇_x f − J z)
//
// Known with medium to high certainty. Draws: {Lower, k, 0}, {Upper, k, 0}, and {Curvature, k, 0}
// for both products.
type DSOBA struct {
	Alpha Schedule `json:"alpha,omitzero" default:"0.1"`                  // α, step of x
	Beta  Schedule `json:"beta,omitzero" default:"0.1"`                   // β, step of y
	Gamma Schedule `json:"gamma,omitzero" default:"0.1"`                  // γ, step of z
	Theta float64  `json:"theta,omitzero" default:"0.5" must:"in (0, 1]"` // θ, weight of the fresh hypergradient in r

	tripleState
	r []float64 // the moving average of hypergradients
	d triple    // directions
}

// Init implements [Method].
func (a *DSOBA) Init(p, q, K int) error {
	return a.prepare(a, p, q, K, func(*checker) {
		a.r = a.carried("r", p)
		a.d = a.directionTriple()
	})
}

// Traits implements [Described].
func (a *DSOBA) Traits() Traits {
	return a.traits(Traits{OneLoop: true})
}

// Cost of an iteration: p + 2q numbers to each neighbour in one message; one gradient of f and of
// g, one Hessian- and one Jacobian-vector product.
func (a *DSOBA) Cost(int) Cost {
	return Cost{Floats: len(a.d.all), Messages: 1, Calls: directionCalls(1)}
}

// step is one outer iteration. x moves along r from before r takes up the new hypergradient.
func (a *DSOBA) step(w *Turn, k int) {
	a.directions(w, a.d, a.point, drawsOf(k))
	along := a.d
	along.x = a.r       // the old one
	a.descend(along, k) // x − α r, y − β ∇_y g, z − γ (Hz − b)
	w.Mix(a.point.all, a.point.all)
	linalg.Comb(a.r, 1-a.Theta, a.r, a.Theta, a.u) // r = (1−θ) r + θ u
}
