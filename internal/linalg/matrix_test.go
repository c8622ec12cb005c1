package linalg

import (
	"math"
	"slices"
	"testing"

	"dsbo"
)

// curved is an oracle whose Hessian is diagonal.
type curved struct {
	dsbo.Oracle
	of []float64
}

func (c curved) HVP(dst, _, _, v []float64, _ dsbo.Sample) error {
	for i, h := range c.of {
		dst[i] = h * v[i]
	}
	return nil
}

// TestDamping: μ of a damped Hessian is 1.1 times what the least eigenvalue is below 0, and stays
// where that is not known; other matrices have none. Products and diagonals have it.
func TestDamping(t *testing.T) {
	o := curved{of: []float64{3, -2}}
	for _, kind := range []dsbo.CurvatureMatrix{dsbo.Hessian, dsbo.DampedHessian} {
		m := NewMatrix(kind)
		for _, c := range []struct{ least, mu float64 }{{-2, 2.2}, {math.NaN(), 2.2}, {-.5, .55}, {.5, 0}, {0, 0}} {
			if kind == dsbo.Hessian {
				c.mu = 0
			}
			m.SetDamping(c.least)
			product, diagonal, v := make([]float64, 2), slices.Clone(o.of), []float64{2, -1}
			if err := Product(m, o, product, nil, nil, v, dsbo.Sample{}); err != nil {
				t.Fatal(err)
			}
			m.Damp(diagonal)
			for i, h := range o.of {
				if want := h + c.mu; !(math.Abs(m.Mu[0]-c.mu) <= 1e-15) || !(math.Abs(diagonal[i]-want) <= 1e-15) ||
					!(math.Abs(product[i]-want*v[i]) <= 1e-15) {
					t.Errorf("kind %v, least eigenvalue %g: μ is %g, product %v, diagonal %v", kind, c.least, m.Mu[0],
						product, diagonal)
				}
			}
		}
	}
}

// TestExtremes: the ends of a spectrum, also where eigenvalues crowd one; where the last products
// changed nothing no more are taken.
func TestExtremes(t *testing.T) {
	for name, of := range map[string]func(i int) float64{
		"crowded at 0":  func(i int) float64 { return float64(i*i) / 1e4 },
		"crowded below": func(i int) float64 { return -5 - math.Pow(.9, float64(i)) },
		"both signs":    func(i int) float64 { return float64(i) - 37.5 },
	} {
		const q = 100
		products := 0
		product := func(dst, v []float64) {
			products++
			for i := range dst {
				dst[i] = of(i) * v[i]
			}
		}
		near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*(math.Abs(a)+math.Abs(b)) }
		least, largest := Extremes(q, product, near)
		low, high := min(of(0), of(q-1)), max(of(0), of(q-1))
		if size := max(-low, high); !(math.Abs(least-low) <= 1e-6*size) || !(math.Abs(largest-high) <= 1e-6*size) ||
			products > 2*q {
			t.Errorf("%s: %g to %g by %d products, want %g to %g", name, least, largest, products, low, high)
		}
	}
	products := 0
	Extremes(100, func(dst, v []float64) {
		products++
		for i := range dst {
			dst[i] = float64(i) * v[i]
		}
	}, func(before, now float64) bool { return !math.IsNaN(before) })
	if products != 32 { // the second check is the first that has one before it
		t.Errorf("%d products where all are alike", products)
	}
	for _, v := range []float64{0, 3} { // one product spans all
		least, largest := Extremes(4, func(dst, of []float64) { Scale(dst, v, of) },
			func(float64, float64) bool { return false })
		if !(math.Abs(least-v) <= 1e-12) || !(math.Abs(largest-v) <= 1e-12) {
			t.Errorf("of %g·I: %g to %g", v, least, largest)
		}
	}
}

// TestBFGS: of a quadratic function of two variables two pairs tell the Hessian, of more the newest
// are kept, and what curves downward is not remembered.
func TestBFGS(t *testing.T) {
	// H⁻¹ is (2, −1; −1, 4)/7
	gradient := func(y []float64) []float64 { return []float64{4*y[0] + y[1], y[0] + 2*y[1]} }
	b := BFGS{Most: 2}
	if b.Known() {
		t.Error("it knows of nothing")
	}
	b.Add([]float64{1, 0}, []float64{-1, 0}, []float64{0, 0}, []float64{0, 0})
	if b.Known() {
		t.Error("it remembers what curves downward")
	}
	points := [][]float64{{5, 5}, {5, 6}, {7, 5}, {7, 4}} // the last two changes are conjugate to none before
	for k := range points[1:] {
		b.Add(points[k+1], gradient(points[k+1]), points[k], gradient(points[k]))
	}
	if len(b.changes) != 2 || !b.Known() {
		t.Errorf("%d pairs are remembered", len(b.changes))
	}
	dst := make([]float64, 2)
	b.Solve(dst, []float64{-1, -2}) // the gradient's change by the newest pair, which it has learned
	if !(math.Abs(dst[0]) <= 1e-12) || !(math.Abs(dst[1]+1) <= 1e-12) {
		t.Errorf("of the newest change of the gradient it is %v, want (0, -1)", dst)
	}
	conjugate := BFGS{Most: 2} // (1, 0) and (1, -4) are conjugate: both pairs are learned
	conjugate.Add([]float64{1, 0}, gradient([]float64{1, 0}), []float64{0, 0}, []float64{0, 0})
	conjugate.Add([]float64{2, -4}, gradient([]float64{2, -4}), []float64{1, 0}, gradient([]float64{1, 0}))
	conjugate.Solve(dst, []float64{7, 14})
	if !(math.Abs(dst[0]) <= 1e-12) || !(math.Abs(dst[1]-7) <= 1e-12) {
		t.Errorf("H⁻¹(7, 14) is %v, want (0, 7)", dst)
	}
	if conjugate.Forget(); conjugate.Known() {
		t.Error("it has forgotten nothing")
	}
}

// TestUnaliased: what is the end of a vector, in its memory, is copied; what is elsewhere is not.
func TestUnaliased(t *testing.T) {
	dst := []float64{1, 2, 3, 4}
	for name, c := range map[string]struct {
		v      []float64
		copied bool
	}{"end": {dst[2:], true}, "all": {dst, true}, "begin": {dst[:2], false}, "middle": {dst[1:3], false},
		"elsewhere": {[]float64{3, 4}, false}, "longer": {make([]float64, 5), false}, "empty": {nil, false}} {
		var kept []float64
		got := unaliased(c.v, dst, &kept)
		if len(got) != len(c.v) || (len(kept) > 0) != c.copied || len(got) > 0 && (&got[0] != &c.v[0]) != c.copied {
			t.Errorf("%s: %v of %v, kept %v", name, got, c.v, kept)
		}
		for k, v := range got {
			if v != c.v[k] {
				t.Errorf("%s: %v, want %v", name, got, c.v)
			}
		}
	}
}
