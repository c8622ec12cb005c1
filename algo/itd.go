package algo

import (
	"context"

	"dsbo"
	"dsbo/internal/vec"
)

// ITDParams are the parameters of [ITD]; N is not used. Zero means the default.
type ITDParams struct {
	OneAgentParams
	ColdY bool // start y at 0 in each iteration, not at the last y
}

// Validate names the first parameter that cannot work.
func (c ITDParams) Validate() error { return c.validate("itd").err }

// Cost of an iteration: nothing is sent; T gradients of g, one of f, T Hessian- and T Jacobian-vector
// products. The path of y takes T·q numbers.
func (c ITDParams) Cost(p, q, k int) Cost {
	T := c.withDefaults().T
	return Cost{Calls: Calls{UpperGrad: 1, LowerGrad: T, HVP: T, JVP: T}}
}

// ITD is iterative differentiation (Franceschi, Frasconi, Salzo, Grazzi, Pontil 2018), reverse mode
// through T gradient steps, for one agent; the start y⁰ counts as a constant:
//
//	y^{t+1} = y^t − β ∇_y g(x, y^t);  a = ∇_y f(x, y^T), u = ∇_x f
//	t = T−1..0:  u −= β J(x, y^t) a,  then a −= β H(x, y^t) a;   x −= α u
//
// The method is certain. Draws: step t and its derivative use {Lower, k, t}; f uses {Upper, k, 0}.
type ITD struct {
	c ITDParams
	solo
	path []float64 // y^0..y^{T−1}
}

// NewITD makes the method.
func NewITD(p, q int, c ITDParams) (*ITD, error) {
	if err := sized("itd", p, q); err != nil {
		return nil, err
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c.OneAgentParams = c.withDefaults()
	return &ITD{c: c, solo: newSolo(p, q, c.X0), path: make([]float64, c.T*q)}, nil
}

// Step is one outer iteration; m is not used.
func (a *ITD) Step(ctx context.Context, k int, o dsbo.Oracle, m dsbo.Mixer) error {
	w := begin("itd", ctx, k, o, m, len(a.x), len(a.y))
	beta := a.c.Beta.At(k)
	if a.c.ColdY {
		vec.Fill(a.y, 0)
	}
	for t := range a.c.T {
		copy(a.at(t), a.y)
		w.lowerGrad(a.g, a.x, a.y, w.draw(dsbo.Lower, t))
		vec.Axpy(a.y, -beta, a.g)
	}
	w.upperGrad(a.u, a.z, a.x, a.y, w.draw(dsbo.Upper, 0))
	for t := a.c.T - 1; t >= 0; t-- {
		w.jvp(a.j, a.x, a.at(t), a.z, w.draw(dsbo.Lower, t))
		vec.Axpy(a.u, -beta, a.j)
		w.hvp(a.g, a.x, a.at(t), a.z, w.draw(dsbo.Lower, t))
		vec.Axpy(a.z, -beta, a.g)
	}
	vec.Axpy(a.x, -a.c.Alpha.At(k), a.u)
	return w.err
}

// at is y^t.
func (a *ITD) at(t int) []float64 { q := len(a.y); return a.path[t*q : (t+1)*q] }
