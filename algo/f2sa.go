package algo

import (
	"cmp"

	"dsbo"
	"dsbo/internal/linalg"
)

// F2SA is F²SA (Kwon, Kwon, Wright, Nowak, "A Fully First-Order Method for Stochastic Bilevel
// Optimization", ICML 2023), for one agent. z is a second y:
//
//	T times, both at once: y −= β(∇_y f + λ ∇_y g)(x,y),  z −= γ ∇_y g(x,z)
//	x −= α P_x,  P_x = ∇_x f(x,y) + λ(∇_x g(x,y) − ∇_x g(x,z));  λ += δ_k
//
// The lines are certain, from public code and the paper. x follows the minimum of
// min_y [f + λ(g − min_z g)] at the present λ, where ∇Φ is of order 1/λ. β must fall as λ grows:
// safe are β < 2/(L_f + λL_g) and γ < 2/L_g. Draws: {Lower, k, 0} and {Upper, k, 0} in all T steps.
//
// With order 2 it is F²SA-2 (penalty.go): z −= γ(∇_y g − ∇_y f/λ)(x,z), and the bias is of order
// 1/λ². Unit steps, x −= α P_x/(‖P_x‖ + 1e-6), are its published form; they need α that falls.
type F2SA struct {
	Alpha Schedule `json:"alpha,omitzero" default:"0.1"`                // α, step of x
	Beta  Schedule `json:"beta,omitzero" default:"0.01"`                // β, step of y
	Gamma Schedule `json:"gamma,omitzero" default:"0.1"`                // γ, step of z
	T     int      `json:"T,omitzero" default:"10"`                     // steps of y and z
	Lam0  float64  `json:"lam0,omitzero" default:"10"`                  // λ at the start
	DLam  Schedule `json:"dlam,omitzero" default:"0" must:"at least 0"` // δ, added to λ in each iteration
	Order int      `json:"order,omitzero" default:"1" must:"1 or 2"`    // 2: central differences
	Unit  bool     `json:"unit,omitzero"`                               // steps of x of length α

	tripleState
	d   triple    // directions of x, y and z
	lam []float64 // λ, one number
}

// Init implements [Method].
func (a *F2SA) Init(p, q, K int) error {
	return a.prepare(a, p, q, K, func(c *checker) {
		c.centralSteps(a.Order, a.Lam0, 1)
		a.lam = a.carried("lam", 1)
		a.d = a.directionTriple()
	})
}

// Traits implements [Described].
func (a *F2SA) Traits() Traits {
	return penaltyTraits(a.traits(Traits{OneAgent: true}), a.Order, cmp.Or(a.Lam0, penaltyWeight), 1)
}

// Cost of an iteration: nothing is sent; 2(T+1) gradients of g and, with order 1, half as many
// of f, of which the last are in both variables.
func (a *F2SA) Cost(int) Cost {
	return Cost{Calls: dsbo.Calls{UpperGrad: a.Order * (a.T + 1), LowerGrad: 2 * (a.T + 1)}}
}

// step is one outer iteration.
func (a *F2SA) step(w *Turn, k int) {
	if k == 0 {
		a.lam[0] = a.Lam0
	}
	lambda, on := a.lam[0], drawsOf(k)
	for range w.steps(a.T) {
		w.UpperGrad(nil, a.b, a.x, a.y, on.upper)
		w.LowerGrad(a.d.y, a.x, a.y, on.lower)
		w.LowerGrad(a.d.z, a.x, a.point.z, on.lower)
		linalg.Comb(a.d.y, 1, a.b, lambda, a.d.y)
		if a.Order == 2 {
			w.UpperGrad(nil, a.b, a.x, a.point.z, on.upper)
			linalg.Axpy(a.d.z, -1/lambda, a.b)
		}
		linalg.Axpy(a.y, -a.beta(k), a.d.y)
		linalg.Axpy(a.point.z, -a.gamma(k), a.d.z)
	}
	a.penaltyDirections(w, a.d, a.point, lambda, a.Order, on)
	step := a.alpha(k)
	if a.Unit {
		step /= linalg.Norm(a.d.x) + 1e-6
	}
	linalg.Axpy(a.x, -step, a.d.x)
	a.lam[0] += a.schedules["dlam"](k)
}
