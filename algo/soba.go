package algo

// SOBA is SOBA (Dagréou, Ablin, Vaiter, Moreau, "A framework for bilevel optimization that enables
// stochastic and global variance reduction algorithms", NeurIPS 2022), for one agent. All at once:
//
//	x −= α (∇_x f − J z),  y −= β ∇_y g,  z −= γ (H z − b)
//
// The method is certain. Draws: {Lower, k, 0}, {Upper, k, 0}, {Curvature, k, 0} for both products.
type SOBA struct {
	Alpha Schedule `json:"alpha,omitzero" default:"0.1"` // α, step of x
	Beta  Schedule `json:"beta,omitzero" default:"0.1"`  // β, step of y
	Gamma Schedule `json:"gamma,omitzero" default:"0.1"` // γ, step of z

	tripleState
	d triple
}

// Traits implements [Described].
func (a *SOBA) Traits() Traits { return a.traits(Traits{OneAgent: true}) }

// Init implements [Method].
func (a *SOBA) Init(p, q, K int) error {
	return a.prepare(a, p, q, K, func(*checker) {
		a.d = a.directionTriple()
	})
}

// Cost of an iteration: nothing is sent; one gradient of f and of g, one Hessian- and one
// Jacobian-vector product.
func (a *SOBA) Cost(int) Cost { return Cost{Calls: directionCalls(1)} }

// step is one outer iteration.
func (a *SOBA) step(w *Turn, k int) {
	a.directions(w, a.d, a.point, drawsOf(k))
	a.descend(a.d, k) // x −= α (∇_x f − J z), y −= β ∇_y g, z −= γ (Hz − b)
}
