package algo

import (
	"cmp"

	"dsbo"
	"dsbo/internal/linalg"
)

// SUNDSBO is SUN-DSBO (Ma, Wang, Yao, Zhang, arXiv 2601.22682), for lower losses that need not be
// convex: weakly convex by a constant below 1/Env. With the Moreau envelope V of g by e = Env,
//
//	Ψ = μf + g − V,  V(x, y) = min_z [g(x, z) + ‖z − y‖²/2e]
//	D_x = μ∇_x f + ∇_x g(x,y) − ∇_x g(x,z)
//	D_y = μ∇_y f + ∇_y g(x,y) − (y − z)/e,  D_z = ∇_y g(x,z) + (z − y)/e
//	first, or with Plain always: T = D;  else T ← mix(T) + D − D₋, D₋ on its own draws
//	(x, y, z) ← mix(x, y, z) − (αT_x, βT_y, γT_z)
//
// Ψ and D are certain, from reviews and from code of the method for one agent; the lines are our
// reading: one point for all three, the order of mixing and step, constant μ. It ends where Ψ is
// stationary: ∇Φ there is of order μ, and x moves by αμ. Plain (SUN-DSBO-SE) ends elsewhere where
// agents differ. Draws: {Lower, k, 0} and {Upper, k, 0}.
type SUNDSBO struct {
	Alpha Schedule `json:"alpha,omitzero" default:"1"`   // α, step of x
	Beta  Schedule `json:"beta,omitzero" default:"0.1"`  // β, step of y
	Gamma Schedule `json:"gamma,omitzero" default:"0.1"` // γ, step of z
	Mu    float64  `json:"mu,omitzero" default:"0.1"`    // μ, weight of f
	Env   float64  `json:"env,omitzero" default:"1"`     // e, parameter of the envelope
	Plain bool     `json:"plain,omitzero"`               // no tracker

	tripleState
	t, last triple    // T, D₋
	d       triple    // D
	message []float64 // x, y, z and T, in one vector
}

// Init implements [Method].
func (a *SUNDSBO) Init(p, q, K int) error {
	return a.prepare(a, p, q, K, func(*checker) {
		a.t, a.last = a.carriedTriple("tracker"), a.carriedTriple("last")
		a.tracksTriple(a.t, a.last)
		a.d = a.directionTriple()
		a.message = a.newVec(2 * len(a.d.all))
	})
}

// Traits implements [Described]. By default y and z go equally far, as in methods with a penalty.
func (a *SUNDSBO) Traits() Traits {
	mu, env := cmp.Or(a.Mu, 0.1), cmp.Or(a.Env, 1)
	t := a.traits(Traits{OneLoop: true, Bounds: func(c Curvature) Curvature {
		tracked := min(c.Y, c.Z) * c.L // of a curvature of 1
		y := tracked / (float64((1+mu)*c.L) + 1/env)
		return Curvature{L: c.L, Y: y, Z: tracked / (c.L + 1/env), Beta: 0.8 * y, Gamma: 0.8 * y}
	}})
	t.Z = nil
	return t
}

// Cost of an iteration: 2p + 4q numbers to each neighbour in one message, half of it in the first
// and with Plain; one gradient of f and two of g in both variables.
func (a *SUNDSBO) Cost(k int) Cost {
	cost := Cost{Floats: len(a.d.all), Messages: 1, Calls: dsbo.Calls{UpperGrad: 1, LowerGrad: 2}}
	if k > 0 && !a.Plain {
		cost.Floats *= 2
	}
	return cost
}

// step is one outer iteration.
func (a *SUNDSBO) step(w *Turn, k int) {
	a.envelopeDirections(w, drawsOf(k))
	a.trackedStep(w, k > 0 && !a.Plain, a.t, a.last, a.d, a.message) // T ← mix(T) + D − D₋
}

// envelopeDirections sets d to D at the present x, y and z.
func (a *SUNDSBO) envelopeDirections(w *Turn, on draws) {
	d, v := a.d, a.point
	w.UpperGrad(d.x, d.y, v.x, v.y, on.upper)
	lowerJointGrad(w, a.j, a.b, v.x, v.y, on.lower)
	linalg.Comb(d.x, a.Mu, d.x, 1, a.j)
	linalg.Comb(d.y, a.Mu, d.y, 1, a.b)
	lowerJointGrad(w, a.j, d.z, v.x, v.z, on.lower)
	linalg.Sub(d.x, d.x, a.j)
	linalg.Sub(a.b, v.z, v.y)
	linalg.Axpy(d.y, 1/a.Env, a.b)
	linalg.Axpy(d.z, 1/a.Env, a.b)
}
