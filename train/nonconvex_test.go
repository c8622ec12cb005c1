package train_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"dsbo"
	"dsbo/algo"
	"dsbo/algo/algotest"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/train"
)

// wellsProblem is a problem of three agents, whose start is near the saddle.
func wellsProblem(q int, matrix dsbo.CurvatureMatrix) train.Problem {
	p := train.Problem{Nonconvex: true, Matrix: matrix, Start: make([]float64, q)}
	for _, c := range []float64{0.5, 1, 1.5} {
		p.Oracles = append(p.Oracles, algotest.NewWells(q, c))
		p.Evaluate = append(p.Evaluate, algotest.NewWells(q, c))
	}
	for j := range p.Start {
		p.Start[j] = 0.01 * float64(1+j%3)
	}
	return p
}

// TestLeastEigenvalue: as many products as the matrix has eigenvalues find it, and far fewer of a
// large one to a twentieth.
func TestLeastEigenvalue(t *testing.T) {
	for _, q := range []int{1, 6, 400} {
		c := nonconvexConfig(dsbo.Hessian, &algo.NewtonCG{Start: "x0", Damping: 0.1})
		c.Problem, c.K = wellsProblem(q, dsbo.Hessian), 1
		clear(c.Problem.Start)
		got := float64(run(t, c).Records[0].LeastEigenvalue)
		if want := -float64(q); got < want*(1+1e-12) || got > 0.95*want {
			t.Errorf("q = %d: the least eigenvalue is %g, want %g", q, got, want)
		}
	}
}

// nonconvexConfig is a run of damped Newton steps on the wells.
func nonconvexConfig(matrix dsbo.CurvatureMatrix, m algo.Method) train.Config {
	return train.Config{Problem: wellsProblem(6, matrix), W: testkit.Get(network.Ring(3, 0.5)).W, K: 20, EvalEvery: 1,
		CheckpointEvery: 1, Method: m}
}

// TestNonconvexRun: iterations go down to a minimum; records have the least eigenvalue, negative
// first and positive at the end; and a run that is interrupted goes on with the same bits,
// damping included, which makes another run of it.
func TestNonconvexRun(t *testing.T) {
	var ends [][]float64
	for _, matrix := range []dsbo.CurvatureMatrix{dsbo.Hessian, dsbo.DampedHessian} {
		c := nonconvexConfig(matrix, &algo.NewtonCG{Start: "x0", Damping: 0.1, Mem: 6, Lr: "0.01"})
		c.EvalEvery = 2 // which finds the damping of the iteration at which it is interrupted, too
		whole := run(t, c)
		if first, last := whole.Records[0].LeastEigenvalue, whole.Last().LeastEigenvalue; !(first < 0 && last > 0) {
			t.Errorf("%v: the least eigenvalue is %g at first and %g at last", matrix, first, last)
		}
		if phi := whole.Last().Phi; phi.Known() || whole.Exact != nil {
			t.Errorf("%v: Φ is %g; it must be unknown for want of Modulus", matrix, phi)
		}
		c.Dir = t.TempDir()
		interruptAt(t, c, 3)
		c.Resume = true
		sameRun(t, whole, run(t, c))
		if matrix == dsbo.DampedHessian { // whose damping the method's own oracles give too
			c.Dir, c.Resume, c.Problem.Evaluate = "", false, nil
			sameRun(t, whole, run(t, c))
		}
		ends = append(ends, slices.Concat(whole.X, whole.Y))
	}
	if slices.Equal(ends[0], ends[1]) {
		t.Error("products of damped Hessians are not damped")
	}
}

// TestMatrixRefused: methods that need the Hessian itself name those that do not.
func TestMatrixRefused(t *testing.T) {
	for _, m := range []algo.Method{&algo.JHIP{}, &algo.GBDSBO{L: "10"}} {
		err := nonconvexConfig(dsbo.GaussNewton, m).Validate()
		if !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), "gauss-newton") ||
			!strings.Contains(err.Error(), "newtoncg") {
			t.Errorf("%s: the error is %v", algo.NameOf(m), err)
		}
	}
	if traits := algo.TraitsOf(&algo.ITD{}); traits.TakesMatrix() {
		t.Error("itd differentiates its own steps, which another matrix does not")
	}
	c := nonconvexConfig(dsbo.GaussNewton, &algo.NewtonCG{Start: "x0"})
	if _, err := train.Run(context.Background(), c); !errors.Is(err, dsbo.ErrCapability) {
		t.Errorf("an oracle without Gauss-Newton products: the error is %v", err)
	}
}
