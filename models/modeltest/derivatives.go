package modeltest

import (
	"errors"
	"fmt"
	"slices"

	"dsbo/ad"
	"dsbo/ad/adtest"
	"dsbo/internal/testkit"
	"dsbo/models"
)

// points is at how many points derivatives are measured.
func points(s *subject) int {
	if s.q > denseLimit {
		return 1
	}
	return 3
}

// derivatives measures both losses at a few points around the start.
func (s *subject) derivatives() error {
	for _, l := range s.sides() {
		d := s.differentiate(l, l.on, false)
		err := atPoints(s, func(x, y []float64) (adtest.Report, error) { return adtest.Measure(d, x, y) })
		if err != nil {
			return fmt.Errorf("%s: %w%s", l.name, err, stops(d))
		}
	}
	return nil
}

// stops returns a line for the log if a loss has ops without derivatives, else "".
func stops(d *ad.Derivs) string {
	for _, s := range testkit.Get(d.Listing(ad.LossOf)).Steps {
		if s.Op == "StopGradient" || s.Op == "Detached" {
			return "\nThe loss has " + s.Op + ": a model that means it is a models.Stopped"
		}
	}
	return ""
}

// float32 compares both losses in the two element types. Sums of a few thousand terms, each with
// float32's relative error of 6e-8, stay well within 1e-4.
func (s *subject) float32() error {
	for _, l := range s.sides() {
		wide, narrow := s.differentiate(l, l.on, false), s.differentiate(l, l.on, true)
		err := atPoints(s, func(x, y []float64) (adtest.Report, error) {
			return adtest.Differences(narrow, wide, x, y, 1e-4)
		})
		if err != nil {
			return fmt.Errorf("%s in float32: %w", l.name, err)
		}
	}
	return nil
}

// atPoints compares at as many points as [points] is, and returns the first error. A point where a
// comparison is inconclusive, because of a kink nearby, is replaced by another, up to two times;
// then that is the error.
func atPoints(s *subject, compare func(x, y []float64) (adtest.Report, error)) error {
	var vague error
	proved := 0
	for range points(s) + 2 {
		x, y, _ := s.point()
		r, err := compare(x, y)
		if err != nil {
			return err
		}
		switch err := r.Err(); {
		case err == nil:
			proved++
		case r.Vague():
			vague = fmt.Errorf("%w\n%v", err, r)
		default:
			return fmt.Errorf("%w\n%v", err, r)
		}
		if proved == points(s) {
			return nil
		}
	}
	return vague
}

// xMatters looks for a number that x has an effect on: without one there is nothing to tune.
func (s *subject) xMatters() error {
	o := s.oracle(models.Config{})
	dx, jv := make([]float64, s.p), make([]float64, s.p)
	zero := func(v []float64) bool { return !slices.ContainsFunc(v, func(e float64) bool { return e != 0 }) }
	for range 3 {
		x, y, v := s.point()
		if err := errors.Join(o.UpperGrad(dx, nil, x, y, whole), o.JVP(jv, x, y, v, whole)); err != nil {
			return err
		}
		if !zero(dx) || !zero(jv) {
			return nil
		}
	}
	return errors.New("x has no effect: ∇_x f and (∇²_xy g)v are 0 at 3 points")
}
