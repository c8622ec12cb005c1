package algo

import (
	"cmp"

	"dsbo"
	"dsbo/internal/vec"
)

// OneAgentParams are what the methods for one agent share. Zero means the default.
type OneAgentParams struct {
	Alpha Schedule // α, step of x; default 0.1
	Beta  Schedule // β, step of y; default 0.1
	T     int      // steps of y; default 10
	N     int      // steps or terms for z, where the method has them; default 10
	X0    float64  // start of every entry of x
}

func (c OneAgentParams) withDefaults() OneAgentParams {
	c.Alpha, c.Beta = c.Alpha.or(0.1), c.Beta.or(0.1)
	c.T, c.N = cmp.Or(c.T, 10), cmp.Or(c.N, 10)
	return c
}

// validate checks what the methods share.
func (c OneAgentParams) validate(method string) *checker {
	c = c.withDefaults()
	v := &checker{method: method}
	v.step("alpha", c.Alpha)
	v.step("beta", c.Beta)
	v.count("T", c.T)
	v.count("N", c.N)
	v.start(c.X0)
	return v
}

// solo is what the methods for one agent hold.
type solo struct {
	point
	estimate
	b, g, j []float64
}

func newSolo(p, q int, x0 float64) solo {
	return solo{point: newPoint(p, q, x0), estimate: newEstimate(p, q), b: make([]float64, q), g: make([]float64, q), j: make([]float64, p)}
}

// descend moves y from where the last iteration left it.
func (a *solo) descend(w *turn, c OneAgentParams) {
	descend(w, a.x, a.y, a.g, c.T, c.Beta.At(w.k))
}

// finish subtracts J z from u, which holds ∇_x f, and moves x.
func (a *solo) finish(w *turn, alpha Schedule) {
	implicit(w, a.u, a.j, a.x, a.y, a.z)
	vec.Axpy(a.x, -alpha.At(w.k), a.u)
}

// State holds x and y.
func (a *solo) State() []dsbo.Named {
	return []dsbo.Named{{Name: "x", Value: a.x}, {Name: "y", Value: a.y}}
}
