package modeltest

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"dsbo"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
	"dsbo/models"
)

// convexity compares the curvature of the lower loss with the modulus that the model claims: by the
// smallest eigenvalue where q is small, else by an upper bound on it.
func (s *subject) convexity(c models.StronglyConvex) error {
	o := s.oracle(models.Config{Batch: s.batch()})
	for k := range points(s) {
		x, y, _ := s.point()
		mu := c.Modulus(x)
		if !(mu > 0) {
			return fmt.Errorf("the modulus that the model claims must be positive; it is %g", mu)
		}
		least, largest := curvatures(s, o, x, y, dsbo.Sample{Set: dsbo.Curvature, K: k})
		// the eigenvalues' own error is some units in the last place of the largest
		if !(least >= mu*(1-1e-6)-1e-12*largest) {
			return fmt.Errorf("the lower loss has curvature %g, the model claims at least %g", least, mu)
		}
	}
	return nil
}

// curvatures returns the extreme eigenvalues of the lower loss's Hessian; where q is large, numbers
// between these, by Lanczos.
func curvatures(s *subject, o *models.Oracle, x, y []float64, name dsbo.Sample) (least, largest float64) {
	if s.q <= denseLimit {
		values := eigen(s, o, x, y, name, false).Values(nil)
		return values[0], values[len(values)-1]
	}
	product := func(dst, v []float64) error { return o.HVP(dst, x, y, v, name) }
	return testkit.Get(linalg.Least(s.q, product)), testkit.Get(linalg.Largest(s.q, product))
}

// eigen returns the eigenvalues of the lower loss's Hessian, with or without its eigenvectors.
func eigen(s *subject, o *models.Oracle, x, y []float64, name dsbo.Sample, vectors bool) *mat.EigenSym {
	h, e := make([]float64, s.q*s.q), new(mat.EigenSym)
	testkit.OK(o.Hessian(h, x, y, name))
	if !e.Factorize(mat.NewSymDense(s.q, h), vectors) {
		testkit.OK(errors.New("the Hessian's eigenvalues could not be found: is it finite?"))
	}
	return e
}

// column returns one of the Hessian's columns.
func column(s *subject, o *models.Oracle, x, y []float64, j int, name dsbo.Sample) []float64 {
	e, h := make([]float64, s.q), make([]float64, s.q)
	e[j] = 1
	testkit.OK(o.HVP(h, x, y, e, name))
	return h
}

// entries returns the entries of y to check one by one: all if there are few, else both ends and
// evenly spaced ones between.
func entries(s *subject) []int {
	count := min(s.q, 16)
	if s.q <= denseLimit {
		count = s.q
	}
	list := make([]int, count)
	for k := range list {
		list[k] = k * (s.q - 1) / max(count-1, 1)
	}
	return list
}

// diagonal compares the diagonal with the Hessian's. One that is the same whatever the seed is
// exact, up to the rounding of sums; an estimate is off by at most 6 of its standard deviations,
// and not looked at where q is large.
func (s *subject) diagonal() error {
	if _, ok := s.m.(models.Curved); !ok && s.q > denseLimit {
		return nil
	}
	x, y, _ := s.point()
	o, other := s.oracle(models.Config{Batch: s.batch(), Seed: 1}), s.oracle(models.Config{Seed: 2})
	d, again := make([]float64, s.q), make([]float64, s.q)
	testkit.OK(errors.Join(o.Diagonal(d, x, y, whole), other.Diagonal(again, x, y, whole)))
	exact := slices.Equal(d, again)
	if !exact && s.q > denseLimit {
		return nil
	}
	for _, name := range []dsbo.Sample{whole, {Set: dsbo.Curvature, K: 3}} {
		testkit.OK(o.Diagonal(d, x, y, name))
		size := 0.0
		for _, v := range d {
			size = max(size, math.Abs(v))
		}
		for _, j := range entries(s) {
			h := column(s, o, x, y, j, name)
			tolerance := 1e-10 * max(size, math.Abs(h[j]))
			if !exact { // its deviation, by the row's other entries and 8 vectors of signs
				tolerance += 6 * math.Sqrt((linalg.Dot(h, h)-h[j]*h[j])/8)
			}
			if !(math.Abs(d[j]-h[j]) <= tolerance) {
				return fmt.Errorf("sample %v: entry %d of the diagonal is %g, that of the Hessian %g; exact is %v",
					name, j, d[j], h[j], exact)
			}
		}
	}
	return nil
}
