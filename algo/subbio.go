package algo

import (
	"dsbo"
	"dsbo/internal/linalg"
)

// SubBiO is SubBiO (Yang, Gao, Yuan, "LancBiO: Dynamic Lanczos-aided Bilevel Optimization via
// Krylov Subspace", ICLR 2025), for one agent:
//
//	T times y −= β ∇_y g(x, y)
//	z = argmin ½ z'Hz − b'z in span{b, (I − γH) z₋}, z₋ the last z
//	u = ∇_x f − J z;  x −= α u
//
// The lines are certain, from the authors' program; that z is 0 at the start, where theirs is
// random, is ours. At a fixed point it is exact. Draws: {Lower, k, t}, {Upper, k, 0}, and one
// {Curvature, k, 0} for J and all products.
type SubBiO struct {
	Alpha Schedule `json:"alpha,omitzero" default:"0.1"` // α, step of x
	Beta  Schedule `json:"beta,omitzero" default:"0.1"`  // β, step of y
	Gamma Schedule `json:"gamma,omitzero" default:"0.1"` // γ, step of the second vector
	T     int      `json:"T,omitzero" default:"10"`      // steps of y

	soloState
	e, he [2][]float64 // an orthonormal basis of the plane, and its products
}

// Init implements [Method].
func (a *SubBiO) Init(p, q, K int) error {
	return a.prepare(a, p, q, K, func(*checker) {
		a.z = a.carried("z", q)
		a.scratch(q, &a.e[0], &a.e[1], &a.he[0], &a.he[1])
	})
}

// Cost of an iteration: nothing is sent; T gradients of g, one of f, at most 3 Hessian-vector
// products (2 in the first, fewer where b and the second vector are one direction) and one
// Jacobian-vector product.
func (a *SubBiO) Cost(k int) Cost {
	return Cost{Calls: implicitCalls(a.T, min(2+k, 3))}
}

// step is one outer iteration.
func (a *SubBiO) step(w *Turn, _ int) {
	a.descendY(w, a.T)
	a.minimize(w)
	a.descendX(w)
}

// minimize sets z to the minimizer in the span of b and (I − γH) z₋. Gram-Schmidt makes an
// orthonormal basis E, leaving out a vector that is 0 or depends on the other; then z = E c with
// (E'HE) c = E'b, a system of at most two equations.
func (a *SubBiO) minimize(w *Turn) {
	s, dot := w.Draw(dsbo.Curvature, 0), linalg.Dot[float64]
	w.HVP(a.he[0], a.x, a.y, a.z, s)
	copy(a.e[0], a.b)
	linalg.Comb(a.e[1], 1, a.z, -a.gamma(w.k), a.he[0])
	clear(a.z)
	n := 0 // number of vectors in the basis so far; they overwrite a.e
	for _, v := range a.e {
		size := linalg.Norm(v)
		if n > 0 {
			linalg.Axpy(v, -dot(a.e[0], v), a.e[0])
		}
		if rest := linalg.Norm(v); rest > vanished*size {
			linalg.Scale(a.e[n], 1/rest, v)
			w.HVP(a.he[n], a.x, a.y, a.e[n], s)
			n++
		}
	}
	if w.err != nil {
		return
	}
	switch e, h := a.e, a.he; n { // c by Cramer's rule; z stays 0 if n = 0
	case 1:
		linalg.Scale(a.z, dot(e[0], a.b)/dot(e[0], h[0]), e[0])
	case 2:
		g00, g01, g10, g11 := dot(e[0], h[0]), dot(e[0], h[1]), dot(e[1], h[0]), dot(e[1], h[1])
		b0, b1 := dot(e[0], a.b), dot(e[1], a.b)
		det := float64(g00*g11) - float64(g01*g10)
		linalg.Comb(a.z, (float64(b0*g11)-float64(g01*b1))/det, e[0], (float64(g00*b1)-float64(b0*g10))/det, e[1])
	}
}

// vanished is the relative size at or below which the remainder of a vector, made orthogonal to
// others, is rounding error.
const vanished = 1e-12
