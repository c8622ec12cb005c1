package algo

import (
	"context"

	"dsbo"
	"dsbo/internal/vec"
)

// SOBAParams are the parameters of [SOBA]; T and N are not used. Zero means the default.
type SOBAParams struct {
	OneAgentParams
	Gamma Schedule // γ, step of z; default 0.1
}

// Validate names the first parameter that cannot work.
func (c SOBAParams) Validate() error {
	v := c.validate("soba")
	v.step("gamma", c.Gamma.or(0.1))
	return v.err
}

// Cost of an iteration: nothing is sent; one gradient of f and of g, one Hessian- and one
// Jacobian-vector product.
func (c SOBAParams) Cost(p, q, k int) Cost {
	return Cost{Calls: Calls{UpperGrad: 1, LowerGrad: 1, HVP: 1, JVP: 1}}
}

// SOBA is SOBA (Dagréou, Ablin, Vaiter, Moreau, "A framework for bilevel optimization that enables
// stochastic and global variance reduction algorithms", NeurIPS 2022), for one agent. All at once:
//
//	x −= α (∇_x f − J z),  y −= β ∇_y g,  z −= γ (H z − b)
//
// The method is certain. Draws: {Lower, k, 0}, {Upper, k, 0}, {Curvature, k, 0} for both products.
type SOBA struct {
	c SOBAParams
	solo
	h []float64
}

// NewSOBA makes the method.
func NewSOBA(p, q int, c SOBAParams) (*SOBA, error) {
	if err := sized("soba", p, q); err != nil {
		return nil, err
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c.OneAgentParams, c.Gamma = c.withDefaults(), c.Gamma.or(0.1)
	return &SOBA{c: c, solo: newSolo(p, q, c.X0), h: make([]float64, q)}, nil
}

// Step is one outer iteration; m is not used.
func (a *SOBA) Step(ctx context.Context, k int, o dsbo.Oracle, m dsbo.Mixer) error {
	w := begin("soba", ctx, k, o, m, len(a.x), len(a.y))
	oneLoop(&w, &a.point, &a.estimate, a.g, a.h, a.b, a.j)
	vec.Axpy(a.x, -a.c.Alpha.At(k), a.u)
	vec.Axpy(a.y, -a.c.Beta.At(k), a.g)
	vec.Axpy(a.z, -a.c.Gamma.At(k), a.h)
	return w.err
}

// State holds x, y and z.
func (a *SOBA) State() []dsbo.Named {
	return append(a.solo.State(), dsbo.Named{Name: "z", Value: a.z})
}
