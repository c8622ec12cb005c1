package algo

import (
	"cmp"
	"context"

	"dsbo"
	"dsbo/internal/vec"
)

// MDBOParams are the parameters of [MDBO]. Zero means the default.
type MDBOParams struct {
	Alpha  Schedule // α (the paper's β_1), step of x; default 0.1
	Beta   Schedule // β (its β_2), step of y; default 0.1
	A1, A2 float64  // a_1, a_2: momentum of x and y, a η in (0, 1]; default 1
	Eta    Schedule // η, how far to go from the old point to the new, in (0, 1]; default 1
	L      float64  // l, at least the largest eigenvalue of any H_i; must be given
	N      int      // terms of the Neumann series (its J); default 10
	NPrime Terms    // which truncation of the series
	X0     float64  // start of every entry of x
}

func (c MDBOParams) withDefaults() MDBOParams {
	c.Alpha, c.Beta, c.Eta = c.Alpha.or(0.1), c.Beta.or(0.1), c.Eta.or(1)
	c.A1, c.A2, c.N = cmp.Or(c.A1, 1), cmp.Or(c.A2, 1), cmp.Or(c.N, 10)
	return c
}

// Validate names the first parameter that cannot work.
func (c MDBOParams) Validate() error {
	c = c.withDefaults()
	v := checker{method: "mdbo"}
	v.step("alpha", c.Alpha)
	v.step("beta", c.Beta)
	v.positive("a1", c.A1, "positive")
	v.positive("a2", c.A2, "positive")
	v.weight("eta", c.Eta)
	if e, bad := c.Eta.worst(func(e float64) bool { return max(c.A1, c.A2)*e <= 1 }); bad {
		v.fail("eta", e, "at most 1/a1 and 1/a2")
	}
	v.curvature(c.L)
	v.count("N", c.N)
	v.terms(c.NPrime)
	v.start(c.X0)
	return v.err
}

// Cost of an iteration: 2p + 2q numbers to each neighbour (p + q in the first) in one message; one
// gradient of f and of g, N−1 (N') Hessian-vector products and one Jacobian-vector product.
func (c MDBOParams) Cost(p, q, k int) Cost {
	c = c.withDefaults()
	floats := 2*p + 2*q
	if k == 0 {
		floats = p + q
	}
	return Cost{
		Floats: floats, Messages: 1,
		Calls: Calls{UpperGrad: 1, LowerGrad: 1, HVP: c.NPrime.products(k, c.N), JVP: 1},
	}
}

// MDBO is Momentum-based Distributed Bilevel Optimization (Gao, Gu, Thai, "On the Convergence of
// Distributed Stochastic Bilevel Optimization Algorithms over a Network", AISTATS 2023):
//
//	F = ∇_x f − J S_N(b), S_N(b) = (1/l) Σ_{m<N} (I − H/l)^m b, all of it local;  G = ∇_y g
//	first: u = zF = F, v = zG = G; then
//	u⁺ = (1−a_1η)u + a_1ηF,  v⁺ = (1−a_2η)v + a_2ηG,  zF ← mix(zF) + u⁺ − u,  zG ← mix(zG) + v⁺ − v
//	x += η(mix(x) − α zF − x),  y += η(mix(y) − β zG − y)
//
// It tracks the average of local hypergradients, each with the agent's own inverse Hessian. That
// average is the hypergradient only when all g_i are equal: when data differ the method stops where
// the exact gradient is not zero, however small the steps and however many the terms.
//
// The local inverse and the tracking are certain; momentum and the step medium. Draws:
// {Upper, k, 0}, {Lower, k, 0}, the Jacobian at {Curvature, k, 0}, products at {Curvature, k, 1..}.
type MDBO struct {
	c MDBOParams
	point
	z, fx, j, g  []float64
	u, v, un, vn []float64
	trF, trG     []float64
	inverse      neumann
	b            []float64
	out, in      []float64
	started      []float64
}

// NewMDBO makes the method of one agent.
func NewMDBO(p, q int, c MDBOParams) (*MDBO, error) {
	if err := sized("mdbo", p, q); err != nil {
		return nil, err
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	vecs := func(n int) []float64 { return make([]float64, n) }
	return &MDBO{
		c: c, point: newPoint(p, q, c.X0), inverse: newNeumann(q, c.N, c.NPrime, false),
		z: vecs(q), fx: vecs(p), j: vecs(p), g: vecs(q), b: vecs(q),
		u: vecs(p), v: vecs(q), un: vecs(p), vn: vecs(q), trF: vecs(p), trG: vecs(q),
		out: vecs(2 * (p + q)), in: vecs(2 * (p + q)), started: vecs(1),
	}, nil
}

// Step is one outer iteration.
func (a *MDBO) Step(ctx context.Context, k int, o dsbo.Oracle, m dsbo.Mixer) error {
	w := begin("mdbo", ctx, k, o, m, len(a.x), len(a.y))
	w.upperGrad(a.fx, a.b, a.x, a.y, w.draw(dsbo.Upper, 0))
	a.inverse.solve(&w, a.z, a.b, a.x, a.y, 1/a.c.L)
	implicit(&w, a.fx, a.j, a.x, a.y, a.z)
	w.lowerGrad(a.g, a.x, a.y, w.draw(dsbo.Lower, 0))

	a.trackBoth(&w, a.c.Eta.At(k))
	p, q := len(a.x), len(a.y)
	relax(a.x, a.in[:p], a.trF, a.c.Eta.At(k), a.c.Alpha.At(k))
	relax(a.y, a.in[p:p+q], a.trG, a.c.Eta.At(k), a.c.Beta.At(k))
	return w.err
}

// trackBoth exchanges x, y and the trackers, and moves momentum and trackers.
func (a *MDBO) trackBoth(w *turn, eta float64) {
	p, q := len(a.x), len(a.y)
	if a.started[0] == 0 {
		a.started[0] = 1
		w.mix(a.in[:p+q], pack(a.out, a.x, a.y))
		copy(a.u, a.fx)
		copy(a.v, a.g)
		copy(a.trF, a.fx)
		copy(a.trG, a.g)
		return
	}
	w.mix(a.in, pack(a.out, a.x, a.y, a.trF, a.trG))
	m1, m2 := a.c.A1*eta, a.c.A2*eta
	vec.Comb(a.un, 1-m1, a.u, m1, a.fx)
	vec.Comb(a.vn, 1-m2, a.v, m2, a.g)
	track(a.trF, a.in[p+q:2*p+q], a.un, a.u)
	track(a.trG, a.in[2*p+q:], a.vn, a.v)
}

// relax sets v += η(mixed − step d − v).
func relax(v, mixed, d []float64, eta, step float64) {
	for i := range v {
		v[i] += float64(eta * (mixed[i] - float64(step*d[i]) - v[i]))
	}
}

// Z returns a view of the local S_N(b).
func (a *MDBO) Z() []float64 { return a.z }

// U returns a view of u, the average over time of the local hypergradient.
func (a *MDBO) U() []float64 { return a.u }

// State holds x, y, the averages, their trackers, and whether the first iteration is done.
func (a *MDBO) State() []dsbo.Named {
	return []dsbo.Named{
		{Name: "x", Value: a.x}, {Name: "y", Value: a.y}, {Name: "u", Value: a.u}, {Name: "v", Value: a.v},
		{Name: "u_tracker", Value: a.trF}, {Name: "v_tracker", Value: a.trG}, {Name: "started", Value: a.started},
	}
}
