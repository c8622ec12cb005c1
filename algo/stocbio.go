package algo

import (
	"context"

	"dsbo"
)

// StocBiOParams are the parameters of [StocBiO]. Zero means the default.
type StocBiOParams struct {
	OneAgentParams
	Gamma Schedule // γ, step of the series, at most 1/λ_max(H); default 0.1
}

// Validate names the first parameter that cannot work.
func (c StocBiOParams) Validate() error {
	v := c.validate("stocbio")
	v.step("gamma", c.Gamma.or(0.1))
	return v.err
}

// Cost of an iteration: nothing is sent; T gradients of g, one of f, N−1 Hessian-vector products and
// one Jacobian-vector product.
func (c StocBiOParams) Cost(p, q, k int) Cost {
	d := c.withDefaults()
	return Cost{Calls: Calls{UpperGrad: 1, LowerGrad: d.T, HVP: d.N - 1, JVP: 1}}
}

// StocBiO is stocBiO (Ji, Yang, Liang, "Bilevel Optimization: Convergence Analysis and Enhanced
// Design", ICML 2021), for one agent:
//
//	T times y −= β ∇_y g(x, y);  z = γ Σ_{m<N} (I − γH)^m b;  u = ∇_x f − J z;  x −= α u
//
// The method is certain. Draws: {Lower, k, t}, {Upper, k, 0}, J at {Curvature, k, 0}, the m-th
// product at {Curvature, k, m}.
type StocBiO struct {
	c StocBiOParams
	solo
	inverse neumann
}

// NewStocBiO makes the method.
func NewStocBiO(p, q int, c StocBiOParams) (*StocBiO, error) {
	if err := sized("stocbio", p, q); err != nil {
		return nil, err
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c.OneAgentParams, c.Gamma = c.withDefaults(), c.Gamma.or(0.1)
	return &StocBiO{c: c, solo: newSolo(p, q, c.X0), inverse: newNeumann(q, c.N, Terms{}, false)}, nil
}

// Step is one outer iteration; m is not used.
func (a *StocBiO) Step(ctx context.Context, k int, o dsbo.Oracle, m dsbo.Mixer) error {
	w := begin("stocbio", ctx, k, o, m, len(a.x), len(a.y))
	a.descend(&w, a.c.OneAgentParams)
	w.upperGrad(a.u, a.b, a.x, a.y, w.draw(dsbo.Upper, 0))
	a.inverse.solve(&w, a.z, a.b, a.x, a.y, a.c.Gamma.At(k))
	a.finish(&w, a.c.Alpha)
	return w.err
}
