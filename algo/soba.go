package algo

import (
	"context"

	"dsbo"
)

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
	c := a.prepare(a, p, q, K)
	if c.err != nil {
		return c.err
	}
	a.d = a.directionTriple()
	return nil
}

// Cost of an iteration: nothing is sent; one gradient of f and of g, one Hessian- and one
// Jacobian-vector product.
func (a *SOBA) Cost(int) Cost {
	return Cost{Calls: directionCalls(1)}
}

// Step is one outer iteration; m is not used.
func (a *SOBA) Step(ctx context.Context, k int, o dsbo.Oracle, m dsbo.Mixer) error {
	w := a.newTurn(ctx, k, o, m)
	a.directions(&w, a.d, a.point, drawsOf(k))
	a.descend(a.d, k) // x −= α (∇_x f − J z), y −= β ∇_y g, z −= γ (Hz − b)
	return w.err
}
