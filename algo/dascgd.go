package algo

import (
	"cmp"
	"context"

	"dsbo"
	"dsbo/internal/vec"
)

// DASCGDParams are the parameters of [DASCGD]. Zero means the default.
type DASCGDParams struct {
	Alpha Schedule // α, step of x; default 0.1
	B     float64  // b, weight of the fresh draw in the inner value, in (0, 1]; default 0.5
	Init  string   // start of the inner value: "exact" (G_i(x_0), the default) or "zero"
	X0    float64  // start of every entry of x
}

func (c DASCGDParams) withDefaults() DASCGDParams {
	c.Alpha, c.B, c.Init = c.Alpha.or(0.1), cmp.Or(c.B, 0.5), cmp.Or(c.Init, "exact")
	return c
}

// Validate names the first parameter that cannot work.
func (c DASCGDParams) Validate() error {
	c = c.withDefaults()
	v := checker{method: "dascgd"}
	v.step("alpha", c.Alpha)
	v.fraction("b", c.B)
	v.word("init", c.Init, "exact", "zero")
	v.start(c.X0)
	return v.err
}

// Cost of an iteration: p + 2q numbers to each neighbour in one message; one gradient of f, two of g
// and one Jacobian-vector product. The first iteration asks one more gradient of f, and of g where
// the start is exact.
func (c DASCGDParams) Cost(p, q, k int) Cost {
	calls := Calls{UpperGrad: 1, LowerGrad: 2, JVP: 1}
	if k == 0 {
		calls.UpperGrad++
		calls.LowerGrad += b2i(c.withDefaults().Init == "exact")
	}
	return Cost{Floats: p + 2*q, Messages: 1, Calls: calls}
}

// DASCGD is D-ASCGD (Zhao, Liu, "Numerical Methods for Distributed Stochastic Compositional
// Optimization Problems with Aggregative Structure", 2022), for problem (DSCO)
// min_x (1/n) Σ f_i((1/n) Σ_j G_j(x)) in its bilevel form g_i = y'y/2 − G_i(x)'y, from which
// G_i(x) = −∇_y g_i(x, 0) and ∇G_i(x)'v = −J v:
//
//	start: G = G_i(x_0) or 0;  y = G;  z = ∇_y f(y)
//	u = ∇_x f − J z,   x⁺ = mix(x) − α u
//	G⁺ = (1−b)(G − G_i(x)) + G_i(x⁺),   y⁺ = mix(y) + G⁺ − G
//	z⁺ = mix(z) + ∇_y f(y⁺) − ∇_y f(y)
//
// On any other lower problem it is wrong. The ingredients are certain; the first and the last line
// are our reading. Draws: the start is {Lower, k, 0} and {Upper, k, 0} of the first iteration; G_i(x)
// and G_i(x⁺) both use {Lower, k, 1}, so that their difference is one of points and not of data;
// ∇f(y⁺) is {Upper, k, 1}; J is {Curvature, k, 0}.
type DASCGD struct {
	c DASCGDParams
	point
	estimate
	g            []float64 // the tracked share G of the inner value
	fx, fy       []float64 // gradient of f at the current (x, y)
	gn, gx, fn   []float64
	j, zero      []float64
	out, in      []float64
	started      []float64
	xOld, gFresh []float64
}

// NewDASCGD makes the method of one agent.
func NewDASCGD(p, q int, c DASCGDParams) (*DASCGD, error) {
	if err := sized("dascgd", p, q); err != nil {
		return nil, err
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	vecs := func(n int) []float64 { return make([]float64, n) }
	return &DASCGD{
		c: c, point: newPoint(p, q, c.X0), estimate: newEstimate(p, q),
		g: vecs(q), fx: vecs(p), fy: vecs(q), gn: vecs(q), gx: vecs(q), fn: vecs(q), j: vecs(p), zero: vecs(q),
		out: vecs(p + 2*q), in: vecs(p + 2*q), started: vecs(1), xOld: vecs(p), gFresh: vecs(q),
	}, nil
}

// Step is one outer iteration.
func (a *DASCGD) Step(ctx context.Context, k int, o dsbo.Oracle, m dsbo.Mixer) error {
	w := begin("dascgd", ctx, k, o, m, len(a.x), len(a.y))
	p, q := len(a.x), len(a.y)
	if a.started[0] == 0 {
		a.start(&w)
	}
	w.mix(a.in, pack(a.out, a.x, a.y, a.z))

	copy(a.u, a.fx)
	implicit(&w, a.u, a.j, a.x, a.y, a.z)
	copy(a.xOld, a.x)
	vec.Comb(a.x, 1, a.in[:p], -a.c.Alpha.At(k), a.u)

	s := w.draw(dsbo.Lower, 1)
	a.inner(&w, a.gx, a.xOld, s)
	a.inner(&w, a.gFresh, a.x, s)
	for i := range a.gn {
		a.gn[i] = float64((1-a.c.B)*(a.g[i]-a.gx[i])) + a.gFresh[i]
	}
	track(a.y, a.in[p:p+q], a.gn, a.g)

	w.upperGrad(a.fx, a.fn, a.x, a.y, w.draw(dsbo.Upper, 1))
	track(a.z, a.in[p+q:], a.fn, a.fy)
	return w.err
}

// start sets G, y, z and the gradient of f at the start.
func (a *DASCGD) start(w *turn) {
	a.started[0] = 1
	if a.c.Init == "exact" {
		a.inner(w, a.g, a.x, w.draw(dsbo.Lower, 0))
	}
	copy(a.y, a.g)
	w.upperGrad(a.fx, a.fy, a.x, a.y, w.draw(dsbo.Upper, 0))
	copy(a.z, a.fy)
}

// inner sets dst = G_i(x) = −∇_y g_i(x, 0).
func (a *DASCGD) inner(w *turn, dst, x []float64, s dsbo.Sample) {
	w.lowerGrad(dst, x, a.zero, s)
	vec.Scale(dst, -1, dst)
}

// State holds x, y, z, the share of the inner value, the last gradient of f, and whether the start is done.
func (a *DASCGD) State() []dsbo.Named {
	return []dsbo.Named{
		{Name: "x", Value: a.x}, {Name: "y", Value: a.y}, {Name: "z", Value: a.z}, {Name: "inner", Value: a.g},
		{Name: "upper_x", Value: a.fx}, {Name: "upper_y", Value: a.fy}, {Name: "started", Value: a.started},
	}
}
