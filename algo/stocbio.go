package algo

// StocBiO is stocBiO (Ji, Yang, Liang, "Bilevel Optimization: Convergence Analysis and Enhanced
// Design", ICML 2021), for one agent:
//
//	T times y −= β ∇_y g(x, y);  z = γ Σ_{m<N} (I − γH)^m b;  u = ∇_x f − J z;  x −= α u
//
// The method is certain. Draws: {Lower, k, t}, {Upper, k, 0}, J at {Curvature, k, 0}, the m-th
// product at {Curvature, k, m}.
type StocBiO struct {
	Alpha Schedule `json:"alpha,omitzero" default:"0.1"` // α, step of x
	Beta  Schedule `json:"beta,omitzero" default:"0.1"`  // β, step of y
	Gamma Schedule `json:"gamma,omitzero" default:"0.1"` // γ, step of the series, at most 1/λ_max(H)
	T     int      `json:"T,omitzero" default:"10"`      // steps of y
	N     int      `json:"N,omitzero" default:"10"`      // terms of the series

	soloState
	inverse neumann
}

// Init implements [Method].
func (a *StocBiO) Init(p, q, K int) error {
	return a.prepare(a, p, q, K, func(*checker) {
		a.inverse = newNeumann(q, a.N, nil, false)
	})
}

// Cost of an iteration: nothing is sent; T gradients of g, one of f, N−1 Hessian-vector products
// and one Jacobian-vector product.
func (a *StocBiO) Cost(int) Cost {
	return Cost{Calls: implicitCalls(a.T, a.N-1)}
}

// step is one outer iteration.
func (a *StocBiO) step(w *Turn, k int) {
	a.descendY(w, a.T)
	a.inverse.solve(w, a.z, a.b, a.x, a.y, a.gamma(k))
	a.descendX(w)
}
