package linalg_test

import (
	"math"
	"testing"

	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
)

// TestEigenvalues: as many products as the matrix has eigenvalues find the least, and 30 of a large
// one come within a twentieth; the largest is found from below, to about a percent.
func TestEigenvalues(t *testing.T) {
	for _, q := range []int{1, 2, 6, 400} {
		products := 0
		diagonal := make([]float64, q) // from −q to 2q
		for i := range diagonal {
			diagonal[i] = -float64(q) + 3*float64(i)*float64(q)/max(1, float64(q-1))
		}
		product := func(dst, v []float64) error {
			products++
			for i := range dst {
				dst[i] = diagonal[i] * v[i]
			}
			return nil
		}
		least := testkit.Get(linalg.Least(q, product))
		if want := -float64(q); least < want*(1+1e-12) || least > 0.95*want || products > linalg.MostProducts {
			t.Errorf("q = %d: the least eigenvalue is %g after %d products, want %g", q, least, products, want)
		}
		want := math.Abs(diagonal[q-1])
		if got := testkit.Get(linalg.Largest(q, product)); got > want*(1+1e-12) || got < 0.97*want {
			t.Errorf("q = %d: the largest eigenvalue is %g, want %g", q, got, want)
		}
	}
}

// TestEigenvaluesNotFinite: products that are not finite make the least eigenvalue NaN, and are an
// error of the largest.
func TestEigenvaluesNotFinite(t *testing.T) {
	product := func(dst, _ []float64) error {
		dst[0] = math.Inf(1)
		return nil
	}
	if l := testkit.Get(linalg.Least(2, product)); !math.IsNaN(l) {
		t.Errorf("the least eigenvalue is %g, want NaN", l)
	}
	if l, err := linalg.Largest(2, product); err == nil {
		t.Errorf("the largest eigenvalue is %g, want an error", l)
	}
}
