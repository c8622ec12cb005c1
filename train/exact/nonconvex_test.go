package exact_test

import (
	"context"
	"math"
	"testing"

	"dsbo"
	"dsbo/algo/algotest"
	"dsbo/internal/testkit"
	"dsbo/train/exact"
)

// TestModelDescends: from near the saddle a model comes to a minimum, whichever matrix there is,
// and says so.
func TestModelDescends(t *testing.T) {
	const q = 6
	const least = -(1 + 4 + 9 + 16 + 25 + 36) / 4. // −Σ b_j²/4 of the averaged loss
	for _, matrix := range []dsbo.CurvatureMatrix{dsbo.Hessian, dsbo.DampedHessian} {
		s := exact.Solver{Matrix: matrix, Start: make([]float64, q)}
		for _, c := range []float64{0.5, 1, 1.5} {
			s.Oracles = append(s.Oracles, algotest.NewWells(q, c))
		}
		for j := range s.Start {
			s.Start[j] = 0.01 * float64(1+j%3)
		}
		sol := testkit.Get(s.Model(context.Background(), []float64{0}, nil))
		upper, lower, _ := algotest.NewWells(q, 1).Values([]float64{0}, sol.Y, dsbo.Sample{})
		if !sol.Converged || lower > least+2e-3*math.Abs(least) { // three steps within a thousandth
			t.Errorf("%v: the lower loss is %g (converged: %v), want %g", matrix, lower, sol.Converged, least)
		}
		if !(math.Abs(sol.Phi-upper) <= 1e-12*upper) {
			t.Errorf("%v: Φ is %g, f at the solution %g", matrix, sol.Phi, upper)
		}
		sol = testkit.Get(s.Descend(context.Background(), []float64{0}, s.Start))
		if !sol.Converged || sol.LowerLoss > least+1e-3*math.Abs(least) { // ten steps within a thousandth
			t.Errorf("by BFGS the lower loss is %g (converged: %v), want %g", sol.LowerLoss, sol.Converged, least)
		}
	}
}
