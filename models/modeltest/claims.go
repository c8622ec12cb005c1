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
	_, y, _ := s.point()
	x := make([]float64, s.p)
	for _, e := range []data.Examples{s.s.Train, s.s.Val} {
		out := []float64{math.NaN(), 0}
		must.OK(must.Get(models.NewScore(s.m, e, false)).Eval(out, x, y))
		if loss := out[0]; math.IsNaN(loss) || math.IsInf(loss, 0) {
			return fmt.Errorf("the score's loss is %g", loss)
		}
		if hits := out[1] * float64(e.Len()); hits < 0 || out[1] > 1 || math.Abs(hits-math.Round(hits)) > 1e-9*hits {
			return fmt.Errorf("accuracy must be a share of %d examples; it is %g", e.Len(), out[1])
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

// start holds Start to its word.
func (s *subject) start() error {
	st, ok := s.m.(models.Starter)
	if !ok {
		return nil
	}
	a, b := make([]float64, s.q), s.normal(s.q, 1)
	st.Start(a)
	st.Start(b)
	if !vec.AllFinite(a) {
		return errors.New("the start is not finite")
	}
	if !slices.Equal(a, b) {
		return errors.New("two starts differ: a start is the same for all agents and overwrites what was there")
	}
	return nil
}
