package linalg_test

import (
	"math"
	"testing"

	"dsbo/internal/linalg"
)

// TestBFGS: on a quadratic of q numbers with exact steps along its directions, q changes tell the
// Hessian, and the next solution is exact; changes against the curvature are not remembered, and of
// more than Most the oldest are forgotten.
func TestBFGS(t *testing.T) {
	h := []float64{1, 3, 10, 0.5}
	q := len(h)
	gradient := func(y []float64) []float64 {
		g := make([]float64, q)
		for j := range g {
			g[j] = h[j] * y[j]
		}
		return g
	}
	b := linalg.BFGS{Most: q}
	y, d := []float64{1, -2, 0.5, 3}, make([]float64, q)
	for range q {
		g := gradient(y)
		b.Solve(d, g)
		hd := gradient(d)
		next := make([]float64, q)
		linalg.Comb(next, 1, y, -linalg.Dot(g, d)/linalg.Dot(d, hd), d)
		b.Add(next, gradient(next), y, g)
		y = next
	}
	if left := linalg.Norm(y); left > 1e-12 { // as conjugate gradients, which end after q steps
		t.Errorf("%d steps leave %g of the way", q, left)
	}
	v := []float64{1, 1, 1, 1}
	if b.Solve(d, gradient(v)); math.Abs(linalg.Dot(d, v)/float64(q)-1) > 1e-9 {
		t.Errorf("H⁻¹Hv is %v, want %v", d, v)
	}
	saddle := linalg.BFGS{Most: 1}
	if saddle.Add([]float64{1}, []float64{-1}, []float64{0}, []float64{0}); saddle.Known() {
		t.Error("a change of negative curvature is remembered")
	}
	for _, curvature := range []float64{2, 4} {
		saddle.Add([]float64{1}, []float64{curvature}, []float64{0}, []float64{0})
	}
	one := []float64{8}
	if saddle.Solve(one, one); one[0] != 2 {
		t.Errorf("by the newest of the changes H⁻¹g is %g, want 2", one[0])
	}
	if saddle.Forget(); saddle.Known() {
		t.Error("forgotten changes are known")
	}
}
