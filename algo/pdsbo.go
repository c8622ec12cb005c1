package algo

import (
	"cmp"
	"context"

	"dsbo"
	"dsbo/internal/vec"
)

// GossipParams are the parameters of [Gossip]. Zero means the default.
type GossipParams struct {
	Alpha Schedule // α, step of x; default 0.1
	Beta  Schedule // β, step of y; default 0.1
	Gamma Schedule // γ, step of z; default 0.1
	T     int      // local steps of y; default 10
	N     int      // local steps of z; default 10
	X0    float64  // start of every entry of x
}

func (c GossipParams) withDefaults() GossipParams {
	c.Alpha, c.Beta, c.Gamma = c.Alpha.or(0.1), c.Beta.or(0.1), c.Gamma.or(0.1)
	c.T, c.N = cmp.Or(c.T, 10), cmp.Or(c.N, 10)
	return c
}

// Validate names the first parameter that cannot work.
func (c GossipParams) Validate() error { return c.validate("pdsbo_gossip").err }

func (c GossipParams) validate(method string) *checker {
	c = c.withDefaults()
	v := &checker{method: method}
	v.step("alpha", c.Alpha)
	v.step("beta", c.Beta)
	v.step("gamma", c.Gamma)
	v.count("T", c.T)
	v.count("N", c.N)
	v.start(c.X0)
	return v
}

// Cost of an iteration: p numbers to each neighbour in one message; T gradients of g, one of f,
// N−1 Hessian-vector products and one Jacobian-vector product.
func (c GossipParams) Cost(p, q, k int) Cost {
	c = c.withDefaults()
	return Cost{Floats: p, Messages: 1, Calls: Calls{UpperGrad: 1, LowerGrad: c.T, HVP: c.N - 1, JVP: 1}}
}

// Gossip is the plain method for the personalized problem, in which agent i has its own
// y_i*(x) = argmin g_i(x, ·) and only x is shared:
//
//	T times y −= β ∇_y g(x, y);  z = 0, N times z −= γ(Hz − b);  u = ∇_x f − J z
//	x ← mix(x) − α u
//
// It is decentralized gradient descent, with a bias of order α. Of SPDB (Lu et al. 2022) only the
// problem and its kind are certain; this is the baseline, not SPDB. Draws: {Lower, k, t},
// {Upper, k, 0}, the Jacobian at {Curvature, k, 0}, products at {Curvature, k, t}, t = 1..N−1.
type Gossip struct {
	c GossipParams
	local
	mixed []float64
}

// NewGossip makes the method of one agent.
func NewGossip(p, q int, c GossipParams) (*Gossip, error) {
	if err := sized("pdsbo_gossip", p, q); err != nil {
		return nil, err
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	return &Gossip{c: c, local: newLocal(p, q, c.X0), mixed: make([]float64, p)}, nil
}

// Step is one outer iteration.
func (a *Gossip) Step(ctx context.Context, k int, o dsbo.Oracle, m dsbo.Mixer) error {
	w := begin("pdsbo_gossip", ctx, k, o, m, len(a.x), len(a.y))
	a.local.solve(&w, a.c)
	w.mix(a.mixed, a.x)
	vec.Comb(a.x, 1, a.mixed, -a.c.Alpha.At(k), a.u)
	return w.err
}

// State holds x and y.
func (a *Gossip) State() []dsbo.Named {
	return []dsbo.Named{{Name: "x", Value: a.x}, {Name: "y", Value: a.y}}
}

// local is what an agent of the personalized problem does by itself.
type local struct {
	point
	estimate
	b, h, j []float64
}

func newLocal(p, q int, x0 float64) local {
	return local{point: newPoint(p, q, x0), estimate: newEstimate(p, q), b: make([]float64, q), h: make([]float64, q), j: make([]float64, p)}
}

// solve moves y and leaves z and u. The first step of z from 0 needs no product.
func (a *local) solve(w *turn, c GossipParams) {
	descend(w, a.x, a.y, a.h, c.T, c.Beta.At(w.k))
	gamma := c.Gamma.At(w.k)
	w.upperGrad(a.u, a.b, a.x, a.y, w.draw(dsbo.Upper, 0))
	vec.Scale(a.z, gamma, a.b)
	for t := 1; t < c.N; t++ {
		w.hvp(a.h, a.x, a.y, a.z, w.draw(dsbo.Curvature, t))
		vec.Sub(a.h, a.h, a.b)
		vec.Axpy(a.z, -gamma, a.h)
	}
	implicit(w, a.u, a.j, a.x, a.y, a.z)
}
