package exact_test

import (
	"context"
	"math"
	"testing"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/train/exact"
)

// steep has the lower loss e^y − y (+ x²/2), with y* = 0, and the upper loss y²/2.
type steep struct{}

func (steep) Dims() (p, q int) { return 1, 1 }

func (steep) Lower(x, y *ad.Node, _ models.Batch) *ad.Node {
	return ad.Sum(ad.SumAll(ad.Exp(y)), ad.Neg(ad.SumAll(y)), ad.Scale(.5, ad.SumAll(ad.Square(x))))
}

func (steep) Upper(_, y *ad.Node, _ models.Batch) *ad.Node {
	return ad.Scale(.5, ad.SumAll(ad.Square(y)))
}

// From y = −4.5 Newton's first step lands near 1.06: the loss has fallen, the gradient has grown
// from 0.99 to 1.9. The solve must not take that for the floor of round-off.
func TestWhereTheGradientGrowsFirst(t *testing.T) {
	oracle := testkit.Get(models.NewOracle(steep{}, data.Shard{}, models.Config{}))
	solver := exact.Solver{Oracles: []dsbo.ValueOracle{oracle}, Start: []float64{-4.5}, Tol: 1e-9}
	sol := testkit.Get(solver.Solve(context.Background(), []float64{0}))
	// |y| = |∇g|/g'' to first order, and g''(0) = 1.
	if !(math.Abs(sol.Y[0]) <= 2e-9) || sol.Residual > 1e-9 {
		t.Errorf("y = %g with residual %g, want 0", sol.Y[0], sol.Residual)
	}
}

// falling has the lower loss −y, which has no least value.
type falling struct{ steep }

func (falling) Lower(x, y *ad.Node, _ models.Batch) *ad.Node {
	return ad.Sum(ad.Neg(ad.SumAll(y)), ad.Scale(.5, ad.SumAll(ad.Square(x))))
}

// A lower problem that has no solution is no error: the solution says that it has not converged.
func TestWithoutSolution(t *testing.T) {
	oracle := testkit.Get(models.NewOracle(falling{}, data.Shard{}, models.Config{}))
	for _, tol := range []float64{0, 1e-6} {
		solver := exact.Solver{Oracles: []dsbo.ValueOracle{oracle}, MaxProducts: 20, Tol: tol}
		sol := testkit.Get(solver.Solve(context.Background(), []float64{0}))
		if sol.Converged || sol.Residual < 0.5 || sol.Products > 25 {
			t.Errorf("%+v, want that it has not converged", sol)
		}
	}
}

// centred is a lower problem whose Hessian is the identity, so that its solution has residuals of
// exactly 0.
type centred struct{ steep }

func (centred) Lower(_, y *ad.Node, _ models.Batch) *ad.Node {
	return ad.Scale(.5, ad.SumAll(ad.Square(ad.Offset(-1, y))))
}

func (centred) Upper(_, y *ad.Node, _ models.Batch) *ad.Node {
	return ad.Scale(.5, ad.SumAll(ad.Square(ad.Offset(-3, y))))
}

// TestAtTheSolution: a solve that begins where both residuals are exactly 0 ends there, though
// nothing has been learnt about the Hessian.
func TestAtTheSolution(t *testing.T) {
	o := testkit.Get(models.NewOracle(centred{}, data.Shard{}, models.Config{}))
	for _, start := range []struct{ y, z float64 }{{1, -2}, {1, 0}, {0, -2}, {1, -2 + 1e-15}, {1 + 1e-12, -2}} {
		s := exact.Solver{Oracles: []dsbo.ValueOracle{o}}
		sol := testkit.Get(s.SolveNear(context.Background(), []float64{0}, []float64{start.y}, []float64{start.z}))
		if !sol.Converged || !(math.Abs(sol.Y[0]-1) <= 1e-9) || !(math.Abs(sol.Z[0]+2) <= 1e-9) ||
			!(sol.PhiError <= 1e-3) {
			t.Errorf("from y = %g, z = %g: y = %g, z = %g, error of Φ %g, converged %t; must be 1, -2, about 0, true",
				start.y, start.z, sol.Y[0], sol.Z[0], sol.PhiError, sol.Converged)
		}
	}
}
