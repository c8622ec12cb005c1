package exact

import (
	"cmp"
	"math"
	"slices"

	"dsbo"
	"dsbo/internal/linalg"
	"dsbo/network"
)

// mostRounds bounds the number of rounds of solveBoth.
const mostRounds = 4

// solveBoth brings Y to y*(x) and Z to the solution of the adjoint system. It repeats both with a
// smaller tolerance until the estimated error of Φ is within its bound, for at most mostRounds
// rounds.
//
// Φ = f(y*) is approximated by ψ(Y), where ψ(y) = f(y) − Z'∇_y g(x, y). As the slope of ψ at Y is
// nearly 0, the error is of second order in the distance of Y from y*. Its size also depends on the
// curvature of f, and on changes of g's curvature, between Y and y*, which a distance in the norm
// of the lower Hessian does not bound; so it is estimated from changes of ψ and Φ.
func (w *solve) solveBoth() error {
	last, lastDistance := 0.0, math.Inf(1)
	for round := range mostRounds {
		if round > 0 { // ask again: the wire's rounding error of the last gradient is then added
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
		w.Phi = w.upper - linalg.Dot(w.Z, w.g)
		if w.endsByResidual() || math.IsNaN(w.upper) {
			return nil
		}
		change, err := w.changeOnTheWay()
		if err != nil {
			return err
		}
		second := secondOrder(change, math.Abs(w.Phi-last)*(w.distance/lastDistance)) // at first by change alone
		last, lastDistance = w.Phi, w.distance
		w.PhiError += second
		bound := w.tol / 2 * sizeOf(w.upper, w.lower)
		if !(second > bound) || !w.Converged {
			return nil
		}
		w.sharpness *= sharper(bound / second)
		w.nearZ = slices.Clone(w.Z)
	}
	w.Converged = false
	return nil
}

// sharper returns the factor by which Y must be nearer if Φ may be off by more than a bound, which
// is a share of the error.
func sharper(share float64) float64 { return max(share, 1e-4) / 4 }

// secondOrder bounds the second-order error of Φ: twice the larger of ψ's change between Y and y*,
// and Φ's change since Y was farther off, scaled to the present distance. The factor 2 is because
// conjugate gradients, when they end, underestimate the remaining distance.
func secondOrder(change, moved float64) float64 { return 2 * max(change, moved) }

// changeOnTheWay estimates the change of solveBoth's ψ between Y and y*: it moves Y by that
// distance (w.distance is its square, in the norm of H) along two directions whose products with H
// are known, Z and the preconditioned gradient, and returns the larger change. It returns 0 if the
// distance is 0 or unknown (infinite). A direction whose product with H is not positive has no
// length in that norm, and is skipped.
func (w *solve) changeOnTheWay() (change float64, err error) {
	if w.distance == 0 || math.IsInf(w.distance, 1) {
		return 0, nil
	}
	w.memory.Precondition(w.change, w.g)
	var ends [][]float64
	for _, way := range [][2][]float64{{w.Z, w.step}, {w.change, w.g}} { // each with its product with the Hessian
		if square := linalg.Dot(way[0], way[1]); square > 0 {
			t := math.Copysign(math.Sqrt(w.distance/square), linalg.Dot(way[0], w.g))
			y := make([]float64, w.q)
			linalg.Comb(y, 1, w.Y, -t, way[0])
			ends = append(ends, y)
		}
	}
	psi := make([]float64, len(ends))
	err = w.mean("f − Z'∇ᵧg", network.Float64, psi, func(_ int, o dsbo.ValueOracle, part []float64) error {
		g := make([]float64, w.q)
		for k, y := range ends {
			upper, _, err := o.Values(w.x, y, allExamples)
			if err == nil {
				err = o.LowerGrad(g, w.x, y, allExamples)
			}
			if part[k] = upper - linalg.Dot(w.Z, g); err != nil {
				return err
			}
		}
		return nil
	})
	for _, v := range psi {
		change = max(change, math.Abs(v-w.Phi))
	}
	return change, err
}

// sizeOf returns the size to which Φ's tolerance is relative: f, as a loss is at least 0. A loss
// that may be negative may also be near 0; the lower loss then gives the size.
func sizeOf(upper, lower float64) float64 {
	if upper > 0 {
		return upper
	}
	return max(-upper, math.Abs(lower))
}

// solveAdjoint brings Z to H⁻¹ ∇_y f at (x, Y). It starts at a multiple of the z that belongs to
// the start of Y or, if that is unknown, of the last solution's z. The multiple is the nearest one
// to the solution in the norm of H, or 0.
func (w *solve) solveAdjoint() error {
	b, r, trial := w.step, w.rest, w.trial
	start := w.nearZ
	if start == nil || linalg.Dot(start, start) == 0 {
		start = w.Solver.z
	}
	known, lost := linalg.Dot(start, start) > 0, w.newLost(w.q) // lost: by the wire, of b − H start
	questions := []question{w.upperGrad(w.Gradient, b)}
	if known {
		questions = append(questions, w.residual(trial, b, start, lost))
	}
	if err := w.askAll(questions...); err != nil {
		return err
	}
	clear(w.Z)
	if linalg.Norm(b) == 0 { // z is 0
		if !w.endsByResidual() {
			w.PhiError = 0 // solveBoth adds the second-order error
		}
		return nil
	}
	copy(r, b)
	gain := 0.0 // 2 b'Z − Z'HZ: the gain of Z over 0 in squared distance
	along := linalg.Dot(start, b)
	if t := multiple(along, along-linalg.Dot(start, trial)); t > 0 {
		gain = t * along
		linalg.Comb(r, 1-t, b, t, trial)
		linalg.Axpy(w.Z, t, start)
		for k := range lost { // r has t times the residual at start, with t times its rounding error
			linalg.Axpy(w.lostResiduals[k], t, lost[k])
		}
	}
	return w.refineAdjoint(b, r, gain)
}

// multiple returns t of the multiple tz that is nearest to the solution of Hz = b, by b'z and z'Hz;
// 0 where none is nearer than 0.
func multiple(along, curvature float64) float64 {
	if along > 0 && curvature > 0 {
		return along / curvature
	}
	return 0
}

// refineAdjoint adds δ with H δ = r to Z, until Z is near enough. b is the right side of H Z = b,
// and r the residual b − H Z, which is overwritten. gain is Z's gain over 0 in squared distance.
// Conjugate gradients begin again with the residual found anew, as a wire rounds their products.
// Their distance is an estimate, so Z counts as near enough at four times the one they aim for.
// Converged becomes false if Z is not near enough when the loop ends: the products are spent, the
// residual is not finite, conjugate gradients take no product, or curvature is not positive though
// products are not rounded.
func (w *solve) refineAdjoint(b, r []float64, gain float64) error {
	norm := linalg.Norm(b)
	for left := math.Inf(1); ; { // left: the squared distance, as the last conjugate gradients saw it
		w.AdjointResidual = linalg.Norm(r) / norm
		end := w.adjointRule(norm, gain)
		done := w.AdjointResidual*norm <= end.residual
		if endsByDistance := end.residual == 0; endsByDistance {
			distance := w.distanceLeft(left, r, norm)
			w.PhiError = math.Sqrt(w.distance * distance)
			if w.distance > 0 { // d² f/g of Solution.PhiError: g may be 0 where d is
				w.PhiError += float64(w.distance * math.Abs(w.upper/w.lower))
			}
			done = distance <= 4*end.gain(0)
		}
		if done || w.Products >= w.productLimit || !(w.AdjointResidual <= math.MaxFloat64) {
			w.Converged = w.Converged && done
			return nil
		}
		before := w.Products
		added, last, positive, err := w.conjugateGradients(w.Z, r, end)
		if err != nil {
			return err
		}
		if w.Products == before { // r is unchanged: another round would do the same
			w.Converged = false
			return nil
		}
		// A negative last gain comes from rounded products, so the distance left is not known to
		// have shrunk.
		if gain, left = gain+added, last; last < 0 && w.distrustRounding() {
			left = math.Abs(added)
		}
		if w.wire != network.Float64 { // r = cgRest − H δ anew: products were rounded
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

// adjointRule returns the rule by which Z is near enough: by its residual, or by the wanted error
// of Φ, d D in the distances of Solution.PhiError, and, for the sake of the gradient, by D² as a
// small share of its start. gain is Z's gain over 0 in squared distance, and norm the right-hand
// side's. A d² that is next to 0 counts as a millionth of its bound, so that it is no divisor.
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
	if err := w.mean("hypergradient", w.gradientWire(), j, func(_ int, o dsbo.ValueOracle, part []float64) error {
		return o.JVP(part, w.x, w.Y, w.Z, allExamples)
	}); err != nil {
		return err
	}
	linalg.Sub(w.Gradient, w.Gradient, j)
	return nil
}
