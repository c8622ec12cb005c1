package exact_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"dsbo"
	"dsbo/algo/algotest"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
	"dsbo/train/exact"
)

// Sizes of the quadratic problem that most tests solve.
const agents, p, q = 5, 3, 6

// quadratics returns the oracles of a problem with a known answer.
func quadratics(seed uint64) (oracles []dsbo.ValueOracle, qs []*algotest.Quadratic) {
	qs = algotest.NewQuadratics(agents, p, q, seed)
	for _, o := range qs {
		oracles = append(oracles, o)
	}
	return oracles, qs
}

// TestOnQuadratics: the solver finds what linear algebra finds, at several x in turn, from
// warm starts.
func TestOnQuadratics(t *testing.T) {
	oracles, qs := quadratics(3)
	truth := algotest.Solve(qs)
	s := exact.Solver{Oracles: oracles, Tol: 1e-13, AdjointTol: 1e-13}
	for _, scale := range []float64{0, 1, -3, 100} {
		x := []float64{scale, -0.5 * scale, 0.3 * scale}
		sol := testkit.Get(s.Solve(context.Background(), x))
		// The gradient's residual is 1e-13 relative to the size of the problem at x=0; at 100 times
		// the scale the floor of round-off is as much higher. Eigenvalues are at least 1.
		tol := 1e-11 * (1 + math.Abs(scale))
		near(t, "y*", sol.Y, truth.LowerSolution(x), tol)
		near(t, "z", sol.Z, truth.InverseProduct(sol.Y), tol)
		near(t, "gradient", sol.Gradient, truth.Gradient(x), tol)
		phi := 0.0
		for _, o := range qs {
			f, _ := testkit.Get2(o.Values(x, truth.LowerSolution(x), dsbo.Sample{Set: dsbo.Whole}))
			phi += f / agents
		}
		near(t, "Phi", []float64{sol.Phi}, []float64{phi}, tol*(1+math.Abs(phi)))
	}
}

// TestPhiIsSecondOrder: with a loose tolerance the error of Φ is about the square of the residual.
func TestPhiIsSecondOrder(t *testing.T) {
	oracles, _ := quadratics(3)
	x := []float64{1, 2, 3}
	sharp := exact.Solver{Oracles: oracles, Tol: 1e-13, AdjointTol: 1e-13}
	loose := exact.Solver{Oracles: oracles, Tol: 1e-2, AdjointTol: 1e-10}
	want := testkit.Get(sharp.Solve(context.Background(), x))
	got := testkit.Get(loose.Solve(context.Background(), x))
	if got.Residual < 1e-6 {
		t.Fatalf("residual %g: the test needs one that is felt", got.Residual)
	}
	// For a quadratic f with Hessian D, the error is ½ e'De with e = y − y*, and the norm of D is
	// at most 2.
	if e := linalg.Dist2(got.Y, want.Y); !(math.Abs(got.Phi-want.Phi) <= e+1e-9) {
		t.Errorf("Φ off by %g, want at most %g", got.Phi-want.Phi, e)
	}
}

// A twisted oracle gives products with a matrix that is not symmetric, on which conjugate gradients
// never come to an end.
type twisted struct {
	dsbo.ValueOracle
	products int
}

func (o *twisted) Capabilities() *dsbo.OracleCapabilities {
	of := *o.ValueOracle.Capabilities()
	of.Of = o
	return &of
}

func (o *twisted) HVP(dst, _, _, v []float64, _ dsbo.Sample) error {
	o.products++
	for i := range v {
		dst[i] = v[i] + float64(1-2*(i%2))*v[i^1]
	}
	return nil
}

// TestBoundsItsProducts: a solve that never comes to its tolerance ends, and its residual shows it.
func TestBoundsItsProducts(t *testing.T) {
	oracles, _ := quadratics(3)
	o := &twisted{ValueOracle: oracles[0]}
	s := exact.Solver{Oracles: []dsbo.ValueOracle{o}, Tol: 1e-13}
	sol, err := s.Solve(context.Background(), make([]float64, p))
	if err != nil || o.products < 2000 || o.products > 2002 || sol.Residual <= 1e-13 {
		t.Errorf("%d products, residual %g, %v: want an early end that shows", o.products, sol.Residual, err)
	}
}

