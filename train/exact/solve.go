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
	productLimit   int             // bound of the products
	upper, lower   float64         // the averaged losses at Y
	distance       float64         // estimate of d² of Solution.PhiError
	wire           network.Wire    // of products
	nearZ          []float64       // the z that belongs to where Y started; nil: not known
	localGradients [][]float64     // the last gradients ∇_y g_i of the agents of this process; nil before the first
	diagonalLower  float64         // lower at the Y of the diagonal
	longest        int             // products of the longest conjugate gradients so far
	sharpness      float64         // the share of the usual bound of d² that it may have
	// What wires have lost of the sums that g and the residual of the adjoint system are, by local
	// agent; nil where that is nothing.
	lostGradients, lostResiduals [][]float64
}

// newSolve returns a solve at x that has not begun.
func (s *Solver) newSolve(ctx context.Context, x []float64) *solve {
	return &solve{Solver: s, ctx: ctx, x: x, productLimit: cmp.Or(s.MaxProducts, 2000), sharpness: 1,
		wire: s.productWire(), Solution: Solution{
			Y: slices.Clone(s.y), Z: make([]float64, s.q), Gradient: make([]float64, s.p), PhiError: math.NaN(),
		}}
}

// runParts takes the parts of a solve, up to the first that fails.
func (w *solve) runParts(parts ...func() error) error {
	for _, part := range parts {
		if err := part(); err != nil {
			return fmt.Errorf("exact solution: %w", err)
		}
	}
	return nil
}

// phiTol is PhiTol or its default.
func (w *solve) phiTol() float64 { return cmp.Or(w.PhiTol, 1e-4) }

// findScale finds the gradient that Tol is relative to, at the first solve.
func (w *solve) findScale() error {
	if w.scale[0] != 0 {
		return nil
	}
	if err := w.lowerGrad(w.Y); err != nil {
		return err
	}
	if norm := linalg.Norm(w.g); norm <= math.MaxFloat64 { // else the next solve finds it
		w.scale[0] = cmp.Or(norm, 1)
	}
	return nil
}

// chooseStart starts at whichever of the last solution and y the lower loss is least at, and finds
// the losses there.
func (w *solve) chooseStart(y, z []float64) error {
	w.lower = math.NaN()
	for _, start := range [][2][]float64{{w.Solver.y, w.Solver.z}, {y, z}} {
		if start[0] == nil {
			continue
		}
		upper, lower, err := w.values(start[0])
		if err != nil {
			return err
		}
		if lower < w.lower || math.IsNaN(w.lower) {
			copy(w.Y, start[0])
			w.upper, w.lower, w.nearZ = upper, lower, start[1]
		}
	}
	return nil
}
