package algo

// ALSET is ALSET (Chen, Sun, Yin, "Closing the Gap: Tighter Analysis of Alternating Stochastic
// Gradient Methods for Bilevel Problems", NeurIPS 2021), for one agent:
//
//	T times y −= β ∇_y g(x, y);  z = (1/l) Σ_{m<N} (I − H/l)^m b, or the draw (N/l)(I − H/l)^N' b
//	u = ∇_x f − J z;  x −= α u
//
// The method is certain; that the sum stands in for the random draw is our reading. Draws:
// {Lower, k, t}, {Upper, k, 0}, J at {Curvature, k, 0}, the m-th product at {Curvature, k, m}.
type ALSET struct {
	Alpha Schedule `json:"alpha,omitzero" default:"0.1"` // α, step of x
	Beta  Schedule `json:"beta,omitzero" default:"0.1"`  // β, step of y
	T     int      `json:"T,omitzero" default:"10"`      // steps of y
	N     int      `json:"N,omitzero" default:"10"`      // terms of the series
	L     Schedule `json:"lg,omitzero"`                  // l, at least the largest eigenvalue of H; must be given
	// draws of the truncation N', one an iteration; empty: the series
	NPrime []int `json:"nprime,omitempty"`

	soloState
	inverse neumann
}

// Init implements [Method].
func (a *ALSET) Init(p, q, K int) error {
	return a.prepare(a, p, q, K, func(*checker) {
		a.inverse = newNeumann(q, a.N, a.NPrime, false)
	})
}

// Cost of an iteration: nothing is sent; T gradients of g, one of f, N−1 (N' for a draw)
// Hessian-vector products and one Jacobian-vector product.
func (a *ALSET) Cost(k int) Cost {
	return Cost{Calls: implicitCalls(a.T, a.inverse.products(k))}
}

// step is one outer iteration.
func (a *ALSET) step(w *Turn, _ int) {
	a.descendY(w, a.T)
	a.inverse.solve(w, a.z, a.b, a.x, a.y, 1/a.lg())
	a.descendX(w)
}
