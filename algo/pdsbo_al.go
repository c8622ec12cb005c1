package algo

import (
	"cmp"
	"context"

	"dsbo"
	"dsbo/internal/vec"
)

// LagrangianParams are the parameters of [Lagrangian]: those of [Gossip] and ρ. Zero means the default.
type LagrangianParams struct {
	GossipParams
	Rho float64 // ρ, penalty and dual step; default 1
}

// Validate names the first parameter that cannot work.
func (c LagrangianParams) Validate() error {
	v := c.validate("pdsbo_al")
	v.positive("rho", cmp.Or(c.Rho, 1), "positive")
	return v.err
}

// Lagrangian is a linearized augmented Lagrangian method for the personalized problem (see [Gossip]),
// with one multiplier an edge, of which agent i only needs the sum μ_i over its edges:
//
//	T steps of y, N steps of z and u as in Gossip
//	x −= α(u + μ + ρℓ);   ℓ = x − mix(x);   μ += ρℓ        (start μ = ℓ = 0)
//
// It converges exactly with constant steps; safe are α(2L + 3ρ(1 − λ_min(W))) < 4 for a hypergradient
// with Lipschitz constant L. The design is our own, for the problem of SPDB (Lu et al. 2022): of SPDB
// itself only the personalized problem, the stochastic primal-dual form and minibatches are certain.
// All agents start at one x, so ℓ = 0 needs no exchange. Draws and cost are those of Gossip.
type Lagrangian struct {
	c LagrangianParams
	local
	mu, l []float64
}

// NewLagrangian makes the method of one agent.
func NewLagrangian(p, q int, c LagrangianParams) (*Lagrangian, error) {
	if err := sized("pdsbo_al", p, q); err != nil {
		return nil, err
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c.GossipParams, c.Rho = c.withDefaults(), cmp.Or(c.Rho, 1)
	return &Lagrangian{c: c, local: newLocal(p, q, c.X0), mu: make([]float64, p), l: make([]float64, p)}, nil
}

// Step is one outer iteration.
func (a *Lagrangian) Step(ctx context.Context, k int, o dsbo.Oracle, m dsbo.Mixer) error {
	w := begin("pdsbo_al", ctx, k, o, m, len(a.x), len(a.y))
	a.local.solve(&w, a.c.GossipParams)
	alpha, rho := a.c.Alpha.At(k), a.c.Rho
	for i := range a.x {
		a.x[i] -= float64(alpha * (a.u[i] + a.mu[i] + float64(rho*a.l[i])))
	}
	w.mix(a.l, a.x)
	vec.Sub(a.l, a.x, a.l)
	vec.Axpy(a.mu, rho, a.l)
	return w.err
}

// State holds x, y, μ and ℓ.
func (a *Lagrangian) State() []dsbo.Named {
	return []dsbo.Named{{Name: "x", Value: a.x}, {Name: "y", Value: a.y}, {Name: "mu", Value: a.mu}, {Name: "l", Value: a.l}}
}
