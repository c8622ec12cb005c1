package exact_test

import (
	"math"
	"slices"
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

func (o rooted) Capabilities() *dsbo.OracleCapabilities {
	of := *o.Quadratic.Capabilities()
	of.Of, of.Values = o, o.Values
	return &of
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

// holed has no finite losses and derivatives at y = 0, as some have where weights are 0.
type holed struct{ dsbo.ValueOracle }

func (o holed) Capabilities() *dsbo.OracleCapabilities {
	of := *o.ValueOracle.Capabilities()
	of.Of, of.Values = o, o.Values
	return &of
}

func (o holed) Values(x, y []float64, s dsbo.Sample) (upper, lower float64, err error) {
	if linalg.Norm(y) == 0 {
		return math.NaN(), math.NaN(), nil
	}
	return o.ValueOracle.Values(x, y, s)
}

func (o holed) LowerGrad(dst, x, y []float64, s dsbo.Sample) error {
	err := o.ValueOracle.LowerGrad(dst, x, y, s)
	if linalg.Norm(y) == 0 {
		linalg.Fill(dst, math.NaN())
	}
	return err
}

// TestStartThatIsNotFinite: solves that begin where losses are finite come to the solution, though
// where the solver would start they are not, and so do the next ones.
func TestStartThatIsNotFinite(t *testing.T) {
	oracles, qs := quadratics(3)
	for i, o := range oracles {
		oracles[i] = holed{o}
	}
	x, start, none := []float64{1, -1, 2}, slices.Repeat([]float64{1}, q), make([]float64, q)
	want := algotest.Solve(qs).LowerSolution(x)
	for name, solve := range map[string]func(s *exact.Solver, y []float64) (exact.Solution, error){
		"Model": func(s *exact.Solver, y []float64) (exact.Solution, error) {
			return s.Model(t.Context(), x, y)
		},
		"Descend": func(s *exact.Solver, y []float64) (exact.Solution, error) {
			return s.Descend(t.Context(), x, y)
		},
		"Lower": func(s *exact.Solver, y []float64) (exact.Solution, error) {
			return s.Lower(t.Context(), x, y, 1e-9)
		},
		"SolveNear": func(s *exact.Solver, y []float64) (exact.Solution, error) {
			return s.SolveNear(t.Context(), x, y, nil)
		},
	} {
		for _, tol := range []float64{0, 1e-6} {
			s := &exact.Solver{Oracles: oracles, Tol: tol, PhiTol: 1e-9}
			for n, y := range [][]float64{none, start, start} {
				got := testkit.Get(solve(s, y))
				if n == 0 {
					if got.Converged {
						t.Errorf("%s: solved where nothing is finite", name)
					}
					continue
				}
				if !got.Converged || !(linalg.Dist2(got.Y, want) < 1e-6) || !(got.Residual < 1e-2) {
					t.Errorf("%s, tolerance %g, solve %d: y = %v, residual %g, converged %v; want %v", name, tol, n,
						got.Y, got.Residual, got.Converged, want)
				}
			}
		}
	}
}
