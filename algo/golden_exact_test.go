package algo_test

import (
	"math"
	"testing"

	"dsbo"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
	"dsbo/train/exact"
)

var whole = dsbo.Sample{Set: dsbo.Whole}

// values are what is true at one x: Φ, its gradient, y*(x).
type values struct {
	phi      float64
	gradient []float64
	y        []float64
}

// An evaluator gives the exact values of a problem, or of its personalized variant, in which each
// agent has its own y.
type evaluator []*exact.Solver

func newEvaluator(os []dsbo.ValueOracle, personalized bool) evaluator {
	const tol = 1e-12
	if !personalized {
		return evaluator{{Oracles: os, Tol: tol, AdjointTol: tol}}
	}
	var e evaluator
	for i := range os {
		e = append(e, &exact.Solver{Oracles: os[i : i+1], Tol: tol, AdjointTol: tol})
	}
	return e
}

func (e evaluator) at(t *testing.T, x []float64) values {
	t.Helper()
	sum := values{gradient: make([]float64, len(x))}
	for _, group := range e {
		s := testkit.Get(group.Solve(t.Context(), x))
		sum.phi += s.Phi / float64(len(e))
		axpy(sum.gradient, 1/float64(len(e)), s.Gradient)
		sum.y = s.Y
	}
	return sum
}

// dot and axpy are short names for the tests' own sums.
var dot, axpy = linalg.Dot[float64], linalg.Axpy[float64]

func norm(v []float64) float64 { return math.Sqrt(dot(v, v)) }
