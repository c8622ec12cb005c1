package modeltest

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"dsbo"
	"dsbo/ad/adtest"
	"dsbo/data"
	"dsbo/internal/must"
	"dsbo/internal/vec"
	"dsbo/models"
)

// derivatives measures both losses at a few points around the start.
func (s *subject) derivatives() error {
	losses := s.losses(false)
	for range 3 {
		x, y, _ := s.point()
		for _, l := range losses {
			if err := reportErr(adtest.Measure(l, x, y)); err != nil {
				return fmt.Errorf("%s: %w", l.name, err)
			}
		}
	}
	return nil
}

// float32 compares both losses in the two element types. Sums of a few thousand terms, each with float32's
// relative error of 6e-8, stay well within 1e-4.
func (s *subject) float32() error {
	wide, narrow := s.losses(false), s.losses(true)
	x, y, _ := s.point()
	for i, l := range wide {
		if err := reportErr(adtest.Differences(narrow[i], l, x, y, 1e-4)); err != nil {
			return fmt.Errorf("%s in float32: %w", l.name, err)
		}
	}
	return nil
}

// reportErr returns a report's error, with its table.
func reportErr(r adtest.Report, err error) error {
	if err == nil {
		err = r.Err()
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w\n%v", err, r)
}

// convexity compares the curvature of the lower loss with the modulus that the model claims: by the smallest eigenvalue
// where q is small, else along random directions.
func (s *subject) convexity() error {
	c, ok := s.m.(models.StronglyConvex)
	if !ok {
		return nil
	}
	o := s.oracle(models.Config{Batch: s.batch()})
	for k := range 5 {
		x, y, v := s.point()
		mu := c.Modulus(x)
		if !(mu > 0) {
			return fmt.Errorf("the modulus that the model claims must be positive; it is %g", mu)
		}
		name := dsbo.Sample{Set: dsbo.Curvature, K: k}
		if least := s.curvature(o, x, y, v, name); least < mu*(1-1e-6) {
			return fmt.Errorf("the lower loss has curvature %g, the model claims at least %g", least, mu)
		}
	}
	return nil
}

// curvature returns the smallest curvature found.
func (s *subject) curvature(o *models.Oracle, x, y, v []float64, name dsbo.Sample) float64 {
	if s.q > denseLimit {
		hv := make([]float64, s.q)
		must.OK(o.HVP(hv, x, y, v, name))
		return vec.Dot(v, hv) / vec.Dot(v, v)
	}
	h := make([]float64, s.q*s.q)
	must.OK(o.Hessian(h, x, y, name))
	var e mat.EigenSym
	if !e.Factorize(mat.NewSymDense(s.q, h), false) {
		must.OK(errors.New("the Hessian's eigenvalues could not be found: is it finite?"))
	}
	return e.Values(nil)[0]
}

// score compiles the model's score on both sets.
func (s *subject) score() error {
	if _, ok := s.m.(models.Scorer); !ok {
		return nil
	}
	x, y, _ := s.point()
	for _, e := range []data.Examples{s.s.Train, s.s.Val} {
		losses, hits := must.Get2(must.Get(models.NewScore(s.m, e, false)).Examples(x, y))
		for i, l := range losses {
			if math.IsNaN(l) || math.IsInf(l, 0) {
				return fmt.Errorf("the score's loss of example %d is %g", i, l)
			}
		}
		for i, h := range hits {
			if !(h >= 0 && h <= 1) {
				return fmt.Errorf("the score's hits must be from 0 to 1; that of example %d is %g", i, h)
			}
		}
		// One example alone has the same score: losses are of examples, not of batches.
		for _, i := range []int{0, e.Len() - 1} {
			alone, _ := must.Get2(must.Get(models.NewScore(s.m, pickRows(e, []int{i}), false)).Examples(x, y))
			if math.Abs(alone[0]-losses[i]) > 1e-12*max(1, math.Abs(losses[i])) {
				return fmt.Errorf("the score's loss of example %d is %g, and %g where it is the only one", i, losses[i], alone[0])
			}
		}
	}
	return nil
}

// penalty holds P(x) to its word: finite, not negative, all of it written, and, where the model claims to be convex, no more than
// the diagonal of the Hessian.
func (s *subject) penalty() error {
	o := s.oracle(models.Config{})
	x, y, _ := s.point()
	p := slices.Repeat([]float64{math.NaN()}, s.q)
	err := o.Penalty(p, x)
	if _, ok := s.m.(models.Penalized); !ok {
		if !errors.Is(err, dsbo.ErrCapability) {
			return fmt.Errorf("the error about a model without penalty must match ErrCapability; it is %v", err)
		}
		return nil
	}
	must.OK(err)
	for j, v := range p {
		if !(v >= 0) || math.IsInf(v, 0) {
			return fmt.Errorf("the penalty must be finite and not negative; entry %d is %g", j, v)
		}
	}
	if err := o.Penalty(p[1:], x); !errors.Is(err, dsbo.ErrShape) {
		return fmt.Errorf("the error about a short penalty must match ErrShape; it is %v", err)
	}
	if _, ok := s.m.(models.StronglyConvex); !ok || s.q > denseLimit {
		return nil
	}
	for j, h := range s.hessian(o, x, y, dsbo.Sample{Set: dsbo.Whole}) {
		if h[j] < p[j]*(1-1e-9) {
			return fmt.Errorf("entry %d of the penalty is %g, more than the Hessian's %g", j, p[j], h[j])
		}
	}
	return nil
}

// hessian returns the rows of the lower loss's Hessian.
func (s *subject) hessian(o *models.Oracle, x, y []float64, name dsbo.Sample) [][]float64 {
	h := make([]float64, s.q*s.q)
	must.OK(o.Hessian(h, x, y, name))
	return slices.Collect(slices.Chunk(h, s.q))
}

// diagonal compares the diagonal with that of the whole Hessian. One that is the same whatever the seed is exact, up to the
// rounding of sums; an estimate is off by at most 6 of its standard deviations.
func (s *subject) diagonal() error {
	if s.q > denseLimit {
		return nil
	}
	x, y, _ := s.point()
	o, other := s.oracle(models.Config{Batch: s.batch(), Seed: 1}), s.oracle(models.Config{Seed: 2})
	d, again := make([]float64, s.q), make([]float64, s.q)
	whole := dsbo.Sample{Set: dsbo.Whole}
	must.OK(errors.Join(o.Diagonal(d, x, y, whole), other.Diagonal(again, x, y, whole)))
	exact := slices.Equal(d, again)
	for _, name := range []dsbo.Sample{whole, {Set: dsbo.Curvature, K: 3}} {
		must.OK(o.Diagonal(d, x, y, name))
		h := s.hessian(o, x, y, name)
		size := 0.0
		for j := range h {
			size = max(size, math.Abs(h[j][j]))
		}
		for j, row := range h {
			tolerance := 1e-10 * size
			if !exact {
				tolerance += 6 * math.Sqrt((vec.Dot(row, row)-row[j]*row[j])/8)
			}
			if !(math.Abs(d[j]-row[j]) <= tolerance) {
				return fmt.Errorf("sample %v: entry %d of the diagonal is %g, that of the Hessian %g; exact is %v", name, j, d[j], row[j], exact)
			}
		}
	}
	return nil
}

// shape compares the size of y as a matrix with q.
func (s *subject) shape() error {
	if m, ok := s.m.(models.Shaper); ok {
		if rows, cols := m.Shape(); rows < 1 || cols < 1 || rows*cols != s.q {
			return fmt.Errorf("the shape of y must have q = %d entries; it is %d×%d", s.q, rows, cols)
		}
	}
	return nil
}

// start holds Start and StartX to their word.
func (s *subject) start() error {
	if st, ok := s.m.(models.XStarter); ok {
		if err := s.startOf(s.p, st.StartX); err != nil {
			return fmt.Errorf("x: %w", err)
		}
	}
	if st, ok := s.m.(models.Starter); ok {
		return s.startOf(s.q, st.Start)
	}
	return nil
}

// startOf holds a start of n numbers to its word.
func (s *subject) startOf(n int, start func([]float64)) error {
	a, b := make([]float64, n), s.normal(n, 1)
	start(a)
	start(b)
	if !vec.AllFinite(a) {
		return errors.New("the start is not finite")
	}
	if !slices.Equal(a, b) {
		return errors.New("two starts differ: a start is the same for all agents and overwrites what was there")
	}
	return nil
}
