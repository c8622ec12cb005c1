package exact

import (
	"context"
	"math"
	"slices"

	"dsbo/internal/linalg"
)

// roundOff is the share of the lower loss below which differences of two evaluations mean nothing:
// sums of some ten thousand terms, each right to 1e-16.
const roundOff = 1e-14

// A descent is the progress of Newton's steps of Y.
type descent struct {
	first, last  float64 // norms of the gradient at the start, and before the last step
	left, gained float64 // squared distances to y*: left after the last step, and gained by it
	atFloor      bool    // whether the loss can fall no more than its own round-off
	flat         bool    // whether the last step met a direction without positive curvature
}

// Lower returns y*(x) only. The solve starts at y (length q, not changed; nil: none) or at the last
// solution, whichever has the lower loss. phiTol replaces PhiTol. The result has no Phi, Gradient
// and Z, and no errors of these. A solution that is not finite is not kept as the next start.
func (s *Solver) Lower(ctx context.Context, x, y []float64, phiTol float64) (Solution, error) {
	w, err := s.newSolve(ctx, x, y, nil)
	if err != nil {
		return Solution{}, err
	}
	w.tol, w.Gradient, w.Z, w.Phi, w.lowerOnly = phiTol, nil, nil, math.NaN(), true
	starts := [][2][]float64{{s.y}}
	if !slices.Equal(y, s.y) {
		starts = append(starts, [2][]float64{y})
	}
	err = w.runParts(func() error { return w.chooseStart(starts...) }, w.findSystem, w.solveLower)
	if err == nil && linalg.AllFinite(w.Y) {
		copy(s.y, w.Y)
	}
	return w.Solution, err
}

