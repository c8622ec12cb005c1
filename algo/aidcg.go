package algo

import (
	"context"

	"dsbo"
	"dsbo/internal/vec"
)

// AIDCGParams are the parameters of [AIDCG]. Zero means the default.
type AIDCGParams struct {
	OneAgentParams
	WarmZ bool // start conjugate gradients from the last z, not from 0
}

// Validate names the first parameter that cannot work.
func (c AIDCGParams) Validate() error { return c.validate("aidcg").err }

// Cost of an iteration: nothing is sent; T gradients of g, one of f, at most N (+1 when warm)
// Hessian-vector products (fewer when the residual becomes 0) and one Jacobian-vector product.
func (c AIDCGParams) Cost(p, q, k int) Cost {
	d := c.withDefaults()
	return Cost{Calls: Calls{UpperGrad: 1, LowerGrad: d.T, HVP: d.N + b2i(c.WarmZ), JVP: 1}}
}

// AIDCG is approximate implicit differentiation by conjugate gradients (Pedregosa 2016; Grazzi,
// Franceschi, Pontil, Salzo, "On the Iteration Complexity of Hypergradient Computation", 2020), for one agent:
//
//	T times y −= β ∇_y g(x, y);  N steps of conjugate gradients on H z = b
//	u = ∇_x f − J z;  x −= α u
//
// The method is certain. Draws: {Lower, k, t}, {Upper, k, 0}, and one {Curvature, k, 0} for J and
// all products, as conjugate gradients need one and the same H.
type AIDCG struct {
	c AIDCGParams
	solo
	r, p, hp []float64
}

// NewAIDCG makes the method.
func NewAIDCG(p, q int, c AIDCGParams) (*AIDCG, error) {
	if err := sized("aidcg", p, q); err != nil {
		return nil, err
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c.OneAgentParams = c.withDefaults()
	return &AIDCG{c: c, solo: newSolo(p, q, c.X0), r: make([]float64, q), p: make([]float64, q), hp: make([]float64, q)}, nil
}

// Step is one outer iteration; m is not used.
func (a *AIDCG) Step(ctx context.Context, k int, o dsbo.Oracle, m dsbo.Mixer) error {
	w := begin("aidcg", ctx, k, o, m, len(a.x), len(a.y))
	a.descend(&w, a.c.OneAgentParams)
	w.upperGrad(a.u, a.b, a.x, a.y, w.draw(dsbo.Upper, 0))
	a.solve(&w)
	a.finish(&w, a.c.Alpha)
	return w.err
}

// solve runs conjugate gradients on H z = b.
func (a *AIDCG) solve(w *turn) {
	s := w.draw(dsbo.Curvature, 0)
	copy(a.r, a.b)
	if a.c.WarmZ {
		w.hvp(a.hp, a.x, a.y, a.z, s)
		vec.Sub(a.r, a.r, a.hp)
	} else {
		vec.Fill(a.z, 0)
	}
	copy(a.p, a.r)
	rr := vec.Dot(a.r, a.r)
	for range a.c.N {
		if rr == 0 {
			return
		}
		w.hvp(a.hp, a.x, a.y, a.p, s)
		step := rr / vec.Dot(a.p, a.hp)
		vec.Axpy(a.z, step, a.p)
		vec.Axpy(a.r, -step, a.hp)
		next := vec.Dot(a.r, a.r)
		vec.Comb(a.p, 1, a.r, next/rr, a.p)
		rr = next
	}
}

// State holds x, y and z.
func (a *AIDCG) State() []dsbo.Named {
	return []dsbo.Named{{Name: "x", Value: a.x}, {Name: "y", Value: a.y}, {Name: "z", Value: a.z}}
}
