package exact

import (
	"cmp"
	"math"
	"slices"

	"dsbo"
	"dsbo/internal/linalg"
	"dsbo/network"
)

// mostRounds bounds how often both systems are solved.
const mostRounds = 4

// solveBoth brings Y to y*(x) and Z to the solution of the adjoint system, and both again nearer
// where Y has turned out too far off.
//
// Φ = f(y*) is known to first order, f(Y) − Z'g, and what is of second order follows from how large
// the first is: f as a parabola along the way to y* is nowhere negative, as a loss is not, and
// therefore its second-order term is at least (Z'g)²/(4f). A distance in the norm of the lower
// Hessian does not tell that where f is far more curved than the lower loss, as at weak penalties.
// Where f is below 0, such as the negative logarithm of a density, nothing bounds its curvature:
// the term then follows from how Φ changes as Y comes nearer.
func (w *solve) solveBoth() error {
	for round := range mostRounds {
		if round > 0 { // less what the wire has lost
			if err := w.askAll(w.lowerGrad(w.Y)); err != nil {
				return err
			}
		}
		if err := w.solveLower(); err != nil {
			return err
		}
		if err := w.solveAdjoint(); err != nil {
			return err
		}
		first, last := linalg.Dot(w.Z, w.g), w.Phi
		w.Phi = w.upper - first
		if w.endsByResidual() || w.upper == 0 || math.IsNaN(w.upper) {
			return nil
		}
		second, bound := secondOrder(first, w.upper), w.tol/2*sizeOf(w.upper, w.lower)
		switch {
		case w.upper < 0 && round == 0 && w.Converged:
			second = 16 * bound // not known: Y comes nearer once
		case w.upper < 0:
			second = math.Abs(w.Phi - last)
		}
		w.PhiError += second
		if !(second > bound) || !w.Converged {
			return nil
		}
		w.sharpness *= max(bound/second, 1e-4) / 4
		w.nearZ = slices.Clone(w.Z)
	}
	w.Converged = false
	return nil
}

// secondOrder returns what Φ may be off by, from its first-order term and f > 0: four times the
// least that is possible.
func secondOrder(first, upper float64) float64 { return first * first / upper }

// sizeOf returns what the tolerance of Φ is a share of: f, as a loss is at least 0. A loss that may
// be below 0 may also be near it, and then the lower loss tells how large losses are.
func sizeOf(upper, lower float64) float64 {
	if upper > 0 {
		return upper
	}
	return max(-upper, math.Abs(lower))
}

// solveAdjoint brings Z to H⁻¹ ∇_y f at (x, Y). It starts at the z that belongs to where Y started,
// where that is not known at the last solution, and at 0 where both are farther than that.
func (w *solve) solveAdjoint() error {
	b, r, trial := w.step, w.rest, w.trial
	start := w.nearZ
	if start == nil || linalg.Dot(start, start) == 0 {
		start = w.Solver.z
	}
	known, lost := linalg.Dot(start, start) > 0, w.newLost(w.q)
	questions := []question{w.upperGrad(w.Gradient, b)}
	if known {
		questions = append(questions, w.residual(trial, b, start, lost))
	}
	if err := w.askAll(questions...); err != nil {
		return err
	}
	linalg.Fill(w.Z, 0)
	if linalg.Norm(b) == 0 {
		return nil
	}
	copy(r, b)
	gain := 0.0 // 2 b'Z − Z'HZ: how much nearer than 0 it is
	if known {
		along := linalg.Dot(start, b)
		if curvature := along - linalg.Dot(start, trial); along > 0 && curvature > 0 { // the nearest multiple of it
			t := along / curvature
			gain = t * along
			linalg.Comb(r, 1-t, b, t, trial)
			linalg.Axpy(w.Z, t, start)
			for k := range lost {
				linalg.Axpy(w.lostResiduals[k], t, lost[k])
			}
		}
	}
	return w.refineAdjoint(b, r, gain)
}

// refineAdjoint solves for what the residual r is of, until Z is near enough. gain is how much
// nearer to the solution than 0 Z is.
func (w *solve) refineAdjoint(b, r []float64, gain float64) error {
	norm := linalg.Norm(b)
	for left := math.Inf(1); ; {
		w.AdjointResidual = linalg.Norm(r) / norm
		end := w.adjointRule(norm, gain)
		done := w.AdjointResidual*norm <= end.residual
		if end.residual == 0 {
			distance := w.distanceLeft(left, r, norm)
			w.PhiError = math.Sqrt(w.distance * distance)
			if w.distance > 0 { // else the lower loss may be 0
				w.PhiError += float64(w.distance * math.Abs(w.upper/w.lower))
			}
			done = distance <= 4*end.gain(0)
		}
		if done || w.Products >= w.productLimit || !(w.AdjointResidual <= math.MaxFloat64) {
			w.Converged = w.Converged && done
			return nil
		}
		added, last, positive, err := w.conjugateGradients(w.Z, r, end)
		if err != nil {
			return err
		}
		if gain, left = gain+added, last; last < 0 && w.distrustRounding() {
			left = math.Abs(added)
		}
		if w.wire != network.Float64 { // what the wire has lost of the products
			linalg.Sub(w.trial, w.Z, w.cgStart)
			if err := w.askAll(w.residual(r, w.cgRest, w.trial, w.lostResiduals)); err != nil {
				return err
			}
		}
		if !positive && !w.distrustRounding() {
			w.AdjointResidual, w.Converged = linalg.Norm(r)/norm, false
			return nil
		}
	}
}

// adjointRule returns the rule by which Z is near enough: by its residual, or so that the error of
// Φ is as small as wanted and D² is a small share of what it was, for the sake of the gradient.
// gain is how much nearer to the solution than 0 Z is.
func (w *solve) adjointRule(norm, gain float64) rule {
	if w.endsByResidual() {
		return rule{residual: cmp.Or(w.AdjointTol, 1e-4) * norm, share: w.leastShare()}
	}
	bound, share := w.tol/2*sizeOf(w.upper, w.lower), cmp.Or(w.GradientTol, 2*w.tol)
	return rule{share: w.leastShare(), gain: func(all float64) float64 {
		return min(bound*bound/max(w.distance, 1e-6*w.distanceBound()), share*(gain+all)) / 4
	}}
}

// findGradient completes the gradient of Φ by Z.
func (w *solve) findGradient() error {
	j := make([]float64, w.p)
	if err := w.mean(w.gradientWire(), j, func(_ int, o dsbo.ValueOracle, part []float64) error {
		return o.JVP(part, w.x, w.Y, w.Z, allExamples)
	}); err != nil {
		return err
	}
	linalg.Sub(w.Gradient, w.Gradient, j)
	return nil
}
