package train_test

import (
	"context"
	"math"
	"testing"

	"dsbo/data"
	"dsbo/models"
	"dsbo/train"
)

// From far off the lower gradient grows before it falls; the solve must not take that for its end.
func TestExactFromAColdStart(t *testing.T) {
	task, err := data.Synthetic{Agents: 3, Features: 30, Train: 60, Val: 60, Test: 1, Seed: 5}.Task()
	if err != nil {
		t.Fatal(err)
	}
	problem, err := train.NewProblem(task, models.Logistic{Features: 30}, models.Config{})
	if err != nil {
		t.Fatal(err)
	}
	const tol = 1e-6
	for _, level := range []float64{-8, -4, 0, 4} {
		x := make([]float64, 30)
		for j := range x {
			x[j] = level + 3*math.Sin(float64(j))
		}
		exact := train.Exact{Oracles: problem.Evaluate, Tol: tol}
		sol, err := exact.Solve(context.Background(), x)
		if err != nil {
			t.Fatal(err)
		}
		if sol.Residual > tol {
			t.Errorf("x about %g: residual %.2g, want at most %g", level, sol.Residual, tol)
		}
	}
}
