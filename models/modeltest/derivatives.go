package modeltest

import (
	"errors"
	"fmt"
	"math"

	"dsbo/internal/vec"
)

// derivatives checks both losses by differences at points near the start and away from it.
func (s *subject) derivatives() error {
	low, up, err := s.losses(false)
	if err != nil {
		return err
	}
	for range 3 {
		x, y, _ := s.point()
		if err := s.differences(low, x, y); err != nil {
			return fmt.Errorf("lower loss: %w", err)
		}
		if err := s.differences(up, x, y); err != nil {
			return fmt.Errorf("upper loss: %w", err)
		}
	}
	return nil
}

// differences holds the derivatives of e against central differences, along x and along y.
func (s *subject) differences(e evaluator, x, y []float64) error {
	if err := s.along(e, x, y, s.unit(s.p), make([]float64, s.q)); err != nil {
		return fmt.Errorf("along x: %w", err)
	}
	if err := s.along(e, x, y, make([]float64, s.p), s.unit(s.q)); err != nil {
		return fmt.Errorf("along y: %w", err)
	}
	return nil
}

// along checks one direction of length 1. Central differences err by h²/6 times a third derivative
// along the direction and by ε/h times what is differenced.
func (s *subject) along(e evaluator, x, y, dx, dy []float64) error {
	const h, eps = 1e-5, 1e-16
	v := s.unit(s.q)
	at := func(step float64) (f float64, out [][]float64, err error) {
		xs, ys := make([]float64, s.p), make([]float64, s.q)
		vec.Comb(xs, 1, x, step, dx)
		vec.Comb(ys, 1, y, step, dy)
		out, err = all(e, s.p, xs, ys, v)
		return out[0][0], out, err
	}
	f0, mid, err0 := at(0)
	up, hi, err1 := at(h)
	down, lo, err2 := at(-h)
	if err := errors.Join(err0, err1, err2); err != nil {
		return err
	}
	near := func(what string, got, want, size float64) error {
		tol := 1e-6*max(math.Abs(want), math.Abs(got)) + 1e-8*vec.Norm(mid[2]) + 100*eps/h*size
		if math.Abs(got-want) <= tol {
			return nil
		}
		return fmt.Errorf("%s is %.10g, by differences %.10g", what, got, want)
	}
	// d/dt ⟨∇_y, v⟩ along (dx, dy) = dy'(∇²_yy)v + dx'(∇²_xy)v.
	slope := vec.Dot(mid[1], dx) + vec.Dot(mid[2], dy)
	bend := vec.Dot(mid[3], dy) + vec.Dot(mid[4], dx)
	return errors.Join(
		near("the gradient along a direction", slope, (up-down)/(2*h), math.Abs(f0)),
		near("the second derivative along two directions", bend, (vec.Dot(hi[2], v)-vec.Dot(lo[2], v))/(2*h), vec.Norm(mid[2])))
}

func (s *subject) unit(n int) []float64 {
	v := s.normal(n, 1)
	vec.Scale(v, 1/vec.Norm(v), v)
	return v
}
