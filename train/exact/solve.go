package exact

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"dsbo/internal/linalg"
	"dsbo/network"
)

// A solve is one call of [Solver.Solve] or [Solver.Model].
type solve struct {
	*Solver
	Solution
	ctx            context.Context // of the solution
	lowerOnly      bool            // the upper loss is not needed
	x              []float64       // at which it is solved
	tol            float64         // the share of Φ that is asked for where residuals do not bound it
	productLimit   int             // bound of the products
	upper, lower   float64         // the averaged losses at Y
	distance       float64         // estimate of d² of Solution.PhiError
	wire           network.Wire    // of products
	nearZ          []float64       // the z that belongs to where Y started; nil: not known
	localGradients [][]float64     // the last gradients ∇_y g_i of the agents of this process; nil before the first
	localLosses    []float64       // g_i at these gradients' point, if the oracles return it
	diagonalLower  float64         // lower at the Y of the diagonal
	shortened      bool            // the last step of Y was not taken whole
	prepared       bool            // the memory is, for conjugate gradients that begin now
	guessed        bool            // the diagonal is 1: oracles give none, and there was no product
	longest        int             // products of the longest conjugate gradients so far
	sharpness      float64         // the share of the usual bound of d² that it may have
	// What wires have lost of the sums that g and the residual of the adjoint system are, by local
	// agent; nil where that is nothing.
	lostGradients, lostResiduals [][]float64
}

// newSolve returns a solve at x that has not begun. It checks x, and where the solve is to start.
func (s *Solver) newSolve(ctx context.Context, x, y, z []float64) (*solve, error) {
	if err := s.check(x, y, z); err != nil {
		return nil, fmt.Errorf("exact solver: %w", err)
	}
	products := network.Float64
	if s.Agents.FineWire() != network.Float64 {
		products = network.Int8 // as the next residual corrects the error
	}
	return &solve{Solver: s, ctx: ctx, x: x, tol: cmp.Or(s.PhiTol, 1e-4), sharpness: 1,
		productLimit: cmp.Or(s.MaxProducts, 2000),
		localLosses:  make([]float64, len(s.Oracles)),
		wire:         products, Solution: Solution{
			Y: slices.Clone(s.y), Z: make([]float64, s.q), Gradient: make([]float64, s.p), PhiError: math.NaN(),
		}}, nil
}

// runParts takes the parts of a solve, up to the first that fails.
func (w *solve) runParts(parts ...func() error) error {
	for _, part := range parts {
		if err := part(); err != nil {
			return fmt.Errorf("exact solver: %w", err)
		}
	}
	return nil
}

// chooseStart sets Y to the one of several starts, pairs of y and z (nil: none), with the least
// lower loss, and finds the losses there; z becomes nearZ. A start whose loss is NaN is replaced by
// any other one. The first solve asks, in the same exchange, for the gradient at Y before that,
// whose norm is the scale of Tol; if that is not finite, the gradient at the chosen start gives the
// scale.
func (w *solve) chooseStart(starts ...[2][]float64) error {
	var questions []question
	unscaled := w.scale[0] == 0
	if unscaled {
		questions = append(questions, w.lowerGrad(w.Y))
	}
	points := make([]point, len(starts))
	for k, start := range starts {
		if points[k].y = start[0]; start[0] != nil {
			questions = append(questions, w.losses(&points[k]))
		}
	}
	if err := w.askAll(questions...); err != nil {
		return err
	}
	w.lower = math.NaN()
	for k, at := range points {
		if at.y != nil && (at.lower < w.lower || math.IsNaN(w.lower)) {
			copy(w.Y, at.y)
			w.upper, w.lower, w.nearZ = at.upper, at.lower, starts[k][1]
		}
	}
	if unscaled && !w.findScale() {
		if err := w.askAll(w.lowerGrad(w.Y)); err != nil {
			return err
		}
		w.findScale()
	}
	return nil
}

// findScale takes the gradient's norm as the scale of Tol, and reports whether it is finite. If it
// is not, no difference leads to a next point.
func (w *solve) findScale() (finite bool) {
	norm := linalg.Norm(w.g)
	if finite = norm <= math.MaxFloat64; finite {
		w.scale[0] = cmp.Or(norm, 1)
	} else {
		w.localGradients = nil
	}
	return finite
}
