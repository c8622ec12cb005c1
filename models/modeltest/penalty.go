package modeltest

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"dsbo"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
	"dsbo/models"
)

// penalty checks that P(x) is finite, not negative and written in full; that it is at most the
// Hessian's diagonal if the model claims to be convex; and that it equals the diagonal's dependence
// on x if x enters the lower loss through a penalty alone.
func (s *subject) penalty(m models.Penalized) error {
	o := s.oracle(models.Config{})
	x, y, v := s.point()
	p, ask := slices.Repeat([]float64{math.NaN()}, s.q), o.Capabilities().Penalty
	testkit.OK(ask(p, x))
	for j, v := range p {
		if !(v >= 0) || math.IsInf(v, 0) {
			return fmt.Errorf("the penalty must be finite and not negative; entry %d is %g", j, v)
		}
	}
	if err := ask(p[1:], x); !errors.Is(err, dsbo.ErrShape) {
		return fmt.Errorf("the error about a short penalty must match ErrShape; it is %v", err)
	}
	if err := penaltyOfX(s, m, x, y, v); err != nil {
		return err
	}
	if _, ok := s.m.(models.StronglyConvex); !ok {
		return nil
	}
	for _, j := range entries(s) {
		if h := column(s, o, x, y, j, whole)[j]; h < p[j]*(1-1e-9) {
			return fmt.Errorf("entry %d of the penalty is %g, more than the Hessian's %g", j, p[j], h)
		}
	}
	return nil
}

// penaltyOfX compares u·(∇²_xy g)v with Σ_j (∇P_j·u) y_j v_j, which it is if x enters g by the
// penalty ½ Σ_j P_j(x) y_j² alone.
//
// Then, whatever P is said to be, it is the same on the two halves of the examples, and twice as
// large at 2y. If it is not, x does something else too, and nothing can be said.
func penaltyOfX(s *subject, m models.Penalized, x, y, v []float64) error {
	half := s.s.Train.Len() / 2
	if half == 0 {
		return nil
	}
	lower, u := s.sides()[0], s.normal(s.p, 1)
	jv := make([]float64, s.p)
	mixed := func(first int, y []float64) float64 {
		testkit.OK(s.differentiate(lower, firstRows(lower.on, first, half), false).JVP(jv, x, y, v))
		return linalg.Dot(u, jv)
	}
	double := make([]float64, s.q)
	linalg.Scale(double, 2, y)
	here, there, twice := mixed(0, y), mixed(half, y), mixed(0, double)
	size, claim := 0., 0.
	for j, slope := range penaltySlope(s, m, x, u) {
		claim += slope * y[j] * v[j]
		size += math.Abs(slope * y[j] * v[j])
	}
	size = max(size, math.Abs(here))
	alone := math.Abs(here-there) <= 1e-9*size && math.Abs(twice-2*here) <= 1e-9*size
	if alone && !(math.Abs(claim-here) <= 1e-6*size) {
		return fmt.Errorf(
			"the penalty's part of u·(∇²_xy g)v is %g; the lower loss, which x enters by a penalty alone, has %g",
			claim, here)
	}
	return nil
}

// penaltySlope returns the derivative of P(x) along u by differences of fourth order, whose error
// is some 1e-12 for exponentials of x.
func penaltySlope(s *subject, m models.Penalized, x, u []float64) []float64 {
	const h = 1e-3
	slope, p, at := make([]float64, s.q), make([]float64, s.q), make([]float64, s.p)
	for _, term := range []struct{ step, weight float64 }{{h, 8}, {-h, -8}, {2 * h, -1}, {-2 * h, 1}} {
		linalg.Comb(at, 1, x, term.step, u)
		m.Penalty(p, at)
		linalg.Axpy(slope, term.weight/(12*h), p)
	}
	return slope
}
