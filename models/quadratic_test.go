package models_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"dsbo"
	"dsbo/data"
	"dsbo/internal/must"
	"dsbo/internal/vec"
	"dsbo/models"
)

// TestSolveQuadratics checks the solution against the agents' oracles: the averaged ∇_y g vanishes there, and so
// does the hypergradient ∇_x f − (∇²_xy g) z with z from the averaged Hessian; Φ is the average of f.
func TestSolveQuadratics(t *testing.T) {
	const n, p, q = 4, 3, 5
	r := rand.New(rand.NewPCG(12, 13))
	ms := make([]models.Quadratic, n)
	for i := range ms {
		ms[i] = quadratic(r, p, q)
	}
	s := must.Get(models.SolveQuadratics(ms))

	gy, fx, fy := make([]float64, q), make([]float64, p), make([]float64, q)
	phi, part := 0.0, make([]float64, q)
	all := dsbo.Sample{Set: dsbo.Whole}
	var oracles []*models.Oracle
	for _, m := range ms {
		o := must.Get(models.NewOracle(m, data.Shard{}, models.Config{}))
		oracles = append(oracles, o)
		dx, dy := make([]float64, p), make([]float64, q)
		must.OK(o.LowerGrad(part, s.X, s.Y, all))
		must.OK(o.UpperGrad(dx, dy, s.X, s.Y, all))
		vec.Axpy(gy, 1./n, part)
		vec.Axpy(fx, 1./n, dx)
		vec.Axpy(fy, 1./n, dy)
		f, _ := must.Get2(o.Values(s.X, s.Y, all))
		phi += f / n
	}
	if math.Abs(phi-s.Phi) > 1e-12*math.Abs(phi) {
		t.Errorf("Φ* = %g, the average of f is %g", s.Phi, phi)
	}
	// z by gradient steps on the averaged Hessian, whose eigenvalues lie between 1 and 6.
	z := make([]float64, q)
	for range 400 {
		step := make([]float64, q)
		for _, o := range oracles {
			must.OK(o.HVP(part, s.X, s.Y, z, all))
			vec.Axpy(step, 1./n, part)
		}
		vec.Axpy(step, -1, fy)
		vec.Axpy(z, -.15, step)
	}
	j := make([]float64, p)
	for _, o := range oracles {
		must.OK(o.JVP(j, s.X, s.Y, z, all))
		vec.Axpy(fx, -1./n, j)
	}
	// Rounding in systems whose condition numbers are below 100.
	if a, b := vec.Norm(gy), vec.Norm(fx); a > 1e-12 || b > 1e-12 {
		t.Errorf("‖∇_y g‖ = %g and the hypergradient's norm is %g at the solution, want 0", a, b)
	}
}

func TestSolveQuadraticsErrors(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	ok := quadratic(r, 2, 3)
	short := ok
	short.B = short.B[1:]
	flat, flatter := ok, ok
	flat.A = make([]float64, 9)
	flatter.B, flatter.E = make([]float64, 6), make([]float64, 4)
	for _, c := range []struct {
		name string
		ms   []models.Quadratic
		kind error
		says string
	}{
		{"none", nil, dsbo.ErrShape, "there must be at least one quadratic"},
		{"short", []models.Quadratic{ok, short}, dsbo.ErrShape, "agent 1: B of a quadratic with p=2, q=3 must have 6 numbers; it has 5"},
		{"mixed", []models.Quadratic{ok, quadratic(r, 3, 3)}, dsbo.ErrShape, "agents must have the same p and q; agent 1 has 3 and 3, agent 0 has 2 and 3"},
		{"flat lower", []models.Quadratic{flat}, dsbo.ErrConfig, "the average of A must be positive definite"},
		{"flat upper", []models.Quadratic{flatter}, dsbo.ErrConfig, "the Hessian M'DM + E of Φ must be positive definite"},
	} {
		if _, err := models.SolveQuadratics(c.ms); !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error is %v, want %q", c.name, err, c.says)
		}
	}
}

// TestNoiseAveragesOut: with rows that sum to 0 the whole data give the problem without noise.
func TestNoiseAveragesOut(t *testing.T) {
	m := quadratic(rand.New(rand.NewPCG(3, 1)), 2, 2)
	noise := data.Examples{X: table(4, 2, []float64{1, 2, -1, -2, 3, .5, -3, -.5}), Target: table(4, 1, make([]float64, 4))}
	quiet := must.Get(models.NewOracle(m, data.Shard{}, models.Config{}))
	noisy := must.Get(models.NewOracle(m, data.Shard{Train: noise, Val: noise}, models.Config{Batch: 1}))
	x, y := []float64{1, 2}, []float64{-1, 1}
	a, b, c := make([]float64, 2), make([]float64, 2), make([]float64, 2)
	must.OK(quiet.LowerGrad(a, x, y, dsbo.Sample{Set: dsbo.Whole}))
	must.OK(noisy.LowerGrad(b, x, y, dsbo.Sample{Set: dsbo.Whole}))
	must.OK(noisy.LowerGrad(c, x, y, dsbo.Sample{Set: dsbo.Lower}))
	if vec.Dist2(a, b) > 1e-28 || vec.Dist2(a, c) < 1 {
		t.Errorf("gradient %v without noise, %v with all of it, %v with one row", a, b, c)
	}
}
