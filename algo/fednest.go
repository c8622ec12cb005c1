package algo

import (
	"cmp"
	"context"

	"dsbo"
	"dsbo/internal/vec"
)

// FedNestParams are the parameters of [FedNest]. Zero means the default.
type FedNestParams struct {
	Alpha  Schedule // α, step of x, below 1/L_Φ; default 0.1
	Beta   Schedule // β, step of y, below 2/L_g; default 0.1
	T      int      // rounds of y; default 10
	N      int      // terms of the Neumann series; default 10
	Tau    int      // τ, local steps of a client in a round; default 1
	L      float64  // l, at least the largest eigenvalue of any H_i; must be given
	NPrime Terms    // which truncation of the series
	X0     float64  // start of every entry of x
}

func (c FedNestParams) withDefaults() FedNestParams {
	c.Alpha, c.Beta = c.Alpha.or(0.1), c.Beta.or(0.1)
	c.T, c.N, c.Tau = cmp.Or(c.T, 10), cmp.Or(c.N, 10), cmp.Or(c.Tau, 1)
	return c
}

// Validate names the first parameter that cannot work.
func (c FedNestParams) Validate() error {
	c = c.withDefaults()
	v := checker{method: "fednest"}
	v.step("alpha", c.Alpha)
	v.step("beta", c.Beta)
	v.count("T", c.T)
	v.count("N", c.N)
	v.count("tau", c.Tau)
	v.curvature(c.L)
	v.terms(c.NPrime)
	v.start(c.X0)
	return v.err
}

// Cost of an iteration: 2Tq + Nq + 2p numbers up, and as many down, in 2T+N+2 exchanges; for a draw
// N'+1 in place of N. Tτ gradients of g, τ of f, N−1 (N') Hessian-vector products and one
// Jacobian-vector product.
func (c FedNestParams) Cost(p, q, k int) Cost {
	c = c.withDefaults()
	n := c.NPrime.products(k, c.N)
	return Cost{
		Floats: 2*c.T*q + (n+1)*q + 2*p, Messages: 2*c.T + n + 3,
		Calls: Calls{UpperGrad: c.Tau, LowerGrad: c.T * c.Tau, HVP: n, JVP: 1},
	}
}

// FedNest is FEDNEST (Tarzanagh, Li, Thrampoulidis, Oymak, "FedNest: Federated Bilevel, Minimax, and
// Compositional Optimization", ICML 2022), with every client in every round. The mixer must be the
// exact average (the complete graph with weights 1/n), written avg:
//
//	T times:  G = ∇_y g(x,y);  h = avg(G);  v = y;  τ times v −= (β/τ)(∇_y g(x,v) − G + h);  y = avg(v)
//	"sum":    c = avg(b), z = c;  N−1 times c = avg(c − Hc/l), z += c;  z = z/l
//	draw N':  z = (N/l) avg(b);  N' times z = avg(z − Hz/l)
//	F = ∇_x f(x,y);  u = avg(F − J z);  v = x;  τ times v −= (α/τ)(∇_x f(v,y) − F + u);  x = avg(v)
//
// The original is known with high certainty; that the sum stands in for the random draw, and the
// sampling, are our reading. Draws: round t uses {Lower, k, t} for G and the local steps alike,
// so that their difference is one of points and not of data; b, F and the local steps of x use
// {Upper, k, 0}. The first local step has v = y, where the difference is zero: it asks nothing.
type FedNest struct {
	c FedNestParams
	point
	estimate
	inverse    neumann
	g, h, v, d []float64 // length q
	f, e, j    []float64 // length p
	b, vx      []float64
}

// NewFedNest makes the method of one client.
func NewFedNest(p, q int, c FedNestParams) (*FedNest, error) {
	if err := sized("fednest", p, q); err != nil {
		return nil, err
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	vecs := func(n int) []float64 { return make([]float64, n) }
	return &FedNest{
		c: c, point: newPoint(p, q, c.X0), estimate: newEstimate(p, q), inverse: newNeumann(q, c.N, c.NPrime, true),
		g: vecs(q), h: vecs(q), v: vecs(q), d: vecs(q), b: vecs(q),
		f: vecs(p), e: vecs(p), j: vecs(p), vx: vecs(p),
	}, nil
}

// Step is one outer iteration.
func (a *FedNest) Step(ctx context.Context, k int, o dsbo.Oracle, m dsbo.Mixer) error {
	w := begin("fednest", ctx, k, o, m, len(a.x), len(a.y))
	for t := range a.c.T {
		a.inner(&w, t, a.c.Beta.At(k)/float64(a.c.Tau))
	}
	w.upperGrad(a.f, a.b, a.x, a.y, w.draw(dsbo.Upper, 0))
	a.inverse.solve(&w, a.z, a.b, a.x, a.y, 1/a.c.L)
	a.outer(&w, a.c.Alpha.At(k)/float64(a.c.Tau))
	return w.err
}

// inner is one round of y.
func (a *FedNest) inner(w *turn, t int, step float64) {
	s := w.draw(dsbo.Lower, t)
	w.lowerGrad(a.g, a.x, a.y, s)
	w.mix(a.h, a.g)
	copy(a.v, a.y)
	vec.Axpy(a.v, -step, a.h)
	for range a.c.Tau - 1 {
		w.lowerGrad(a.d, a.x, a.v, s)
		correct(a.v, a.d, a.g, a.h, step)
	}
	w.mix(a.y, a.v)
}

// outer is the round of x.
func (a *FedNest) outer(w *turn, step float64) {
	copy(a.e, a.f)
	implicit(w, a.e, a.j, a.x, a.y, a.z)
	w.mix(a.u, a.e)
	copy(a.vx, a.x)
	vec.Axpy(a.vx, -step, a.u)
	for range a.c.Tau - 1 {
		w.upperGrad(a.e, nil, a.vx, a.y, w.draw(dsbo.Upper, 0))
		correct(a.vx, a.e, a.f, a.u, step)
	}
	w.mix(a.x, a.vx)
}

// correct is a local step with the server's correction: v −= step (at − from + server).
func correct(v, at, from, server []float64, step float64) {
	for i := range v {
		v[i] -= float64(step * (at[i] - from[i] + server[i]))
	}
}

// State holds x and y.
func (a *FedNest) State() []dsbo.Named {
	return []dsbo.Named{{Name: "x", Value: a.x}, {Name: "y", Value: a.y}}
}
