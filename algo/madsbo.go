package algo

import (
	"dsbo"
	"dsbo/internal/linalg"
)

// MADSBO is Algorithm 3 of Chen, Huang, Ma, Balasubramanian, "Decentralized Stochastic Bilevel
// Optimization with Improved per-Iteration Complexity" (ICML 2023), to the letter:
//
//	T times:  y ← mix(y) − β_k ∇_y g(x, y; ξ̃_t)
//	u = hypergradient estimate at (x, y)                (Algorithm 2)
//	x ← mix(x) − α_k r,   r ← (1−α_k) r + α_k u         (x uses the old r)
//
// The letter of the paper exchanges T + 2N + 1 times. Mix is linear and x does not change before
// line 11, so x travels with the first y, and z with d: T+N messages, the same numbers, the same
// bits. The draws are named as in the paper: ξ̃_t is {Lower, k, t}.
type MADSBO struct {
	// α_k, step of x, weight of the moving average
	Alpha Schedule `json:"alpha,omitzero" default:"0.1" must:"in (0, 1]"`
	Beta  Schedule `json:"beta,omitzero" default:"0.1"`  // β_k, step of y
	Gamma Schedule `json:"gamma,omitzero" default:"0.1"` // γ, step of z, see [HIGP]
	T     int      `json:"T,omitzero" default:"10"`      // steps of y
	N     int      `json:"N,omitzero" default:"10"`      // steps of z

	methodState
	r, v  []float64      // the moving average of u; ∇_y g
	xk    []float64      // x at the start of the iteration: between lines 6 and 11 x holds mix(x)
	hyper *Hypergradient // Algorithm 2
}

// Init implements [Method].
func (a *MADSBO) Init(p, q, K int) error {
	return a.prepare(a, p, q, K, func(*checker) {
		a.r, a.xk = a.carried("r", p), a.newVec(p)
		a.hyper = NewHypergradient(p, q)
		a.v = a.hyper.higp.hz // scratch while z does not change
		a.z, a.u = a.hyper.Z(), a.hyper.U()
	})
}

// Cost of an iteration: Tq + 2Nq + p numbers to each neighbour in T+N messages; T gradients of g,
// N of f, N−1 Hessian-vector products and one Jacobian-vector product.
func (a *MADSBO) Cost(int) Cost {
	p, q := len(a.x), len(a.y)
	return Cost{
		Floats: a.T*q + 2*a.N*q + p, Messages: a.T + a.N,
		Calls: dsbo.Calls{UpperGrad: a.N, LowerGrad: a.T, HVP: a.N - 1, JVP: 1},
	}
}

// step is one pass through lines 3-13 of Algorithm 3. x is mixed in line 6's first exchange and
// used in line 11.
func (a *MADSBO) step(w *Turn, k int) {
	alpha, beta := a.alpha(k), a.beta(k)

	copy(a.xk, a.x)
	for t := range w.steps(a.T) { // line 4; line 3: y is the last iteration's
		w.LowerGrad(a.v, a.xk, a.y, w.Draw(dsbo.Lower, t)) // line 6: v = ∇_y g(x, y; ξ̃_t)
		if t == 0 {
			w.MixAdd(a.yx, a.yx, -beta, a.v) // line 6: y = mix(y) − β v, and with it mix(x) for line 11
		} else {
			w.MixAdd(a.y, a.y, -beta, a.v) // line 6: y = mix(y) − β v
		}
	}

	a.hyper.run(w, a.xk, a.y, a.gamma(k), a.N) // line 9: u by Algorithm 2

	linalg.Axpy(a.x, -alpha, a.r)              // line 11: x = mix(x) − α r, the old r
	linalg.Comb(a.r, 1-alpha, a.r, alpha, a.u) // line 12: r = (1−α) r + α u
}
