package train_test

import (
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"dsbo"
	"dsbo/algo/algotest"
	"dsbo/internal/must"
	"dsbo/train"
)

func refit(t *testing.T) (train.Refit, []*algotest.Quadratic) {
	t.Helper()
	c, qs := config(t)
	return train.Refit{Problem: c.Problem, W: c.W, MomY: 0.5, Tol: 1e-12}, qs
}

// TestRefit: the decentralized solver ends, on every agent, at the solution of the averaged problem, though the
// draws are noisy, and from any start.
func TestRefit(t *testing.T) {
	r, qs := refit(t)
	x := []float64{1, -2, 3}
	want := algotest.Solve(qs).LowerSolution(x)
	for _, y := range [][]float64{nil, want, {9, 9, 9, 9, 9, 9}} {
		seen := math.Inf(1)
		r.OnStep = func(done int, gradient float64) { seen = gradient }
		got, err := r.Solve(context.Background(), x, y)
		if err != nil || !got.Converged || got.Gradient > 1e-12 || got.Gradient != seen {
			t.Fatalf("%+v, %v; last seen %g", got, err, seen)
		}
		near(t, "y", got.Y, want, 1e-10) // eigenvalues are at least 1, gradients at most about 10
		if got.Consensus > 1e-20 || got.Floats == 0 {
			t.Errorf("consensus error %g, %d numbers sent", got.Consensus, got.Floats)
		}
	}
}

func TestRefitEnds(t *testing.T) {
	r, _ := refit(t)
	r.Steps = 20
	got, err := r.Solve(context.Background(), make([]float64, p), nil)
	if err != nil || got.Converged || got.Steps != 20 {
		t.Errorf("%+v, %v: want an end after 20 steps that says it has not converged", got, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.Steps = 0
	r.OnStep = func(int, float64) { cancel() }
	if _, err := r.Solve(ctx, make([]float64, p), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that the context ended", err)
	}
}

func TestRefitErrors(t *testing.T) {
	good, _ := refit(t)
	diverging := good
	diverging.Beta = 10
	_, err := diverging.Solve(context.Background(), make([]float64, p), nil)
	if !errors.Is(err, dsbo.ErrDiverged) || !strings.Contains(err.Error(), "beta below") {
		t.Errorf("%v, want divergence with advice", err)
	}
	for name, oracle := range map[string]*hooked{
		"curvature": {ValueOracle: good.Problem.Evaluate[2], hvp: after(0, io.ErrUnexpectedEOF)},
		"gradient":  {ValueOracle: good.Problem.Evaluate[2], lower: after(25, io.ErrUnexpectedEOF)},
	} {
		failing := good
		failing.Problem.Oracles = slices.Clone(good.Problem.Oracles)
		failing.Problem.Oracles[2] = oracle
		if _, err := failing.Solve(context.Background(), make([]float64, p), nil); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: %v, want the oracle's failure", name, err)
		}
	}
	for name, bad := range map[string]func(r *train.Refit) (x, y []float64){
		"x":        func(r *train.Refit) ([]float64, []float64) { return make([]float64, 1), nil },
		"y":        func(r *train.Refit) ([]float64, []float64) { return make([]float64, p), make([]float64, 1) },
		"graph":    func(r *train.Refit) ([]float64, []float64) { r.W = nil; return make([]float64, p), nil },
		"momentum": func(r *train.Refit) ([]float64, []float64) { r.MomY = 1; return make([]float64, p), nil },
		"nobody": func(r *train.Refit) ([]float64, []float64) {
			r.Problem = train.Problem{}
			return make([]float64, p), nil
		},
	} {
		r := good
		x, y := bad(&r)
		if _, err := r.Solve(context.Background(), x, y); !errors.Is(err, dsbo.ErrShape) && !errors.Is(err, dsbo.ErrConfig) {
			t.Errorf("%s: %v, want that it is refused", name, err)
		}
	}
}

// TestRefitCurvature: the curvature at one point is found once, whatever the number of tries, and not at all where it is known.
func TestRefitCurvature(t *testing.T) {
	r, _ := refit(t)
	r.MomY, r.Tol = 0.99, 1e-3 // too much momentum for 1/L_max: there is more than one try
	x := []float64{1, -2, 3}
	products := 0
	r.Problem.Oracles[1] = &hooked{ValueOracle: r.Problem.Evaluate[1], hvp: func() error { products++; return nil }}
	l := must.Get(r.Problem.Curvature(t.Context(), x, make([]float64, q)))
	once := products
	want, err := r.Solve(t.Context(), x, nil)
	if err != nil || products != 2*once {
		t.Errorf("%d products in a refit and %d for the curvature, %v: want as many", products-once, once, err)
	}
	r.Curvature, products = l, 0
	got, err := r.Solve(t.Context(), x, nil)
	if err != nil || products != 0 || !slices.Equal(got.Y, want.Y) {
		t.Errorf("%d products with the curvature known, %v; want none and the same y", products, err)
	}
}
