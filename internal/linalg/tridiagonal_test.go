package linalg_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"dsbo/internal/linalg"
	"dsbo/internal/num"
)

// TestSolveTridiagonal: of random symmetric tridiagonal systems, most of them indefinite, some with
// zeros on the diagonal, the residual is rounding's: rows are exchanged where a pivot is small.
func TestSolveTridiagonal(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for n := 1; n <= 40; n++ {
		diagonal, off, b := make([]float64, n), make([]float64, n-1), make([]float64, n)
		for i := range n {
			if b[i] = num.Normal(r); n%6 > 0 || i%2 == 1 {
				diagonal[i] = num.Normal(r)
			}
		}
		for i := range off {
			off[i] = num.Normal(r)
		}
		x := slices.Clone(b)
		linalg.SolveTridiagonal(x, diagonal, off, make([]float64, 3*n))
		largest := slices.Max(x) - slices.Min(x)
		for i := range n {
			left := diagonal[i] * x[i]
			if i > 0 {
				left += off[i-1] * x[i-1]
			}
			if i+1 < n {
				left += off[i] * x[i+1]
			}
			if d := math.Abs(left - b[i]); !(d <= 1e-14*max(1, 8*largest)) { // a row has three terms; rows grow by 2
				t.Errorf("n = %d, row %d: the residual is %g, where x spans %g", n, i, d, largest)
			}
		}
	}
}
