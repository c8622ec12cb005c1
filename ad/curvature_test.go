package ad

import (
	"errors"
	"math"
	"slices"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
)

// reflected is the Hessian of Σ λ_i (u_i'y)²/2 with columns u_i of I − 2ww'/w'w.
func reflected(t *testing.T, eigenvalues []float64) Curvature {
	q := len(eigenvalues)
	d := testkit.Get(Differentiate(Loss{Q: q, Build: func(_, y *Node, _ []*Node) *Node {
		w := make([]float64, q)
		for i := range w {
			w[i] = math.Sqrt(2/float64(q)) * math.Sqrt2 * math.Sin(float64(i+1))
		}
		norm := 0.
		for _, v := range w {
			norm += v * v
		}
		n := NewConst(y, "w", q, 0, w)
		u := Sub(y, ScaleBy(Scale(2/norm, Dot(n, y)), n))
		return Scale(.5, Dot(NewConst(y, "eigenvalues", q, 0, eigenvalues), Square(u)))
	}}))
	y := make([]float64, q)
	return Curvature{Q: q, Seed: 3, Product: func(dst, v []float64) error { return d.HVP(dst, nil, y, v) },
		Products: func(dst, vs []float64) error { return d.HVPs(dst, nil, y, vs) }}
}

// TestCurvature: eigenvalues, a trace and a diagonal of matrices whose own are known.
func TestCurvature(t *testing.T) {
	eigenvalues := []float64{-2, .5, 1, 3, 10, 40}
	c := reflected(t, eigenvalues)
	s := testkit.Get(c.Spectrum(1, 6))
	within(t, "all eigenvalues", s.Values, eigenvalues, 1e-12)
	total, first := 0., 0.
	for i, w := range testkit.Get(c.Spectrum(8, 4)).Weights {
		total += w
		first += w * testkit.Get(c.Spectrum(8, 4)).Values[i]
	}
	within(t, "weights", []float64{total}, []float64{1}, 1e-12)
	exact := 0. // the mean of v'Hv/v'v, which Lanczos's first moment is
	r := c.random()
	w := make([]float64, 6)
	for range 8 {
		v := c.signs(r, 1)[0]
		testkit.OK(c.Product(w, v))
		for i := range v {
			exact += v[i] * w[i] / 48
		}
	}
	within(t, "the first moment", []float64{first}, []float64{exact}, 1e-12)

	one := c
	one.Products = nil
	s2 := testkit.Get(one.Spectrum(3, 4))
	within(t, "a spectrum by single products", s2.Values, testkit.Get(c.Spectrum(3, 4)).Values, 0)

	trace, deviation, err := c.Trace(18)
	testkit.OK(err)
	within(t, "a trace by as many products as rows", []float64{trace}, []float64{52.5}, 1e-12)
	if deviation != 0 {
		t.Errorf("its deviation is %v; it must be 0", deviation)
	}
	long := make([]float64, 200)
	want := 0.
	for i := range long {
		long[i] = 100 / float64((i+1)*(i+1))
		want += long[i]
	}
	large := reflected(t, long)
	trace, deviation, err = large.Trace(30)
	testkit.OK(err)
	// The rest beyond the 10 largest has a sum of squares below 10⁴ Σ_{i>10} i⁻⁴ ≈ 4: signs err by
	// √(2·4/10), and the basis is not the best one.
	if math.Abs(trace-want) > 5*max(deviation, .9) || deviation > 5 {
		t.Errorf("a trace is %v ± %v; it must be %v", trace, deviation, want)
	}
	again, _, _ := large.Trace(30)
	if again != trace {
		t.Errorf("the same seed has traces %v and %v", trace, again)
	}

	diagonal := Curvature{Q: 3, Product: func(dst, v []float64) error {
		for i := range v {
			dst[i] = float64(i+1) * v[i]
		}
		return nil
	}}
	got := make([]float64, 3)
	testkit.OK(diagonal.Diagonal(got, 1))
	if !slices.Equal(got, []float64{1, 2, 3}) {
		t.Errorf("the diagonal of a diagonal matrix is %v", got)
	}
	mean := make([]float64, 6)
	testkit.OK(c.Diagonal(mean, 4000))
	whole := make([]float64, 6)
	for i := range whole {
		v := make([]float64, 6)
		v[i] = 1
		testkit.OK(c.Product(w, v))
		whole[i] = w[i]
	}
	within(t, "a diagonal", mean, whole, 5*40/math.Sqrt(4000)/40) // rows are at most 40 long

	broken := errors.New("broken")
	c.Products = func(_, _ []float64) error { return broken }
	_, err1 := c.Spectrum(1, 2)
	_, _, err2 := c.Trace(6)
	for _, err := range []error{err1, err2, c.Diagonal(mean, 1)} {
		if !errors.Is(err, broken) {
			t.Errorf("an error of a product: %v", err)
		}
	}
	_, _, err = c.Trace(5)
	wantError(t, err, dsbo.ErrConfig,
		"products must be at least 6, of a matrix with at least 1 row; they are 5, of 6 rows")
}
