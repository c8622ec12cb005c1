package algo

import (
	"context"

	"dsbo"
)

// ALSETParams are the parameters of [ALSET]. Zero means the default.
type ALSETParams struct {
	OneAgentParams
	L      float64 // l, at least the largest eigenvalue of H; must be given
	NPrime Terms   // which truncation of the series
}

// Validate names the first parameter that cannot work.
func (c ALSETParams) Validate() error {
	v := c.validate("alset")
	v.curvature(c.L)
	v.terms(c.NPrime)
	return v.err
}

// Cost of an iteration: nothing is sent; T gradients of g, one of f, N−1 (N' for a draw)
// Hessian-vector products and one Jacobian-vector product.
func (c ALSETParams) Cost(p, q, k int) Cost {
	d := c.withDefaults()
	return Cost{Calls: Calls{UpperGrad: 1, LowerGrad: d.T, HVP: c.NPrime.products(k, d.N), JVP: 1}}
}

// ALSET is ALSET (Chen, Sun, Yin, "Closing the Gap: Tighter Analysis of Alternating Stochastic
// Gradient Methods for Bilevel Problems", NeurIPS 2021), for one agent:
//
//	T times y −= β ∇_y g(x, y);  z = (1/l) Σ_{m<N} (I − H/l)^m b, or the draw (N/l)(I − H/l)^N' b
//	u = ∇_x f − J z;  x −= α u
//
// The method is certain; that the sum stands in for the random draw is our reading. Draws:
// {Lower, k, t}, {Upper, k, 0}, J at {Curvature, k, 0}, the m-th product at {Curvature, k, m}.
type ALSET struct {
	c ALSETParams
	solo
	inverse neumann
}

// NewALSET makes the method.
func NewALSET(p, q int, c ALSETParams) (*ALSET, error) {
	if err := sized("alset", p, q); err != nil {
		return nil, err
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c.OneAgentParams = c.withDefaults()
	return &ALSET{c: c, solo: newSolo(p, q, c.X0), inverse: newNeumann(q, c.N, c.NPrime, false)}, nil
}

// Step is one outer iteration; m is not used.
func (a *ALSET) Step(ctx context.Context, k int, o dsbo.Oracle, m dsbo.Mixer) error {
	w := begin("alset", ctx, k, o, m, len(a.x), len(a.y))
	a.descend(&w, a.c.OneAgentParams)
	w.upperGrad(a.u, a.b, a.x, a.y, w.draw(dsbo.Upper, 0))
	a.inverse.solve(&w, a.z, a.b, a.x, a.y, 1/a.c.L)
	a.finish(&w, a.c.Alpha)
	return w.err
}
