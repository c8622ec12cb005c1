package algo

import (
	"context"

	"dsbo"
	"dsbo/internal/linalg"
)

// Hypergradient is Algorithm 2 of the paper: agent i's estimate of the hypergradient of Φ,
//
//	u = ∇_x f_i(x, y; φ_0) − ∇²_xy g_i(x, y; ξ_0) z_N,
//
// with z_N from [HIGP]. The mean of u over the agents estimates ∇Φ(x) when y is near y*(x): the
// average is taken of H and b, not of local hypergradients, which would be biased (eq. 4).
// φ_0 serves b_0 and ∇_x f, so they come from one call; ξ_0 serves the Jacobian.
type Hypergradient struct {
	higp  *HIGP
	u, ju []float64
}

// NewHypergradient makes the estimator of one agent for x of length p and y of length q.
func NewHypergradient(p, q int) *Hypergradient {
	return &Hypergradient{higp: NewHIGP(q), u: make([]float64, p), ju: make([]float64, p)}
}

// Estimate runs Algorithm 2 at (x, y), with the draws of iteration k and N steps of size gamma.
func (h *Hypergradient) Estimate(ctx context.Context, k int, o dsbo.Oracle, m dsbo.Mixer, x, y []float64,
	gamma float64, N int) error {
	w := newTurn("hypergradient", ctx, k, o, m, len(h.u), len(h.higp.z))
	h.run(&w, x, y, gamma, N)
	return w.err
}

// Z returns a view of z_N.
func (h *Hypergradient) Z() []float64 { return h.higp.z }

// U returns a view of u.
func (h *Hypergradient) U() []float64 { return h.u }

// run is Estimate in a turn that has begun; errors stay in the turn.
func (h *Hypergradient) run(w *Turn, x, y []float64, gamma float64, N int) {
	h.higp.run(w, h.u, x, y, gamma, N)                     // lines 2-5: Algorithm 1; φ_0 leaves ∇_x f in u, line 6
	w.JVP(h.ju, x, y, h.higp.z, w.Draw(dsbo.Curvature, 0)) // line 7: J(ξ_0) z_N
	linalg.Sub(h.u, h.u, h.ju)                             // line 7: u = ∇_x f − J z_N
}
