package algo

import (
	"dsbo"
	"dsbo/internal/linalg"
)

// A neumann approximates H⁻¹ b by the truncated series a Σ_{m<N} (I − aH)^m b, a ≤ 1/λ_max(H).
// Papers draw N' uniformly from 0..N−1 and use the single term N a (I − aH)^N' b, whose mean over
// N' is the series. With draws, iteration k uses that term with N' = draws[k mod len(draws)], so
// that a run can be repeated. The m-th product uses draw {Curvature, k, m}, m = 1, 2, ...
type neumann struct {
	n       int
	draws   []int
	average bool      // mix b and each product, as FEDNEST's server does
	c, h    []float64 // scratch: (I − aH)^m b, and a product with H
}

// newNeumann makes a series of n terms for vectors of length q.
func newNeumann(q, n int, draws []int, average bool) neumann {
	return neumann{n: n, draws: draws, average: average, c: make([]float64, q), h: make([]float64, q)}
}

// products returns the number of Hessian-vector products in iteration k.
func (s *neumann) products(k int) int {
	if len(s.draws) > 0 {
		return s.draws[k%len(s.draws)]
	}
	return s.n - 1
}

// solve writes the approximation at (x, y) to z.
func (s *neumann) solve(w *Turn, z, b, x, y []float64, a float64) {
	if len(s.draws) > 0 {
		linalg.Scale(z, float64(s.n)*a, b)
		s.exchange(w, z)
		for m := range s.products(w.k) {
			s.applyFactor(w, z, x, y, a, m+1)
		}
		return
	}
	copy(s.c, b)
	s.exchange(w, s.c)
	copy(z, s.c)
	for m := range s.n - 1 {
		s.applyFactor(w, s.c, x, y, a, m+1)
		linalg.Add(z, z, s.c)
	}
	linalg.Scale(z, a, z)
}

// applyFactor sets v = (I − aH) v with draw m.
func (s *neumann) applyFactor(w *Turn, v, x, y []float64, a float64, m int) {
	w.HVP(s.h, x, y, v, w.Draw(dsbo.Curvature, m))
	linalg.Axpy(v, -a, s.h)
	s.exchange(w, v)
}

// exchange averages v over the agents, where the method asks for that.
func (s *neumann) exchange(w *Turn, v []float64) {
	if s.average {
		w.Mix(v, v)
	}
}
