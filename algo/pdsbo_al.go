package algo

import "dsbo/internal/linalg"

// Lagrangian is a linearized augmented Lagrangian method for the personalized problem (see
// [Gossip]), with one multiplier an edge, of which agent i only needs the sum μ_i over its edges:
//
//	T steps of y, N steps of z and u as in Gossip
//	x −= α(u + μ + ρℓ);   ℓ = x − mix(x);   μ += ρℓ        (start μ = ℓ = 0)
//
// It converges exactly with constant steps; safe are α(2L + 3ρ(1 − λ_min(W))) < 4 for a
// hypergradient with Lipschitz constant L. The design is our own, for the problem of SPDB (Lu et
// al. 2022): of SPDB itself only the personalized problem, the stochastic primal-dual form and
// minibatches are certain. All agents start at one x, so ℓ = 0 needs no exchange. Draws and cost
// are as in Gossip.
type Lagrangian struct {
	Alpha Schedule `json:"alpha,omitzero" default:"0.1"` // α, step of x
	Beta  Schedule `json:"beta,omitzero" default:"0.1"`  // β, step of y
	Gamma Schedule `json:"gamma,omitzero" default:"0.1"` // γ, step of z
	T     int      `json:"T,omitzero" default:"10"`      // local steps of y
	N     int      `json:"N,omitzero" default:"10"`      // local steps of z
	Rho   float64  `json:"rho,omitzero" default:"1"`     // ρ, penalty and dual step

	personalState
	mu, l []float64 // the dual variable; the direction
}

// Init implements [Method].
func (a *Lagrangian) Init(p, q, K int) error {
	return a.prepare(a, p, q, K, func(*checker) {
		a.mu, a.l = a.carried("mu", p), a.carried("l", p)
		a.restarts(a.mu, a.l) // multipliers of edges, whose sum over the agents is 0
	})
}

// Traits implements [Described].
func (a *Lagrangian) Traits() Traits {
	return a.traits(Traits{Personalized: true,
		FixedGraph: "its multipliers are of the edges, and sum over iterations what W leaves of x"})
}

// Cost of an iteration: as of [Gossip].
func (a *Lagrangian) Cost(int) Cost { return a.cost(a.T, a.N) }

// step is one outer iteration.
func (a *Lagrangian) step(w *Turn, k int) {
	a.solve(w, a.T, a.N)
	alpha, rho := a.alpha(k), a.Rho
	for i := range a.x { // x −= α (u + μ + ρ ℓ)
		a.x[i] -= float64(alpha * (a.u[i] + a.mu[i] + float64(rho*a.l[i])))
	}
	w.Mix(a.l, a.x)
	linalg.Sub(a.l, a.x, a.l)   // ℓ = x − mix(x)
	linalg.Axpy(a.mu, rho, a.l) // μ += ρ ℓ
}
