package algo

import (
	"dsbo"
	"dsbo/internal/linalg"
)

// AIDCG is approximate implicit differentiation by conjugate gradients (Pedregosa 2016; Grazzi,
// Franceschi, Pontil, Salzo, "On the Iteration Complexity of Hypergradient Computation", 2020), for
// one agent:
//
//	T times y −= β ∇_y g(x, y);  N steps of conjugate gradients on H z = b
//	u = ∇_x f − J z;  x −= α u
//
// The method is certain. Draws: {Lower, k, t}, {Upper, k, 0}, and one {Curvature, k, 0} for J and
// all products, as conjugate gradients need one and the same H.
type AIDCG struct {
	Alpha Schedule `json:"alpha,omitzero" default:"0.1"` // α, step of x
	Beta  Schedule `json:"beta,omitzero" default:"0.1"`  // β, step of y
	T     int      `json:"T,omitzero" default:"10"`      // steps of y
	N     int      `json:"N,omitzero" default:"10"`      // steps of conjugate gradients
	WarmZ bool     `json:"warm_z,omitzero"`              // start conjugate gradients from the last z, not from 0

	soloState
	r, p, hp []float64 // residual, direction and its product
}

// Init implements [Method].
func (a *AIDCG) Init(p, q, K int) error {
	return a.prepare(a, p, q, K, func(*checker) {
		a.z = a.carried("z", q)
		a.scratch(q, &a.r, &a.p, &a.hp)
	})
}

// Cost of an iteration: nothing is sent; T gradients of g, one of f, at most N (+1 when warm)
// Hessian-vector products (fewer when the residual becomes 0) and one Jacobian-vector product.
func (a *AIDCG) Cost(int) Cost {
	cost := Cost{Calls: implicitCalls(a.T, a.N)}
	if a.WarmZ {
		cost.HVP++
	}
	return cost
}

// step is one outer iteration.
func (a *AIDCG) step(w *Turn, _ int) {
	a.descendY(w, a.T)
	a.solve(w)
	a.descendX(w)
}

// solve runs up to N steps of conjugate gradients on H z = b, from z with WarmZ and else from 0. It
// ends early when the residual is exactly 0, where the next step would divide by 0.
func (a *AIDCG) solve(w *Turn) {
	s := w.Draw(dsbo.Curvature, 0)
	copy(a.r, a.b)
	if a.WarmZ {
		w.HVP(a.hp, a.x, a.y, a.z, s)
		linalg.Sub(a.r, a.r, a.hp)
	} else {
		clear(a.z)
	}
	cg := linalg.CG{V: a.z, R: a.r, D: a.p, HD: a.hp}
	cg.Start()
	for range w.steps(a.N) {
		if cg.RR == 0 {
			return
		}
		w.HVP(a.hp, a.x, a.y, a.p, s)
		cg.Step(cg.Curvature())
	}
}
