package algo

import (
	"dsbo"
	"dsbo/internal/linalg"
)

// ITD is iterative differentiation (Franceschi, Frasconi, Salzo, Grazzi, Pontil 2018), reverse mode
// through T gradient steps, for one agent; the start y⁰ counts as a constant:
//
//	y^{t+1} = y^t − β ∇_y g(x, y^t);  a = ∇_y f(x, y^T), u = ∇_x f
//	t = T−1..0:  u −= β J(x, y^t) a,  then a −= β H(x, y^t) a;   x −= α u
//
// The method is certain. Draws: step t and its derivative use {Lower, k, t}; f uses {Upper, k, 0}.
type ITD struct {
	Alpha Schedule `json:"alpha,omitzero" default:"0.1"` // α, step of x
	Beta  Schedule `json:"beta,omitzero" default:"0.1"`  // β, step of y
	T     int      `json:"T,omitzero" default:"10"`      // steps of y
	ColdY bool     `json:"cold_y,omitzero"`              // start y at 0 in each iteration, not at the last y

	soloState
	path []float64 // y^0..y^{T−1}
}

// Init implements [Method].
func (a *ITD) Init(p, q, K int) error {
	return a.prepare(a, p, q, K, func(*checker) {
		a.scratch(a.T*q, &a.path)
	})
}

// Cost of an iteration: nothing is sent; T gradients of g, one of f, T Hessian- and T
// Jacobian-vector products. The path of y takes T·q numbers.
func (a *ITD) Cost(int) Cost {
	return Cost{Calls: dsbo.Calls{UpperGrad: 1, LowerGrad: a.T, HVP: a.T, JVP: a.T}}
}

// Traits implements [Described].
func (a *ITD) Traits() Traits { return a.traits(Traits{OneAgent: true, Differentiates: true}) }

// step is one outer iteration.
func (a *ITD) step(w *Turn, k int) {
	beta := a.beta(k)
	if a.ColdY {
		clear(a.y)
	}
	for t := range w.steps(a.T) {
		copy(a.yAt(t), a.y)
		w.LowerGrad(a.g, a.x, a.y, w.Draw(dsbo.Lower, t))
		linalg.Axpy(a.y, -beta, a.g)
	}
	w.UpperGrad(a.u, a.z, a.x, a.y, w.Draw(dsbo.Upper, 0)) // u = ∇_x f, and in z a = ∇_y f
	for t := a.T - 1; t >= 0; t-- {
		w.JVP(a.j, a.x, a.yAt(t), a.z, w.Draw(dsbo.Lower, t))
		linalg.Axpy(a.u, -beta, a.j) // u −= β J(x, y^t) a
		w.HVP(a.g, a.x, a.yAt(t), a.z, w.Draw(dsbo.Lower, t))
		linalg.Axpy(a.z, -beta, a.g) // a −= β H(x, y^t) a
	}
	linalg.Axpy(a.x, -a.alpha(k), a.u)
}

// yAt returns y^t.
func (a *ITD) yAt(t int) []float64 { q := len(a.y); return a.path[t*q : (t+1)*q] }
