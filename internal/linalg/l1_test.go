package linalg_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"dsbo/internal/linalg"
	"dsbo/internal/num"
	"dsbo/internal/testkit"
)

// l1Problem returns two blocks of mean logistic or half squared losses of random rows, of which the
// second has other rows, with the first entry free.
func l1Problem(r *rand.Rand, n, d int, curved, alike bool, threshold float64) *linalg.L1 {
	const blocks = 2
	x, y := make([][]float64, blocks*n), make([]float64, blocks*n)
	for e := range x {
		x[e] = make([]float64, d)
		common := r.NormFloat64()
		for j := range x[e] {
			x[e][j] = r.NormFloat64() + 2*common
		}
		if x[e][0] = 1; alike {
			x[e][d-1] = x[e][d-2]
		}
		y[e] = float64(r.IntN(2)) + 0.3*x[e][1]
		if curved {
			y[e] = math.Round(1 / (1 + math.Exp(-x[e][1]-r.NormFloat64())))
		}
	}
	p := &linalg.L1{Blocks: blocks, Thresholds: make([]float64, blocks*d)}
	linalg.Fill(p.Thresholds, threshold)
	p.Thresholds[0], p.Thresholds[d] = 0, 0
	output := func(u []float64, e int) float64 { return linalg.Dot(x[e], u[e/n*d:][:d]) }
	p.Gradient = func(dst, u []float64) error {
		clear(dst)
		for e := range x {
			o := output(u, e)
			if curved {
				o = 1 / (1 + math.Exp(-o))
			}
			linalg.Axpy(dst[e/n*d:][:d], (o-y[e])/float64(n), x[e])
		}
		return nil
	}
	p.Product = func(dst, u, v []float64) error {
		clear(dst)
		for e := range x {
			o := output(v, e)
			if curved {
				m := 1 / (1 + math.Exp(-output(u, e)))
				o *= m * (1 - m)
			}
			linalg.Axpy(dst[e/n*d:][:d], o/float64(n), x[e])
		}
		return nil
	}
	return p
}

// TestL1: at the solution of random problems, of many columns too and of columns that are alike, no
// subgradient is longer than the tolerance.
func TestL1(t *testing.T) {
	for seed := range uint64(12) {
		for _, c := range []struct {
			n, d          int
			curved, alike bool
			threshold     float64
		}{{60, 8, false, false, 0.1}, {60, 8, true, true, 0.02},
			{30, 60, false, true, 0.05}, {30, 60, true, false, 0.02},
			{30, 60, true, true, 1e-3}} {
			t.Run(fmt.Sprint(c, seed), func(t *testing.T) {
				p := l1Problem(rand.New(rand.NewPCG(seed, 1)), c.n, c.d, c.curved, c.alike, c.threshold)
				u, tol := make([]float64, 2*c.d), 1e-11
				g, converged, err := p.Solve(u, tol)
				testkit.OK(err)
				worst := 0.0
				for j, at := range u {
					off := math.Max(0, math.Abs(g[j])-p.Thresholds[j])
					if at != 0 && p.Thresholds[j] > 0 {
						off = math.Abs(g[j] + math.Copysign(p.Thresholds[j], at))
					}
					worst = math.Max(worst, off)
				}
				if !converged || !(worst <= tol) {
					t.Errorf("a subgradient is %g long, want at most %g", worst, tol)
				}
			})
		}
	}
}

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
