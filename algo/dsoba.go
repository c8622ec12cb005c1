package algo

import (
	"cmp"
	"context"

	"dsbo"
	"dsbo/internal/vec"
)

// DSOBAParams are the parameters of [DSOBA]. Zero means the default.
type DSOBAParams struct {
	Alpha Schedule // α, step of x; default 0.1
	Beta  Schedule // β, step of y; default 0.1
	Gamma Schedule // γ, step of z; default 0.1
	Theta float64  // θ, weight of the fresh hypergradient in r, in (0, 1]; default 0.5
	X0    float64  // start of every entry of x
}

func (c DSOBAParams) withDefaults() DSOBAParams {
	c.Alpha, c.Beta, c.Gamma, c.Theta = c.Alpha.or(0.1), c.Beta.or(0.1), c.Gamma.or(0.1), cmp.Or(c.Theta, 0.5)
	return c
}

// Validate names the first parameter that cannot work.
func (c DSOBAParams) Validate() error { return c.validate("dsoba").err }

func (c DSOBAParams) validate(method string) *checker {
	c = c.withDefaults()
	v := &checker{method: method}
	v.step("alpha", c.Alpha)
	v.step("beta", c.Beta)
	v.step("gamma", c.Gamma)
	v.fraction("theta", c.Theta)
	v.start(c.X0)
	return v
}

// Cost of an iteration: p + 2q numbers to each neighbour in one message; one gradient of f and of g,
// one Hessian- and one Jacobian-vector product.
func (c DSOBAParams) Cost(p, q, k int) Cost {
	return Cost{Floats: p + 2*q, Messages: 1, Calls: Calls{UpperGrad: 1, LowerGrad: 1, HVP: 1, JVP: 1}}
}

// DSOBA is D-SOBA in its second-order form (Kong, Zhu, Lu, Huang, Yuan, "Decentralized Bilevel
// Optimization: A Perspective from Transient Iteration Complexity", 2024). One loop, all at once:
//
//	x ← mix(x − α r),  y ← mix(y − β ∇_y g),  z ← mix(z − γ(Hz − b)),  r ← (1−θ) r + θ (∇_x f − J z)
//
// Known with medium to high certainty. Draws: {Lower, k, 0}, {Upper, k, 0}, and {Curvature, k, 0} for
// both products.
type DSOBA struct {
	c DSOBAParams
	point
	estimate
	r       []float64
	g, h, b []float64
	j       []float64
	out, in []float64
}

// NewDSOBA makes the method of one agent.
func NewDSOBA(p, q int, c DSOBAParams) (*DSOBA, error) {
	if err := sized("dsoba", p, q); err != nil {
		return nil, err
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	vecs := func(n int) []float64 { return make([]float64, n) }
	return &DSOBA{
		c: c.withDefaults(), point: newPoint(p, q, c.X0), estimate: newEstimate(p, q), r: vecs(p),
		g: vecs(q), h: vecs(q), b: vecs(q), j: vecs(p), out: vecs(p + 2*q), in: vecs(p + 2*q),
	}, nil
}

// Step is one outer iteration.
func (a *DSOBA) Step(ctx context.Context, k int, o dsbo.Oracle, m dsbo.Mixer) error {
	w := begin("dsoba", ctx, k, o, m, len(a.x), len(a.y))
	p, q := len(a.x), len(a.y)
	oneLoop(&w, &a.point, &a.estimate, a.g, a.h, a.b, a.j)

	vec.Comb(a.out[:p], 1, a.x, -a.c.Alpha.At(k), a.r)
	vec.Comb(a.out[p:p+q], 1, a.y, -a.c.Beta.At(k), a.g)
	vec.Comb(a.out[p+q:], 1, a.z, -a.c.Gamma.At(k), a.h)
	w.mix(a.in, a.out)
	copy(a.x, a.in[:p])
	copy(a.y, a.in[p:p+q])
	copy(a.z, a.in[p+q:])
	vec.Comb(a.r, 1-a.c.Theta, a.r, a.c.Theta, a.u)
	return w.err
}

// oneLoop asks for the three directions of a single-loop method at one point:
// g = ∇_y g, h = Hz − b, u = ∇_x f − J z.
func oneLoop(w *turn, v *point, e *estimate, g, h, b, j []float64) {
	w.lowerGrad(g, v.x, v.y, w.draw(dsbo.Lower, 0))
	w.upperGrad(e.u, b, v.x, v.y, w.draw(dsbo.Upper, 0))
	w.hvp(h, v.x, v.y, e.z, w.draw(dsbo.Curvature, 0))
	vec.Sub(h, h, b)
	implicit(w, e.u, j, v.x, v.y, e.z)
}

// State holds x, y, z and r.
func (a *DSOBA) State() []dsbo.Named {
	return []dsbo.Named{{Name: "x", Value: a.x}, {Name: "y", Value: a.y}, {Name: "z", Value: a.z}, {Name: "r", Value: a.r}}
}
