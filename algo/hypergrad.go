package algo

import (
	"context"

	"dsbo"
)

// Hypergradient is Algorithm 2 of the paper: agent i's estimate of the hypergradient of Φ,
//
//	u = ∇_x f_i(x, y; φ_0) − ∇²_xy g_i(x, y; ξ_0) z_N,
//
// with z_N from [HIGP]. The mean of u over the agents estimates ∇Φ(x) when y is near y*(x): the
// average is taken of H and b, not of local hypergradients, which would be biased (eq. 4).
// φ_0 serves b_0 and ∇_x f, so they come from one call; ξ_0 serves the Jacobian.
type Hypergradient struct {
	gamma Schedule
	n     int
	higp  *HIGP
	u, j  []float64 // j is scratch
}

// NewHypergradient makes the estimator of one agent. Zero gamma and N mean 0.1 and 10.
func NewHypergradient(p, q int, gamma Schedule, N int) (*Hypergradient, error) {
	if err := sized("hypergradient", p, q); err != nil {
		return nil, err
	}
	c := MADSBOParams{Gamma: gamma, N: N}
	if err := c.validate("hypergradient"); err != nil {
		return nil, err
	}
	return newHypergradient(p, q, c.withDefaults()), nil
}

func newHypergradient(p, q int, c MADSBOParams) *Hypergradient {
	return &Hypergradient{gamma: c.Gamma, n: c.N, higp: newHIGP(q), u: make([]float64, p), j: make([]float64, p)}
}

// Estimate runs Algorithm 2 at (x, y) with the draws of iteration k.
func (h *Hypergradient) Estimate(ctx context.Context, k int, o dsbo.Oracle, m dsbo.Mixer, x, y []float64) error {
	w := begin("hypergradient", ctx, k, o, m, len(h.u), len(h.higp.z))
	h.run(&w, x, y)
	return w.err
}

// Z returns a view of z_N.
func (h *Hypergradient) Z() []float64 { return h.higp.z }

// U returns a view of u.
func (h *Hypergradient) U() []float64 { return h.u }

func (h *Hypergradient) run(w *turn, x, y []float64) {
	h.higp.run(w, h.u, x, y, h.gamma.At(w.k), h.n) // lines 2-5; u = ∇_x f(φ_0), line 6
	implicit(w, h.u, h.j, x, y, h.higp.z)          // line 7: − J(ξ_0) z_N
}
