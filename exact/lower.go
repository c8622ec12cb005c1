package exact

import (
	"math"

	"dsbo/internal/vec"
)

// roundOff is the share of the lower loss below which differences of two evaluations mean nothing: sums of some ten thousand
// terms, each right to 1e-16.
const roundOff = 1e-14

// solveLower brings Y to y*(x) by damped Newton steps.
func (w *solve) solveLower() error {
	g, step, r := w.g, w.work[0], w.work[1]
	if err := w.lowerGrad(w.Y); err != nil {
		return err
	}
	first := vec.Norm(g)
	// The gradient may well grow on the way from far off; where the loss can fall no more than its own
	// round-off, it has reached its floor once it no longer shrinks.
	floor, flat := false, false
	left, before := math.Inf(1), 0.0 // what the last step has left of the distance, and what it gained
	for best, norm := math.Inf(1), first; ; norm = vec.Norm(g) {
		w.Residual = norm / w.scale[0]
		near := w.distanceBound()
		w.distance = max(left, w.estimate(g))
		w.Converged = !flat && (w.Tol > 0 && w.Residual <= w.Tol || w.Tol == 0 && (w.distance <= near || floor && norm >= best) || norm == 0)
		if w.Converged || !(norm <= math.MaxFloat64) || w.Products >= w.productLimit || floor && norm >= best {
			return nil
		}
		best = norm
		if w.diagonalLower > 0 && w.lower < w.diagonalLower/2 { // it is of a Y that is far by now
			if err := w.findDiagonal(); err != nil {
				return err
			}
		}
		end := rule{share: w.leastShare(), gain: func(gain float64) float64 { // far off, where steps gain alike, a step need not be exact
			return max(near/4, gain*min(max(gain/before, 1e-3), 0.25))
		}}
		if w.Tol > 0 { // the closer, the more exact the step: the convergence is then faster than linear
			end = rule{residual: max(min(0.1, math.Sqrt(norm/first)), 0.5*w.Tol/w.Residual) * norm, share: w.leastShare()}
		}
		vec.Fill(step, 0)
		copy(r, g)
		gain, last, positive, err := w.conjugateGradients(step, r, end)
		if err != nil {
			return err
		}
		if flat = !positive; flat && w.distrustRounding() {
			flat = false
		}
		if gain == 0 {
			w.memory.Precondition(step, g)
		}
		fall, err := w.lineSearch(step)
		if err != nil || fall == 0 && !w.distrustRounding() {
			return err
		}
		if fall == 0 { // the step was of what the wire has lost: the next one is of the gradient and products as they are
			best, left, w.localGradients = math.Inf(1), math.Inf(1), nil
			if err := w.lowerGrad(w.Y); err != nil {
				return err
			}
			continue
		}
		if last < 0 && w.distrustRounding() {
			last = math.Abs(gain)
		}
		floor, left, before = fall <= roundOff, last, gain
	}
}

// distanceBound returns the largest distance of Y from y*, squared, that leaves Φ right to PhiTol, as far as is known.
func (w *solve) distanceBound() float64 { return w.sharpness * w.phiTol() / 2 * math.Abs(w.lower) }

// estimate returns r'M⁻¹r with the last preconditioner: the square of the distance that a residual r stands for.
func (w *solve) estimate(r []float64) float64 {
	if w.memory.Pairs() == 0 {
		return math.Inf(1)
	}
	d := w.work[3]
	w.memory.Precondition(d, r)
	return vec.Dot(r, d)
}

// lineSearch moves Y along −step until the lower loss has fallen, and finds the gradient there. It returns what the step promised,
// as a share of the loss; 0 if it did not move: at the floor of round-off nothing falls.
func (w *solve) lineSearch(step []float64) (fall float64, err error) {
	trial := w.work[2]
	slope := vec.Dot(w.g, step)
	slack := float64(roundOff * math.Abs(w.lower))
	for t := 1.0; t > 1e-10; t /= 2 {
		vec.Comb(trial, 1, w.Y, -t, step)
		upper, lower, err := w.values(trial)
		if err != nil {
			return 0, err
		}
		if lower <= w.lower-float64(1e-4*t*slope)+slack {
			fall = max(slope/math.Abs(w.lower), math.SmallestNonzeroFloat64)
			copy(w.Y, trial)
			w.upper, w.lower = upper, lower
			return fall, w.lowerGrad(w.Y)
		}
	}
	return 0, nil
}