func TestErrors(t *testing.T) {
	oracles, _ := quadratics(3)
	for _, c := range []struct {
		name string
		s    exact.Solver
		x    []float64
	}{
		{"no oracles", exact.Solver{}, make([]float64, p)},
		{"x too long", exact.Solver{Oracles: oracles}, make([]float64, p+1)},
		{"start too short", exact.Solver{Oracles: oracles, Start: make([]float64, q-1)}, make([]float64, p)},
	} {
		if _, err := c.s.Solve(context.Background(), c.x); !errors.Is(err, dsbo.ErrShape) {
			t.Errorf("%s: %v, want a shape error", c.name, err)
		}
	}
	s := exact.Solver{Oracles: oracles}
	for _, near := range [][2][]float64{{make([]float64, q-1), nil}, {nil, make([]float64, q+1)}} {
		_, err := s.SolveNear(context.Background(), make([]float64, p), near[0], near[1])
		testkit.WantError(t, "y or z of another length", err, dsbo.ErrShape, "y and z q = 6")
	}
	if _, err := s.Solve(context.Background(), []float64{math.NaN(), 0, 0}); err == nil {
		t.Error("NaN in x: want an error")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Solve(ctx, make([]float64, p)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that the context ended", err)
	}
}

// TestMoves: the y and z near which a solve starts are moved, and stay as they are themselves; the
// next solve starts with the solution.
func TestMoves(t *testing.T) {
	oracles, qs := quadratics(3)
	x := []float64{1, 2, 3}
	moved := 0
	s := exact.Solver{Oracles: oracles, Tol: 1e-9, Move: func(v []float64) { moved++; linalg.Fill(v, 1e3) }}
	y := algotest.Solve(qs).LowerSolution(x)
	for _, given := range [][2][]float64{{nil, nil}, {y, nil}, {y, y}} {
		moved = 0
		before := slices.Clone(y)
		sol := testkit.Get(s.SolveNear(t.Context(), x, given[0], given[1]))
		want := len(slices.DeleteFunc(given[:], func(v []float64) bool { return v == nil }))
		if moved != want || !slices.Equal(before, y) || !slices.Equal(s.State()[1].Value, sol.Z) {
			t.Errorf("%d vectors are moved, want %d; y is %v, and was %v", moved, want, y, before)
		}
	}
}

// TestWhatIsFound: a lower solution and models have no gradient, z and errors; only a model of
// Newton's steps has Φ. The residual is relative to the first gradient, and the next solve starts
// at a lower solution, not at a model.
func TestWhatIsFound(t *testing.T) {
	oracles, qs := quadratics(3)
	x, first, last := []float64{1, 2, 3}, make([]float64, q), make([]float64, q)
	gradient := func(dst, y []float64) float64 {
		part := make([]float64, q)
		clear(dst)
		for _, o := range qs {
			testkit.OK(o.LowerGrad(part, x, y, dsbo.Sample{Set: dsbo.Whole}))
			linalg.Axpy(dst, 1./agents, part)
		}
		return linalg.Norm(dst)
	}
	scale := gradient(first, make([]float64, q))
	for name, of := range map[string]func(s *exact.Solver) (exact.Solution, error){
		"Lower":   func(s *exact.Solver) (exact.Solution, error) { return s.Lower(t.Context(), x, nil, 1e-6) },
		"Model":   func(s *exact.Solver) (exact.Solution, error) { return s.Model(t.Context(), x, nil) },
		"Descend": func(s *exact.Solver) (exact.Solution, error) { return s.Descend(t.Context(), x, nil) },
	} {
		s := &exact.Solver{Oracles: oracles}
		sol := testkit.Get(of(s))
		if sol.Gradient != nil || sol.Z != nil || !math.IsNaN(sol.PhiError) ||
			math.IsNaN(sol.Phi) == (name == "Model") {
			t.Errorf("%s: Φ = %g with error %g, gradient %v, z %v", name, sol.Phi, sol.PhiError, sol.Gradient, sol.Z)
		}
		near(t, name+": residual", []float64{sol.Residual}, []float64{gradient(last, sol.Y) / scale}, 1e-9)
		if next := s.State()[0].Value; slices.Equal(next, sol.Y) != (name == "Lower") {
			t.Errorf("%s: the next solve starts at %v, after y = %v", name, next, sol.Y)
		}
	}
}

func near(t *testing.T, name string, got, want []float64, tol float64) {
	t.Helper()
	for i := range want {
		if math.Abs(got[i]-want[i]) > tol || math.IsNaN(got[i]) {
			t.Errorf("%s[%d] = %.15g, want %.15g within %g", name, i, got[i], want[i], tol)
			return
		}
	}
}
