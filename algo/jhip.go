package algo

import (
	"dsbo"
	"dsbo/internal/kernel"
	"dsbo/internal/linalg"
)

// JHIP is DSBO-JHIP (Chen, Huang, Ma, "Decentralized Bilevel Optimization", 2022): the agents
// together solve Σ_i H_i Z = Σ_i J_i' for the q×p matrix Z by gradient tracking, and
//
//	T times:  y ← mix(y) − β ∇_y g(x, y)
//	Z = 0, S = D = −J';  N times:  Z ← mix(Z) − γ D;  S⁺ = H Z − J';  D ← mix(D) + S⁺ − S
//	u = ∇_x f − Z' b,   x ← mix(x) − α u
//
// The matrix that Z approximates is certain, the form likely; a constant γ and fresh H_t, J_t in
// each step (draws {Curvature, k, t}, as in Algorithm 1) are our reading. S_N and D_N reach nothing
// and are not computed. It asks the oracle for matrices (Hessian, Jacobian of
// [dsbo.OracleCapabilities]).
//
// Z is kept transposed, p×q, the layout of the Jacobian: H is symmetric, so (HZ)' = Z'H.
type JHIP struct {
	Alpha Schedule `json:"alpha,omitzero" default:"0.1"` // α, step of x
	Beta  Schedule `json:"beta,omitzero" default:"0.1"`  // β, step of y
	Gamma Schedule `json:"gamma,omitzero" default:"0.1"` // γ, step of Z
	T     int      `json:"T,omitzero" default:"10"`      // steps of y
	N     int      `json:"N,omitzero" default:"10"`      // steps of Z

	methodState
	mixedYX  []float64 // the mix of y and x
	zd, kept []float64 // Z' then D', one message; D', for mixers that cannot add as they mix
	s, s1, h []float64 // S', S⁺'; a Hessian
	v, b, zb []float64 // ∇_y g, ∇_y f, Z b
}

// Init implements [Method].
func (a *JHIP) Init(p, q, K int) error {
	return a.prepare(a, p, q, K, func(*checker) {
		a.z = nil // Z is a matrix
		a.scratch(p+q, &a.mixedYX)
		a.zd = a.newVec(2 * p * q)
		a.scratch(p*q, &a.s, &a.s1)
		a.scratch(q*q, &a.h)
		a.scratch(q, &a.v, &a.b)
		a.scratch(p, &a.zb)
	})
}

// Cost of an iteration: Tq + 2Npq + p numbers to each neighbour in T+N messages; T gradients of g,
// one of f, N Jacobians and N−1 Hessians.
func (a *JHIP) Cost(int) Cost {
	p, q := len(a.x), len(a.y)
	return Cost{
		Floats: a.T*q + 2*a.N*p*q + p, Messages: a.T + a.N,
		Calls: dsbo.Calls{UpperGrad: 1, LowerGrad: a.T, Jacobian: a.N, Hessian: a.N - 1},
	}
}

// Traits implements [Described]. Its matrices are a Hessian, and of p·q numbers each Z', D', S',
// S⁺' and the exchange's copies of Z' and D'.
func (a *JHIP) Traits() Traits {
	return a.traits(Traits{Dense: func(p, q int) int64 { return 8 * int64(q*q+6*p*q) }})
}

// step is one outer iteration.
func (a *JHIP) step(w *Turn, k int) {
	for t := range w.steps(a.T) {
		if t == 0 {
			w.Mix(a.mixedYX, a.yx) // x goes along
		} else {
			w.Mix(a.mixedYX[:len(a.y)], a.y)
		}
		w.LowerGrad(a.v, a.x, a.y, w.Draw(dsbo.Lower, t))
		linalg.Comb(a.y, 1, a.mixedYX[:len(a.y)], -a.beta(k), a.v) // y = mix(y) − β ∇_y g
	}
	a.solve(w, a.gamma(k))

	w.UpperGrad(a.u, a.b, a.x, a.y, w.Draw(dsbo.Upper, 0))
	mulVec(a.zb, a.zd[:len(a.s)], a.b)
	linalg.Sub(a.u, a.u, a.zb)                                  // u = ∇_x f − Z' b
	linalg.Comb(a.x, 1, a.mixedYX[len(a.y):], -a.alpha(k), a.u) // x = mix(x) − α u
}

// solve runs the N steps of Z, the matrix (Σ J)(Σ H)⁻¹, with gradient tracking, from Z = 0.
func (a *JHIP) solve(w *Turn, gamma float64) {
	w.kept = &a.kept
	q, pq := len(a.y), len(a.s)
	z, d := a.zd[:pq], a.zd[pq:]
	matrix(w, "Jacobian", w.also.Jacobian, a.s, a.x, a.y, w.Draw(dsbo.Curvature, 0))
	clear(z)
	linalg.Scale(a.s, -1, a.s)
	copy(d, a.s)
	for t := range w.steps(a.N) {
		w.MixAdd(a.zd, a.zd, -gamma, d) // Z = mix(Z) − γ D; and D = mix(D)
		if t == a.N-1 {
			break // S_N and D_N reach nothing
		}
		s := w.Draw(dsbo.Curvature, t+1)
		matrix(w, "Hessian", w.also.Hessian, a.h, a.x, a.y, s)
		matrix(w, "Jacobian", w.also.Jacobian, a.s1, a.x, a.y, s)
		linalg.Scale(a.s1, -1, a.s1)
		if w.ready() {
			kernel.GemmNN(len(a.x), q, q, a.s1, q, z, q, a.h, q, true) // S⁺ = H Z − J'
		}
		track(d, d, a.s1, a.s) // D = mix(D) + S⁺ − S
	}
}