// solveLower brings Y to y*(x) by damped Newton steps. The preconditioner's diagonal is found again
// once the loss has halved, as Y is then far from where it was found; and after the first step if
// it was a guess, since products now give its scale.
func (w *solve) solveLower() error {
	d := descent{first: linalg.Norm(w.g), last: math.Inf(1), left: math.Inf(1)}
	for moved := true; moved && !w.lowerEnds(&d); {
		if w.diagonalLower > 0 && w.lower < w.diagonalLower/2 {
			if err := w.findDiagonal(); err != nil {
				return err
			}
		}
		var err error
		if moved, err = w.newtonStep(&d); err == nil && w.guessed {
			err = w.findDiagonal()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// lowerEnds reports whether the steps end: Y is near enough to y*, products are spent, the gradient
// is not finite, or round-off allows no progress. The last is so when the loss can fall by no more
// than its round-off and the gradient no longer shrinks; a growing gradient alone is normal far
// from y*.
func (w *solve) lowerEnds(d *descent) bool {
	norm := linalg.Norm(w.g)
	w.Residual = norm / w.scale[0]
	w.distance = w.distanceLeft(d.left, w.g, 0)
	lowest := d.atFloor && norm >= d.last
	switch {
	case d.flat:
		w.Converged = false
	case w.Tol > 0:
		w.Converged = w.Residual <= w.Tol || norm == 0
	default:
		w.Converged = w.distance <= w.distanceBound() || lowest || norm == 0
	}
	d.last = norm
	return w.Converged || !(norm <= math.MaxFloat64) || w.Products >= w.productLimit || lowest
}

// newtonStep moves Y by one step; moved is false if no further step can succeed. If a step fails
// and rounded products may be the cause, it sets finer wires, asks for the gradient again and
// reports true, so that the caller tries again.
func (w *solve) newtonStep(d *descent) (moved bool, err error) {
	clear(w.step)
	copy(w.rest, w.g)
	gain, last, positive, err := w.conjugateGradients(w.step, w.rest, w.newtonRule(d))
	if err != nil {
		return false, err
	}
	d.flat = !positive && !w.distrustRounding()
	if gain == 0 { // there was no product, or it gave nothing
		w.memory.Precondition(w.step, w.g)
	}
	fall, err := w.lineSearch(w.step)
	if err != nil || fall == 0 && !w.distrustRounding() {
		return false, err
	}
	if fall == 0 { // distrustRounding has chosen finer wires
		d.last, d.left, w.localGradients = math.Inf(1), math.Inf(1), nil
		return true, w.askAll(w.lowerGrad(w.Y))
	}
	if last < 0 && w.distrustRounding() { // the rounding of products: how far y* is, is not known
		last = math.Abs(gain)
	}
	d.atFloor, d.left, d.gained = fall <= roundOff, last, gain
	return true, nil
}

// newtonRule returns the rule by which a step is exact enough: rough far from y*, where steps gain
// alike, and sharper the closer, so that the convergence is faster than linear.
func (w *solve) newtonRule(d *descent) rule {
	if w.Tol > 0 {
		return rule{residual: residualShare(d.last/d.first, w.Tol/w.Residual) * d.last, share: w.leastShare()}
	}
	near := w.distanceBound()
	return rule{share: w.leastShare(), gain: func(gain float64) float64 {
		return max(near/4, gain*gainShare(gain/d.gained))
	}}
}

// residualShare returns the share of the gradient that a step may leave, from the share of the
// first gradient that is left, and the share that would be near enough.
func residualShare(left, wanted float64) float64 { return max(min(0.1, math.Sqrt(left)), wanted/2) }

// gainShare returns the share of a step's gain that may be left, from its share of the last step's
// gain.
func gainShare(share float64) float64 { return min(max(share, 1e-3), 0.25) }

// distanceBound returns the largest distance of Y from y*, squared, that leaves Φ right to PhiTol,
// as far as is known.
func (w *solve) distanceBound() float64 { return w.sharpness * w.tol / 2 * math.Abs(w.lower) }

// distanceLeft returns the squared distance that corresponds to a residual r, in the norm of the
// Hessian: at least left, the estimate by the last products, and r'M⁻¹r with M the preconditioner
// of the last Prepare; infinite without pairs. A residual of 0, or within round-off of a right-hand
// side of that norm, corresponds to 0, even if nothing is known of the Hessian.
func (w *solve) distanceLeft(left float64, r []float64, norm float64) float64 {
	switch {
	case linalg.Norm(r) <= leastResidual*norm:
		return 0
	case w.memory.Pairs() == 0:
		return max(left, math.Inf(1)) // NaN stays
	}
	w.memory.Precondition(w.change, r)
	return max(left, linalg.Dot(r, w.change))
}

// lineSearch moves Y by −t·step, with t = 1 halved until the lower loss falls enough, and finds the
// gradient there. It returns the fall that the slope predicted, relative to the loss; 0 if Y did
// not move. If the last search took its whole step, this one likely does too, so the gradient is
// asked for in the same exchange as the losses; otherwise after them.
func (w *solve) lineSearch(step []float64) (fall float64, err error) {
	at := point{y: w.trial}
	slope := linalg.Dot(w.g, step)
	early := !w.shortened // ask for the gradient with the losses
	for t := 1.0; t > 1e-10; t /= 2 {
		linalg.Comb(at.y, 1, w.Y, -t, step)
		var questions []question
		if at.known = early && t == 1; at.known {
			questions = append(questions, w.lowerGrad(at.y))
		}
		questions = append(questions, w.losses(&at))
		if err := w.askAll(questions...); err != nil {
			return 0, err
		}
		if fallsEnough(at.lower, w.lower, t, slope) {
			fall = max(slope/math.Abs(w.lower), math.SmallestNonzeroFloat64) // not 0, which means no move
			copy(w.Y, at.y)
			w.upper, w.lower, w.shortened = at.upper, at.lower, t < 1
			if !at.known {
				err = w.askAll(w.lowerGrad(w.Y))
			}
			return fall, err
		}
		if at.known { // this gradient may be so large that differences from it would be inaccurate
			w.localGradients = nil
		}
	}
	w.shortened = true
	if early { // w.g is the gradient at the rejected point
		err = w.askAll(w.lowerGrad(w.Y))
	}
	return 0, err
}

// fallsEnough reports whether the lower loss after a share t of a step has fallen by a
// ten-thousandth of the fall predicted by the slope (Armijo's rule), to round-off.
func fallsEnough(after, before, t, slope float64) bool {
	return after <= before-float64(1e-4*t*slope)+float64(roundOff*math.Abs(before))
}
