package exact

import (
	"context"
	"math"
	"slices"

	"dsbo/internal/linalg"
)

// Of a descent by BFGS: the pairs that it remembers, and the number of steps in a row after which
// it has settled where they together have lowered the loss by less than a share of it.
const (
	descentPairs = 20
	restSteps    = 10
	restFall     = 1e-3
)

// Descend is [Solver.Model] by BFGS with limited memory, whose steps take a gradient each and no
// product. The result has neither Phi nor Z, nor Gradient, and its Products are gradients.
func (s *Solver) Descend(ctx context.Context, x, start []float64) (Solution, error) {
	w, begin, err := s.newDescent(ctx, x, start)
	if err != nil {
		return Solution{}, err
	}
	w.Phi, w.lowerOnly = math.NaN(), true
	err = w.runParts(begin, func() error { return w.askAll(w.lowerGrad(w.Y)) }, w.descend)
	w.LowerLoss = w.lower
	return w.Solution, err
}

// settled reports whether a descent by these losses has settled.
func settled(losses []float64) bool {
	last := len(losses) - 1
	return last >= restSteps && losses[last-restSteps]-losses[last] <= restFall*math.Abs(losses[last-restSteps])
}

// descend moves Y down the lower loss. A first step, without any curvature pairs, has length 1.
func (w *solve) descend() error {
	bfgs := linalg.BFGS{Most: descentPairs}
	y, g, step, losses := slices.Clone(w.Y), slices.Clone(w.g), w.step, []float64{w.lower}
	for {
		norm := linalg.Norm(w.g)
		w.Residual = norm / w.scale[0]
		w.Converged = norm == 0 || settled(losses)
		if w.Converged || !(norm <= math.MaxFloat64) || w.Products >= w.productLimit {
			return nil
		}
		bfgs.Solve(step, w.g)
		if !bfgs.Known() {
			linalg.Scale(step, 1/norm, step)
		}
		w.Products++
		fall, err := w.lineSearch(step)
		switch {
		case err != nil:
			return err
		case fall == 0 && !bfgs.Known(): // not even along the gradient: at the limit of round-off
			w.Converged = w.lower <= math.MaxFloat64
			return nil
		case fall == 0: // it may fall along the gradient
			bfgs.Forget()
			copy(g, w.g) // lineSearch has computed it again
			continue
		}
		bfgs.Add(w.Y, w.g, y, g)
		copy(y, w.Y)
		copy(g, w.g)
		losses = append(losses, w.lower)
	}
}
