package algo_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"dsbo"
)

var whole = dsbo.Sample{Set: dsbo.Whole}

// exact is what is true at one x: Φ, its gradient, y*(x).
type exact struct {
	phi      float64
	gradient []float64
	y        []float64
}

// averaged sums what each oracle writes, over the number of oracles.
func averaged(t *testing.T, os []dsbo.ValueOracle, n int, ask func(o dsbo.ValueOracle, dst []float64) error) []float64 {
	t.Helper()
	sum, part := make([]float64, n), make([]float64, n)
	for _, o := range os {
		if err := ask(o, part); err != nil {
			t.Fatal(err)
		}
		axpy(sum, 1/float64(len(os)), part)
	}
	return sum
}

// lowerSolution solves the averaged lower problem by damped Newton steps with a dense Hessian, whose
// columns are Hessian-vector products, from y0 down to round-off.
func lowerSolution(t *testing.T, os []dsbo.ValueOracle, x, y0 []float64) []float64 {
	t.Helper()
	q := len(y0)
	y := append([]float64(nil), y0...)
	value := func(y []float64) float64 {
		return averaged(t, os, 1, func(o dsbo.ValueOracle, dst []float64) (err error) {
			_, dst[0], err = o.Values(x, y, whole)
			return err
		})[0]
	}
	gradient := func(y []float64) []float64 {
		return averaged(t, os, q, func(o dsbo.ValueOracle, dst []float64) error { return o.LowerGrad(dst, x, y, whole) })
	}
	scale, best := max(1, norm(gradient(make([]float64, q)))), math.Inf(1)
	for range 200 {
		g := gradient(y)
		r := norm(g)
		if r <= 1e-13*scale || r >= 0.5*best && r < 1e-9*scale { // done, or at the floor of round-off
			return y
		}
		best = min(best, r)
		d := solveHessian(t, os, x, y, g)
		step, trial := 1.0, func(s float64) []float64 { z := append([]float64(nil), y...); axpy(z, -s, d); return z }
		for v := value(y); r > 1e-6*scale && step > 1e-10 && value(trial(step)) > v-1e-4*step*dot(g, d); {
			step /= 2
		}
		y = trial(step)
	}
	t.Fatalf("the exact lower solution was not found in 200 Newton steps")
	return nil
}

// solveHessian returns H⁻¹ v for the averaged Hessian at (x, y).
func solveHessian(t *testing.T, os []dsbo.ValueOracle, x, y, v []float64) []float64 {
	t.Helper()
	q := len(y)
	h, e := mat.NewDense(q, q, nil), make([]float64, q)
	for j := range q {
		e[j] = 1
		h.SetCol(j, averaged(t, os, q, func(o dsbo.ValueOracle, dst []float64) error { return o.HVP(dst, x, y, e, whole) }))
		e[j] = 0
	}
	var z mat.VecDense
	if err := z.SolveVec(h, mat.NewVecDense(q, append([]float64(nil), v...))); err != nil {
		t.Fatalf("Hessian at x = %v: %v", x, err)
	}
	return z.RawVector().Data
}

// exactAt evaluates Φ and its gradient at x; y0 is where to start.
func exactAt(t *testing.T, os []dsbo.ValueOracle, x, y0 []float64) exact {
	t.Helper()
	p, q := len(x), len(y0)
	y := lowerSolution(t, os, x, y0)
	b := averaged(t, os, q, func(o dsbo.ValueOracle, dst []float64) error { return o.UpperGrad(nil, dst, x, y, whole) })
	z := solveHessian(t, os, x, y, b)
	g := averaged(t, os, p, func(o dsbo.ValueOracle, dst []float64) error { return o.UpperGrad(dst, nil, x, y, whole) })
	j := averaged(t, os, p, func(o dsbo.ValueOracle, dst []float64) error { return o.JVP(dst, x, y, z, whole) })
	axpy(g, -1, j)
	phi := averaged(t, os, 1, func(o dsbo.ValueOracle, dst []float64) (err error) {
		dst[0], _, err = o.Values(x, y, whole)
		return err
	})
	return exact{phi[0], g, y}
}

// An evaluator gives the exact values of a problem, or of its personalized variant, in which each
// agent has its own y; it starts each solve where the last one ended.
type evaluator struct {
	groups [][]dsbo.ValueOracle
	last   [][]float64
}

func newEvaluator(os []dsbo.ValueOracle, personalized bool) *evaluator {
	e := &evaluator{groups: [][]dsbo.ValueOracle{os}}
	if personalized {
		e.groups = nil
		for _, o := range os {
			e.groups = append(e.groups, []dsbo.ValueOracle{o})
		}
	}
	_, q := os[0].Dims()
	for range e.groups {
		e.last = append(e.last, make([]float64, q))
	}
	return e
}

func (e *evaluator) at(t *testing.T, x []float64) exact {
	t.Helper()
	sum := exact{gradient: make([]float64, len(x))}
	for i, g := range e.groups {
		r := exactAt(t, g, x, e.last[i])
		e.last[i] = r.y
		sum.phi += r.phi / float64(len(e.groups))
		axpy(sum.gradient, 1/float64(len(e.groups)), r.gradient)
		sum.y = r.y
	}
	return sum
}

// minimum returns x* of a problem whose Φ is quadratic: its Hessian is read off p+1 gradients.
func (e *evaluator) minimum(t *testing.T, p int) []float64 {
	t.Helper()
	x := make([]float64, p)
	g, h := e.at(t, x).gradient, mat.NewDense(p, p, nil)
	for j := range p {
		x[j] = 1
		col := e.at(t, x).gradient
		axpy(col, -1, g)
		h.SetCol(j, col)
		x[j] = 0
	}
	var s mat.VecDense
	if err := s.SolveVec(h, mat.NewVecDense(p, g)); err != nil {
		t.Fatal(err)
	}
	for j := range x {
		x[j] = -s.AtVec(j)
	}
	return x
}

func norm(v []float64) float64 { return math.Sqrt(dot(v, v)) }
