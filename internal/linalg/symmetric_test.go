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

// matrices are symmetric ones of all kinds.
func matrices() map[string][]float64 {
	r := rand.New(rand.NewPCG(1, 2))
	random := func(n int, scale func(i, j int) float64) []float64 {
		a := make([]float64, n*n)
		for i := range n {
			for j := range i + 1 {
				a[i*n+j] = scale(i, j) * num.Normal(r)
				a[j*n+i] = a[i*n+j]
			}
		}
		return a
	}
	one := func(int, int) float64 { return 1 }
	all := map[string][]float64{
		"zero": make([]float64, 16), "empty": nil, "number": {-3},
		"identity": {1, 0, 0, 0, 1, 0, 0, 0, 1}, "diagonal": {3, 0, 0, 0, -1, 0, 0, 0, 2}, "twin": {1, 1, 1, 1},
		"graded": random(20, func(i, j int) float64 { return math.Pow(10, -float64(i+j)/2) }),
		"tiny":   random(9, func(int, int) float64 { return 1e-160 }),
		"huge":   random(9, func(int, int) float64 { return 1e150 }),
	}
	for _, n := range []int{2, 3, 5, 8, 17, 64, 120} {
		all[fmt.Sprint("random ", n)] = random(n, one)
	}
	low := make([]float64, 30*30) // of rank 1: many eigenvalues are 0
	for i := range 30 {
		for j := range 30 {
			low[i*30+j] = float64((i + 1) * (j + 1))
		}
	}
	all["rank 1"] = low
	return all
}

// TestEigen: the rows v are orthonormal and a v = λ v, within n units in the last place of the
// largest eigenvalue.
func TestEigen(t *testing.T) {
	for name, a := range matrices() {
		n := int(math.Sqrt(float64(len(a))))
		u, values, alone := slices.Clone(a), make([]float64, n), make([]float64, n)
		if !linalg.Eigen(n, u, values, make([]float64, linalg.Work(n))) ||
			!linalg.Eigenvalues(n, slices.Clone(a), alone) {
			t.Fatalf("%s: there must be eigenvalues", name)
		}
		if !slices.IsSorted(values) || !slices.Equal(values, alone) {
			t.Errorf("%s: eigenvalues %v must ascend and be those without eigenvectors, %v", name, values, alone)
		}
		largest := 0.0
		for _, v := range values {
			largest = max(largest, math.Abs(v))
		}
		tolerance := 8 * float64(n+1) * 0x1p-53
		av := make([]float64, n)
		for l, value := range values {
			v := u[l*n:][:n]
			for i := range n {
				av[i] = linalg.Dot(a[i*n:][:n], v)
			}
			linalg.Axpy(av, -value, v)
			for i := range av {
				if !(math.Abs(av[i]) <= tolerance*largest) {
					t.Errorf("%s: a v − λ v has the entry %g for eigenvalue %d, %g", name, av[i], l, value)
				}
			}
			for k := range l + 1 {
				want := 0.0
				if k == l {
					want = 1
				}
				if got := linalg.Dot(v, u[k*n:][:n]); !(math.Abs(got-want) <= tolerance) {
					t.Errorf("%s: the product of rows %d and %d is %g; it must be %g", name, l, k, got, want)
				}
			}
		}
	}
}

// TestNotFinite: no eigenvalues, and no loop without end.
func TestNotFinite(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		a := []float64{1, bad, 0, bad, 1, 2, 0, 2, 3}
		if values := make([]float64, 3); linalg.Eigen(3, a, values, make([]float64, linalg.Work(3))) {
			t.Errorf("a matrix with %v must have no eigenvalues; they are %v", bad, values)
		}
		if linalg.Cholesky(2, []float64{bad, 0, 1, 1}) && bad != bad {
			t.Errorf("a matrix with %v must have no factor", bad)
		}
	}
	if linalg.Cholesky(2, []float64{1, 0, 2, 1}) {
		t.Error("a matrix that is not positive definite must have no factor")
	}
}

// TestSolve: a x = b by the factor of a, whose condition is small.
func TestSolve(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, 2, 7, 40} {
		a, x, b := make([]float64, n*n), make([]float64, n), make([]float64, n)
		for i := range n {
			x[i] = num.Normal(r)
			for j := range n {
				a[i*n+j] = 1 / float64(1+i+j)
			}
			a[i*n+i] += 1
		}
		for i := range n {
			b[i] = linalg.Dot(a[i*n:][:n], x)
		}
		if !linalg.Cholesky(n, a) {
			t.Fatalf("a matrix of %d rows must have a factor", n)
		}
		linalg.Solve(n, a, b)
		if off := math.Sqrt(linalg.Dist2(b, x)); off > 1e-14*float64(n) {
			t.Errorf("the solution of %d equations is off by %g", n, off)
		}
	}
}

// TestEigenvalues: as many products as the matrix has eigenvalues find the least, and 30 of a large
// one come within a twentieth.
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
	}
}

// TestLargest: the largest eigenvalue in size is found from below, to a hundredth, wherever it
// hides. Spectra that crowd at an end take most products.
func TestLargest(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for name, c := range map[string]struct {
		eigenvalue func(u float64) float64 // of a place from 0 to 1
		hidden     float64                 // one more; 0: none
		most       int                     // products
	}{
		"one of many":         {func(float64) float64 { return 1 }, 4, 4},
		"one a little larger": {func(float64) float64 { return 1 }, 1.02, 4},
		"one below 0":         {func(u float64) float64 { return u }, -4, 40},
		"evenly":              {func(u float64) float64 { return u }, 0, 130},
		"from below 0":        {func(u float64) float64 { return 2*u - 1 }, 0, 160},
		"crowded at the end":  {func(u float64) float64 { return math.Cos(math.Pi * u) }, 0, 160},
		"one above a crowd":   {func(u float64) float64 { return math.Sin(math.Pi * u) }, 1.05, 130},
		"small ones":          {func(u float64) float64 { return math.Pow(10, -9*u) }, 0, 130},
		"rank one":            {func(float64) float64 { return 0 }, 1e-8, 4},
		"zero":                {func(float64) float64 { return 0 }, 0, 1},
		"two of a size":       {func(u float64) float64 { return math.Copysign(1, u-0.5) }, 0, 4},
	} {
		for _, q := range []int{1, 2, 10, 1000, 100_000} {
			if testing.Short() && q == 100_000 && c.most > 100 {
				continue
			}
			diagonal, want, products := make([]float64, q), 0.0, 0
			for i := range diagonal {
				diagonal[i] = c.eigenvalue((float64(i) + 0.5) / float64(q))
			}
			if c.hidden != 0 {
				diagonal[r.IntN(q)] = c.hidden
			}
			for _, v := range diagonal {
				want = max(want, math.Abs(v))
			}
			got := testkit.Get(linalg.Largest(q, func(dst, v []float64) error {
				products++
				for i := range dst {
					dst[i] = diagonal[i] * v[i]
				}
				return nil
			}))
			if got > want*(1+1e-12) || got < 0.99*want || products > c.most {
				t.Errorf("%s, q = %d: the largest eigenvalue is %g after %d products, want %g after %d", name, q, got,
					products, want, c.most)
			}
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
