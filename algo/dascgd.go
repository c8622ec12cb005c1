package algo

import (
	"dsbo"
	"dsbo/internal/linalg"
)

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
// are our reading. Draws: the start is {Lower, k, 0} and {Upper, k, 0} of the first iteration;
// G_i(x) and G_i(x⁺) both use {Lower, k, 1}, so that they differ by x alone and not by their
// examples; ∇f(y⁺) is {Upper, k, 1}; J is {Curvature, k, 0}.
type DASCGD struct {
	Alpha Schedule `json:"alpha,omitzero" default:"0.1"`              // α, step of x
	B     float64  `json:"b,omitzero" default:"0.5" must:"in (0, 1]"` // b, weight of the fresh draw in the inner value
	Start string   `json:"init,omitzero" must:"one of exact, zero"`   // start of the inner value; exact: G_i(x_0)

	methodState
	g          []float64 // the tracked share G of the inner value
	fx, fy     []float64 // gradient of f at the current (x, y)
	gn, gx, fn []float64 // G⁺; G_i(x); ∇_y f(y⁺)
	j, zero    []float64 // J z; zeros
	message    []float64 // x, y and z
	gFresh     []float64 // G_i(x⁺)
}

// Init implements [Method].
func (a *DASCGD) Init(p, q, K int) error {
	return a.prepare(a, p, q, K, func(*checker) {
		a.z, a.g = a.carried("z", q), a.carried("inner", q)
		a.fx, a.fy = a.carried("upper_x", p), a.carried("upper_y", q)
		a.tracks(a.y, a.g)
		a.tracks(a.z, a.fy)
		a.scratch(q, &a.gn, &a.gx, &a.fn, &a.gFresh, &a.zero)
		a.scratch(p, &a.j)
		a.message = a.newVec(p + 2*q)
	})
}

// Cost of an iteration: p + 2q numbers to each neighbour in one message; one gradient of f, two of
// g and one Jacobian-vector product. The first iteration asks one more gradient of f, and of g
// where the start is exact.
func (a *DASCGD) Cost(k int) Cost {
	cost := Cost{Floats: len(a.x) + 2*len(a.y), Messages: 1, Calls: dsbo.Calls{UpperGrad: 1, LowerGrad: 2, JVP: 1}}
	if k == 0 {
		cost.UpperGrad++
		if a.Start == "exact" {
			cost.LowerGrad++
		}
	}
	return cost
}

// Traits implements [Described].
func (a *DASCGD) Traits() Traits { return a.traits(Traits{Compositional: true}) }

// step is one outer iteration.
func (a *DASCGD) step(w *Turn, k int) {
	p, q := len(a.x), len(a.y)
	if k == 0 {
		a.setStart(w)
	}
	in := w.mixJoined(a.message, a.x, a.y, a.z)

	copy(a.u, a.fx)
	implicitGrad(w, a.u, a.j, a.x, a.y, a.z) // u = ∇_x f − J z
	s := w.Draw(dsbo.Lower, 1)
	a.innerMap(w, a.gx, a.x, s)
	linalg.Comb(a.x, 1, in[:p], -a.alpha(k), a.u) // x⁺ = mix(x) − α u
	a.innerMap(w, a.gFresh, a.x, s)
	for i := range a.gn { // G⁺ = (1−b)(G − G_i(x)) + G_i(x⁺)
		a.gn[i] = float64((1-a.B)*(a.g[i]-a.gx[i])) + a.gFresh[i]
	}
	track(a.y, in[p:p+q], a.gn, a.g) // y⁺ = mix(y) + G⁺ − G

	w.UpperGrad(a.fx, a.fn, a.x, a.y, w.Draw(dsbo.Upper, 1))
	track(a.z, in[p+q:], a.fn, a.fy) // z⁺ = mix(z) + ∇_y f(y⁺) − ∇_y f(y)
}

// Handover implements [Reformer]: y is a tracker of the agent's own, which begins with 0 as what it
// tracks does.
func (a *DASCGD) Handover() []dsbo.Named { return a.named[:1] }

// setStart sets G, y, z and the gradient of f at the start.
func (a *DASCGD) setStart(w *Turn) {
	if a.Start == "exact" {
		a.innerMap(w, a.g, a.x, w.Draw(dsbo.Lower, 0))
	}
	copy(a.y, a.g)
	w.UpperGrad(a.fx, a.fy, a.x, a.y, w.Draw(dsbo.Upper, 0))
	copy(a.z, a.fy)
}

// innerMap sets dst = G_i(x) = −∇_y g_i(x, 0).
func (a *DASCGD) innerMap(w *Turn, dst, x []float64, s dsbo.Sample) {
	w.LowerGrad(dst, x, a.zero, s)
	linalg.Scale(dst, -1, dst)
}
