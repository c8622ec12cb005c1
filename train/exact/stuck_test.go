package exact_test

import (
	"math"
	"testing"

	"dsbo"
	"dsbo/algo/algotest"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
	"dsbo/train"
	"dsbo/train/exact"
)

// A rooted oracle has the lower loss Σ_j |y_j|^1.5 − y_j, whose gradient is −1 and whose curvature
// is infinite at y = 0; with a kink, ‖y‖ − Σ_j y_j/2, which has no gradient there.
type rooted struct {
	*algotest.Quadratic
	kink bool
}

func (o rooted) Values(_, y []float64, _ dsbo.Sample) (upper, lower float64, err error) {
	norm := 0.0
	for _, v := range y {
		norm += v * v
		lower += math.Pow(math.Abs(v), 1.5) - v
		if o.kink {
			lower -= math.Pow(math.Abs(v), 1.5) - v/2
		}
	}
	if o.kink {
		lower += math.Sqrt(norm)
	}
	return 1, 1 + lower, nil
}

func (o rooted) LowerGrad(dst, _, y []float64, _ dsbo.Sample) error {
	norm := 0.0
	for _, v := range y {
		norm += v * v
	}
	for j, v := range y {
		dst[j] = 1.5*math.Copysign(math.Sqrt(math.Abs(v)), v) - 1
		if o.kink {
			dst[j] = v/math.Sqrt(norm) - .5
		}
	}
	return nil
}

func (o rooted) HVP(dst, _, y, v []float64, _ dsbo.Sample) error {
	for j := range dst {
		dst[j] = .75 * v[j] / math.Sqrt(math.Abs(y[j]))
		if o.kink {
			dst[j] = math.NaN() // never right
		}
	}
	return nil
}

// TestNotSolved: a lower problem whose gradient is not near 0 is not solved, convex or not, where
// products or gradients are not finite at the start.
func TestNotSolved(t *testing.T) {
	for _, kink := range []bool{false, true} {
		for _, nonconvex := range []bool{false, true} {
			const p, q = 2, 3
			var prob train.Problem
			for _, o := range algotest.NewQuadratics(2, p, q, 1) {
				prob.Oracles = append(prob.Oracles, rooted{o, kink})
				prob.Evaluate = append(prob.Evaluate, rooted{o, kink})
			}
			prob.Nonconvex = nonconvex
			for name, solve := range map[string]func(s *exact.Solver) (exact.Solution, error){
				"Model": func(s *exact.Solver) (exact.Solution, error) {
					return s.Model(t.Context(), make([]float64, p), make([]float64, q))
				},
				"Lower": func(s *exact.Solver) (exact.Solution, error) {
					return s.Lower(t.Context(), make([]float64, p), make([]float64, q), 1e-6)
				},
				"Solve": func(s *exact.Solver) (exact.Solution, error) {
					return s.Solve(t.Context(), make([]float64, p))
				},
			} {
				g, sol := make([]float64, q), testkit.Get(solve(prob.Solver()))
				testkit.OK(prob.Oracles[0].LowerGrad(g, nil, sol.Y, dsbo.Sample{}))
				if norm := linalg.Norm(g); sol.Converged && !(norm < 0.02) || !kink && !(norm < 0.02) {
					t.Errorf("%s, kink %v, nonconvex %v: y = %v with the gradient %v: converged %v", name, kink,
						nonconvex, sol.Y, g, sol.Converged)
				}
			}
		}
	}
}
