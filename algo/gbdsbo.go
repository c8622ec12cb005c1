package algo

import (
	"cmp"

	"dsbo"
	"dsbo/internal/linalg"
)

// GBDSBO is Gossip-Based DSBO (Yang, Zhang, Wang, "Decentralized Gossip-Based Stochastic Bilevel
// Optimization over Communication Networks", 2022, Algorithm 1). One step of x and y an iteration;
// gossip moving averages s, h, U, V_m of ∇_x f, ∇_y f, the Jacobian and N Hessians:
//
//	u = s − U Q h,   x ← mix(x) − α u,   y ← mix(y) − β ∇_y g(x, y)
//	s, h, U ← (1−b) mix(·) + b (∇_x f, ∇_y f, J);   V_m ← (1−b) mix(V_m) + b H(ζ_m)
//	Q = (1/l) Π-recursion: Q_0 = I, Q_m = I + (I − V_m/l) Q_{m−1}, Q = Q_N/l
//
// The structure is fairly sure; indices and scalings are our reading, and u uses the averages from
// before the iteration. With a constant b the averages stay apart when data differ, and the
// direction is off by the order of b². Only the product Q h is ever needed, so the recursion runs
// on the vector: N products of q² in place of q³, and no Q. Draws: {Upper, k, 0}, {Lower, k, 0},
// the Jacobian at {Curvature, k, 0}, H(ζ_m) at {Curvature, k, m}, m = 1..N. It asks the oracle
// for matrices (Hessian, Jacobian of [dsbo.OracleCapabilities]).
type GBDSBO struct {
	Alpha Schedule `json:"alpha,omitzero" default:"0.1"` // α, step of x
	Beta  Schedule `json:"beta,omitzero" default:"0.1"`  // β, step of y
	// b, weight of the fresh draw in the moving averages
	Mav float64  `json:"mav,omitzero" default:"0.5" must:"in (0, 1]"`
	L   Schedule `json:"lg,omitzero"`             // l, at least the largest eigenvalue of any H_i; must be given
	N   int      `json:"N,omitzero" default:"10"` // factors of the Neumann product

	methodState
	averages  []float64 // s, h and U
	s, h, jac []float64 // views of them
	hessians  []float64 // V_1..V_N
	message   []float64 // y, x and the averages
	hes       []float64 // H(ζ_m)
	fresh     []float64 // ∇_x f, ∇_y f and J in one vector, in the order of s, h and U
	gy, wv    []float64 // ∇_y g; a product with a V_i
}

// Init implements [Method].
func (a *GBDSBO) Init(p, q, K int) error {
	return a.prepare(a, p, q, K, func(*checker) {
		a.averages, a.hessians = a.carried("averages", p+q+p*q), a.carried("hessians", a.N*q*q)
		a.s, a.h, a.jac = a.averages[:p], a.averages[p:p+q], a.averages[p+q:]
		a.message = a.newVec(2*(p+q) + p*q)
		a.scratch(p+q+p*q, &a.fresh)
		a.hes = a.newVec(q * q)
		a.scratch(q, &a.gy, &a.wv)
	})
}

// Cost of an iteration: p + q + N·q² + p·q + p + q numbers to each neighbour in 1+N messages; one
// gradient of f and of g, one Jacobian and N Hessians.
func (a *GBDSBO) Cost(int) Cost {
	p, q := len(a.x), len(a.y)
	return Cost{
		Floats: 2*p + 2*q + p*q + a.N*q*q, Messages: 1 + a.N,
		Calls: dsbo.Calls{UpperGrad: 1, LowerGrad: 1, Jacobian: 1, Hessian: a.N},
	}
}

// Traits implements [Described]. Its matrices are N + 1 Hessians and one in the exchange; the
// moving averages, fresh values, the message and the exchange's copy of it have p·q numbers each. N
// may be unset before Init.
func (a *GBDSBO) Traits() Traits {
	return a.traits(Traits{
		Dense: func(p, q int) int64 { return 8 * int64((cmp.Or(a.N, 10)+2)*q*q+4*p*q) }})
}

// step is one outer iteration.
func (a *GBDSBO) step(w *Turn, k int) {
	p, q, b := len(a.x), len(a.y), a.Mav
	w.UpperGrad(a.fresh[:p], a.fresh[p:p+q], a.x, a.y, w.Draw(dsbo.Upper, 0))
	w.LowerGrad(a.gy, a.x, a.y, w.Draw(dsbo.Lower, 0))
	matrix(w, "Jacobian", w.also.Jacobian, a.fresh[p+q:], a.x, a.y, w.Draw(dsbo.Curvature, 0))
	a.direction() // u, by the averages from before

	in := w.mixJoined(a.message, a.yx, a.averages)
	linalg.Comb(a.averages, 1-b, in[q+p:], b, a.fresh) // s, h, U = (1−b) mix(·) + b (∇_x f, ∇_y f, J)
	for i := range a.N {
		v := a.hessians[i*q*q : (i+1)*q*q]
		w.Mix(v, v)
		matrix(w, "Hessian", w.also.Hessian, a.hes, a.x, a.y, w.Draw(dsbo.Curvature, i+1))
		linalg.Comb(v, 1-b, v, b, a.hes) // V_m = (1−b) mix(V_m) + b H(ζ_m)
	}
	linalg.Comb(a.y, 1, in[:q], -a.beta(k), a.gy)    // y = mix(y) − β ∇_y g
	linalg.Comb(a.x, 1, in[q:q+p], -a.alpha(k), a.u) // x = mix(x) − α u
}

// direction sets z = Q h and u = s − U z.
func (a *GBDSBO) direction() {
	q, l := len(a.y), a.lg()
	copy(a.z, a.h)
	for i := range a.N {
		mulVec(a.wv, a.hessians[i*q*q:(i+1)*q*q], a.z)
		for j := range a.z { // Q_m h = h + (I − V_m/l) Q_{m−1} h
			a.z[j] += a.h[j] - a.wv[j]/l
		}
	}
	linalg.Scale(a.z, 1/l, a.z)
	mulVec(a.u, a.jac, a.z)
	linalg.Sub(a.u, a.s, a.u) // u = s − U Q h
}
