package exact

import (
	"context"
	"math"
	"slices"

	"dsbo"
	"dsbo/internal/linalg"
)

const (
	settledFall  = 1e-3 // a step that lowers the loss by at most this share of it is calm
	settledSteps = 3    // calm steps in a row after which the loss counts as settled
	stepProducts = 30   // products of a step of a lower problem that may not be convex
)

// Model returns y of the lower problem at x, a model, where that problem may not be convex: y is a
// solution that is reached from a start (length q; nil: Start), and others may be elsewhere. x and
// start are not changed. Phi of the result is f(x, y), and there are no Gradient, Z, and errors
// of these.
//
// Steps are truncated Newton steps on products with the problem's matrix: conjugate gradients end
// at a direction without positive curvature and take it (Dembo, Steihaug 1983), and a line search
// lowers the loss. The result has converged where the loss has settled: three steps in a row have
// lowered it by less than a thousandth each. The gradient, which may grow while the loss falls,
// decides nothing.
func (s *Solver) Model(ctx context.Context, x, start []float64) (Solution, error) {
	w, begin, err := s.newDescent(ctx, x, start)
	if err != nil {
		return Solution{}, err
	}
	err = w.runParts(begin, w.findDamping, w.findSystem, w.solveNonconvex)
	w.Phi, w.LowerLoss = w.upper, w.lower
	return w.Solution, err
}

// newDescent returns a solve that is to bring y down from a start (nil: where the last one ended),
// and its first part. It has no Gradient and Z.
func (s *Solver) newDescent(ctx context.Context, x, start []float64) (w *solve, begin func() error, err error) {
	if w, err = s.newSolve(ctx, x, start, nil); err != nil {
		return nil, nil, err
	}
	w.Gradient, w.Z = nil, nil
	if start = s.moved(start); start == nil {
		start = slices.Clone(w.Y)
	}
	return w, func() error { return w.chooseStart([2][]float64{start}) }, nil
}

// findDamping finds the least eigenvalue at Y where products are damped by it.
func (w *solve) findDamping() error {
	if w.Matrix != dsbo.DampedHessian {
		return nil
	}
	least, err := linalg.Least(w.q, func(dst, v []float64) error {
		w.Products++
		return w.mean("products for the least eigenvalue", w.gradientWire(), dst,
			func(_ int, o dsbo.ValueOracle, part []float64) error { return o.HVP(part, w.x, w.Y, v, allExamples) })
	})
	w.products.SetDamping(least)
	return err
}

// solveNonconvex moves Y down the lower loss by truncated Newton steps. It ends when the loss has
// settled (settledSteps calm steps in a row) or is not finite, the products are spent, the step is
// no descent, or the line search fails although the step promised more than settledFall, for
// example where second derivatives are not finite. The first calm step recomputes the damping at Y,
// since directions of negative curvature at the start may have none here.
func (w *solve) solveNonconvex() error {
	g, step, r := w.g, w.step, w.rest
	first := linalg.Norm(g)
	for calm := 0; ; {
		norm := linalg.Norm(g)
		w.Residual = norm / w.scale[0]
		w.Converged = calm >= settledSteps && math.Abs(w.lower) <= math.MaxFloat64 || norm == 0
		if w.Converged || calm >= settledSteps || !(norm <= math.MaxFloat64) || w.Products >= w.productLimit {
			return nil
		}
		clear(step)
		copy(r, g)
		end := rule{residual: residualShare(norm/first, 0) * norm, descend: true, maxProducts: stepProducts}
		gain, _, _, err := w.conjugateGradients(step, r, end)
		if err != nil {
			return err
		}
		if !(math.Abs(gain) > 0) { // no usable product, or NaN: take a preconditioned gradient step
			w.memory.Precondition(step, g)
		}
		before, promised := w.lower, linalg.Dot(g, step)/math.Abs(w.lower)
		moved, err := w.lineSearch(step)
		if err != nil {
			return err
		}
		noDescent, ignoresPromise := !(promised > 0), moved == 0 && promised > settledFall
		if noDescent || ignoresPromise {
			return nil
		}
		fall := (before - w.lower) / math.Abs(before)
		if calm++; fall > settledFall {
			calm = 0
		} else if calm == 1 {
			if err := w.findDamping(); err != nil {
				return err
			}
		}
	}
}
