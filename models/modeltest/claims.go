package modeltest

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"dsbo"
	"dsbo/data"
	"dsbo/internal/vec"
	"dsbo/models"
)

// float32 compares every derivative of both losses in the two element types.
func (s *subject) float32() error {
	low64, up64, err := s.losses(false)
	if err != nil {
		return err
	}
	low32, up32, err := s.losses(true)
	if err != nil {
		return err
	}
	x, y, v := s.point()
	round(x, y, v) // both see the same numbers
	// Sums of a few thousand terms of float32's 6e-8 relative error stay well within 1e-4.
	const tolerance = 1e-4
	for _, loss := range []struct {
		name   string
		lo, hi evaluator
	}{{"lower", low32, low64}, {"upper", up32, up64}} {
		a, err := all(loss.lo, s.p, x, y, v)
		if err != nil {
			return err
		}
		b, err := all(loss.hi, s.p, x, y, v)
		if err != nil {
			return err
		}
		for i, what := range []string{"value", "∇_x", "∇_y", "(∇²_yy)v", "(∇²_xy)v"} {
			if d := distance(a[i], b[i]); !(d <= tolerance) {
				return fmt.Errorf("%s of the %s loss in float32 is off by %.1e, want %.0e", what, loss.name, d, tolerance)
			}
		}
	}
	return nil
}

// round rounds vectors to float32.
func round(vs ...[]float64) {
	for _, v := range vs {
		for j := range v {
			v[j] = float64(float32(v[j]))
		}
	}
}

// An evaluator is a loss with its derivatives.
type evaluator interface {
	Value(x, y []float64) (float64, error)
	Grad(dx, dy, x, y []float64) error
	HVP(dst, x, y, v []float64) error
	JVP(dst, x, y, v []float64) error
}

func all(e evaluator, p int, x, y, v []float64) ([][]float64, error) {
	out := [][]float64{make([]float64, 1), make([]float64, p), make([]float64, len(y)), make([]float64, len(y)), make([]float64, p)}
	var err error
	out[0][0], err = e.Value(x, y)
	return out, errors.Join(err, e.Grad(out[1], out[2], x, y), e.HVP(out[3], x, y, v), e.JVP(out[4], x, y, v))
}

// convexity holds the lower loss against the modulus that the model claims: by the smallest eigenvalue
// where q is small, else along random directions.
func (s *subject) convexity() error {
	c, ok := s.m.(models.StronglyConvex)
	if !ok {
		return nil
	}
	o, err := s.oracle(models.Config{Batch: s.batch()})
	if err != nil {
		return err
	}
	for k := range 5 {
		x, y, v := s.point()
		mu := c.Modulus(x)
		if !(mu > 0) {
			return fmt.Errorf("the model claims a modulus of %g: want a positive one", mu)
		}
		name := dsbo.Sample{Set: dsbo.Curvature, K: k}
		least, err := s.curvature(o, x, y, v, name)
		if err != nil {
			return err
		}
		if least < mu*(1-1e-6) {
			return fmt.Errorf("the lower loss has curvature %g, the model claims at least %g", least, mu)
		}
	}
	return nil
}

// curvature returns the smallest curvature found.
func (s *subject) curvature(o *models.Oracle, x, y, v []float64, name dsbo.Sample) (float64, error) {
	if s.q > denseLimit {
		hv := make([]float64, s.q)
		err := o.HVP(hv, x, y, v, name)
		return vec.Dot(v, hv) / vec.Dot(v, v), err
	}
	h := make([]float64, s.q*s.q)
	if err := o.Hessian(h, x, y, name); err != nil {
		return 0, err
	}
	var e mat.EigenSym
	if !e.Factorize(mat.NewSymDense(s.q, h), false) {
		return 0, errors.New("the Hessian's eigenvalues could not be found: is it finite?")
	}
	return e.Values(nil)[0], nil
}

// score compiles the model's score on both sets.
func (s *subject) score() error {
	if _, ok := s.m.(models.Scorer); !ok {
		return nil
	}
	_, y, _ := s.point()
	x := make([]float64, s.p)
	for _, e := range []data.Examples{s.s.Train, s.s.Val} {
		prog, err := models.NewScore(s.m, e, false)
		if err != nil {
			return err
		}
		out := []float64{math.NaN(), 0}
		if err := prog.Eval(out, x, y); err != nil {
			return err
		}
		if loss := out[0]; math.IsNaN(loss) || math.IsInf(loss, 0) {
			return fmt.Errorf("the score's loss is %g", loss)
		}
		if hits := out[1] * float64(e.Len()); hits < 0 || out[1] > 1 || math.Abs(hits-math.Round(hits)) > 1e-9*hits {
			return fmt.Errorf("accuracy is %g on %d examples: want a share of them", out[1], e.Len())
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
	if distance(a, b) != 0 {
		return errors.New("two starts differ: a start is the same for all agents and overwrites what was there")
	}
	return nil
}
