package train

import (
	"cmp"
	"context"
	"errors"
	"math"

	"dsbo"
	"dsbo/internal/recycle"
	"dsbo/internal/vec"
	"dsbo/network"
)

// A solving is one call of [Exact.Solve].
type solving struct {
	*Exact
	Solution
	ctx          context.Context
	x            []float64
	most         int          // bound of the products
	upper, lower float64      // the averaged losses at Y
	distance     float64      // estimate of d² of Solution.PhiError
	wire         network.Wire // that of products
	nearZ        []float64    // the z that belongs to where Y started; nil: not known
}

const (
	// roundOff is the share of the lower loss below which differences of two evaluations mean nothing: sums of some ten thousand
	// terms, each right to 1e-16.
	roundOff = 1e-14
	// delay is the number of products by whose gain together the distance to the solution before them is estimated.
	delay = 4
)

// fine is the wire of gradients and residuals.
func (w *solving) fine() network.Wire { return w.group.collective.fine() }

// coarse is the wire of products at first: where not all travels as it is, they bear to be rounded to eight bits, as the next
// residual corrects what they lose.
func (s *Exact) coarse() network.Wire {
	if s.group.collective.fine() == network.Float64 {
		return network.Float64
	}
	return network.Int8
}

// phiTol is PhiTol or its default.
func (w *solving) phiTol() float64 { return cmp.Or(w.PhiTol, 1e-4) }

// mistrust reports whether a direction without positive curvature may come of rounded products, which from then on are not.
func (w *solving) mistrust() bool {
	rounded := w.wire != w.fine()
	w.wire = w.fine()
	return rounded
}

// begin finds the gradient that Tol is relative to, at the first solve.
func (w *solving) begin() error {
	if w.scale[0] != 0 {
		return nil
	}
	if err := w.lowerGrad(w.Y); err != nil {
		return err
	}
	w.scale[0] = cmp.Or(vec.Norm(w.g), 1)
	return nil
}

// chooseStart starts at whichever of the last solution and y the lower loss is least at, and finds the losses there.
func (w *solving) chooseStart(y, z []float64) error {
	w.lower = math.NaN()
	for _, start := range [][2][]float64{{w.Exact.y, w.Exact.z}, {y, z}} {
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

// findDiagonal finds the diagonal of the averaged Hessian, in its two parts: what the oracles do not give of it is a number in
// the size of the products so far.
func (w *solving) findDiagonal() error {
	one := w.Oracles[w.group.local[0]]
	vec.Fill(w.e, 0)
	if o, ok := one.(dsbo.PenaltyOracle); ok {
		if err := o.Penalty(w.e, w.x); err != nil && !errors.Is(err, dsbo.ErrCapability) {
			return err
		}
	}
	err := w.findDataDiagonal()
	if errors.Is(err, dsbo.ErrCapability) {
		vec.Fill(w.diag, w.meanCurvature())
		err = nil
	}
	w.memory.Prepare(w.e, w.diag)
	return err
}

// findDataDiagonal finds what is not the penalty's of the diagonal, if the oracles give it.
func (w *solving) findDataDiagonal() error {
	one := w.Oracles[w.group.local[0]]
	if _, ok := one.(dsbo.DiagonalOracle); !ok {
		return dsbo.ErrCapability
	}
	return w.mean(w.ctx, w.wire, w.diag, func(o dsbo.ValueOracle, part []float64) error {
		if err := o.(dsbo.DiagonalOracle).Diagonal(part, w.x, w.Y, allExamples); err != nil {
			return err
		}
		vec.Sub(part, part, w.e)
		return nil
	})
}

// meanCurvature returns the mean of v'Dv over the pairs of the memory, 1 if there is none.
func (w *solving) meanCurvature() float64 {
	n := w.memory.Pairs()
	if n == 0 {
		return 1
	}
	_, _, gram, _ := w.memory.State()
	most, sum := int(math.Sqrt(float64(len(gram)))), 0.0
	for i := range n {
		sum += math.Abs(gram[i*most+i])
	}
	return cmp.Or(sum/float64(n), 1)
}

// product is a product of the Hessian's data part at Y, for package recycle.
func (w *solving) product(dst, v []float64) error {
	err := w.mean(w.ctx, w.wire, dst, func(o dsbo.ValueOracle, part []float64) error {
		if err := o.HVP(part, w.x, w.Y, v, allExamples); err != nil {
			return err
		}
		w.subtractPenalty(part, v)
		return nil
	})
	w.Products++
	if w.OnStep != nil {
		w.OnStep(w.Products)
	}
	return err
}

// subtractPenalty takes the penalty's part off a product.
func (w *solving) subtractPenalty(part, v []float64) {
	for i := range part {
		part[i] -= float64(w.e[i] * v[i])
	}
}

// A rule says when conjugate gradients end: when the residual is at most residual, or, if that is 0, when the square of the
// distance that the last products together have come nearer is at most gain of what all have. Nor do they go on below a share of
// what there was to solve.
type rule struct {
	residual float64
	gain     func(all float64) float64
	share    float64
}

// conjugateGradients adds to s a solution of H s = r at Y and leaves the residual in r. It returns the square of the distance
// that it came nearer, in the norm of H, of that the part by the last products, and whether it met only positive curvature.
func (w *solving) conjugateGradients(s, r []float64, end rule) (gain, last float64, positive bool, err error) {
	b, from := w.work[4], w.work[5]
	copy(b, r)
	copy(from, s)
	norm := vec.Norm(b)
	var gains []float64 // so far, before each product
	_, positive, err = w.memory.Solve(s, r, recycle.System{E: w.e, Diagonal: w.diag, Product: w.product}, w.most-w.Products, func(asked int) bool {
		total := 0.0 // of the step δ = s − from, 2 b'δ − δ'Hδ = δ'(b + r)
		for i, v := range s {
			total += float64((v - from[i]) * (b[i] + r[i]))
		}
		gain, last = total, total
		if gains = append(gains, total); asked >= delay {
			last = total - gains[asked-delay]
		}
		left := vec.Norm(r)
		switch {
		case left <= 1e-15*norm || math.IsNaN(left):
			return true
		case end.residual > 0:
			return left <= max(end.residual, math.Sqrt(end.share)*norm)
		}
		return asked >= delay && last <= max(end.gain(total), end.share*total)
	})
	return gain, last, positive, err
}

// share is the least rule.share: what a wire loses of products is no gain.
func (w *solving) share() float64 {
	if w.wire == w.fine() {
		return 0
	}
	return 1e-2
}

// solveLower brings Y to y*(x) by damped Newton steps.
func (w *solving) solveLower() error {
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
		if w.Converged || !(norm <= math.MaxFloat64) || w.Products >= w.most || floor && norm >= best {
			return nil
		}
		best = norm
		end := rule{share: w.share(), gain: func(gain float64) float64 { // far off, where steps gain alike, a step need not be exact
			return max(near/4, gain*min(max(gain/before, 1e-3), 0.25))
		}}
		if w.Tol > 0 { // the closer, the more exact the step: the convergence is then faster than linear
			end = rule{residual: max(min(0.1, math.Sqrt(norm/first)), 0.5*w.Tol/w.Residual) * norm, share: w.share()}
		}
		vec.Fill(step, 0)
		copy(r, g)
		gain, last, positive, err := w.conjugateGradients(step, r, end)
		if err != nil {
			return err
		}
		if flat = !positive; flat && w.mistrust() {
			flat = false
		}
		if gain == 0 {
			w.memory.Precondition(step, g)
		}
		fall, err := w.lineSearch(step)
		if err != nil || fall == 0 {
			return err
		}
		floor, left, before = fall <= roundOff, last, gain
	}
}

// distanceBound returns the largest distance of Y from y*, squared, that leaves Φ right to PhiTol.
func (w *solving) distanceBound() float64 { return w.phiTol() / 2 * math.Abs(w.lower) }

// estimate returns r'M⁻¹r with the last preconditioner: the square of the distance that a residual r stands for.
func (w *solving) estimate(r []float64) float64 {
	if w.memory.Pairs() == 0 {
		return math.Inf(1)
	}
	d := w.work[3]
	w.memory.Precondition(d, r)
	return vec.Dot(r, d)
}

// lineSearch moves Y along −step until the lower loss has fallen, and finds the gradient there. It returns what the step promised,
// as a share of the loss; 0 if it did not move: at the floor of round-off nothing falls.
func (w *solving) lineSearch(step []float64) (fall float64, err error) {
	trial := w.work[2]
	slope := vec.Dot(w.g, step)
	slack := roundOff * math.Abs(w.lower)
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

// solveAdjoint brings Z to H⁻¹ ∇_y f at (x, Y). It starts at the z that belongs to where Y started, where that is not known at the
// last solution, and at 0 where both are farther than that.
func (w *solving) solveAdjoint() error {
	b, r, trial := w.work[0], w.work[1], w.work[2]
	if err := w.upperGrad(w.Gradient, b); err != nil {
		return err
	}
	norm := vec.Norm(b)
	if norm == 0 {
		vec.Fill(w.Z, 0)
		return nil
	}
	copy(r, b)
	start := w.nearZ
	if start == nil || vec.Dot(start, start) == 0 {
		start = w.Exact.z
	}
	gain := 0.0 // 2 b'Z − Z'HZ: how much nearer than 0 it is
	vec.Fill(w.Z, 0)
	if vec.Dot(start, start) > 0 {
		if err := w.residual(trial, b, start); err != nil {
			return err
		}
		along := vec.Dot(start, b)
		if curvature := along - vec.Dot(start, trial); along > 0 && curvature > 0 { // the nearest multiple of it
			t := along / curvature
			gain = t * along
			vec.Comb(r, 1-t, b, t, trial)
			vec.Axpy(w.Z, t, start)
		}
	}
	return w.refineAdjoint(b, r, gain)
}

// refineAdjoint solves for what the residual r is of, until Z is near enough. gain is how much nearer to the solution than 0 Z is.
func (w *solving) refineAdjoint(b, r []float64, gain float64) error {
	norm := vec.Norm(b)
	for left := math.Inf(1); ; {
		w.AdjointResidual = vec.Norm(r) / norm
		end := w.adjointRule(norm, gain)
		done := w.AdjointResidual*norm <= end.residual
		if end.residual == 0 {
			distance := max(left, w.estimate(r))
			w.PhiError = w.distance*math.Abs(w.upper/w.lower) + math.Sqrt(w.distance*distance)
			done = distance <= 4*end.gain(0)
		}
		if done || w.Products >= w.most || !(w.AdjointResidual <= math.MaxFloat64) {
			w.Converged = w.Converged && done
			return nil
		}
		added, last, positive, err := w.conjugateGradients(w.Z, r, end)
		if err != nil {
			return err
		}
		gain, left = gain+added, last
		if w.wire != network.Float64 { // what the wire has lost of the products
			if err := w.residual(r, b, w.Z); err != nil {
				return err
			}
		}
		if !positive && !w.mistrust() {
			w.AdjointResidual, w.Converged = vec.Norm(r)/norm, false
			return nil
		}
	}
}

// adjointRule returns the rule by which Z is near enough: by its residual, or so that the error of Φ is as small as wanted and
// D² is a small share of what it was, for the sake of the gradient. gain is how much nearer to the solution than 0 Z is.
func (w *solving) adjointRule(norm, gain float64) rule {
	if w.Tol > 0 || w.AdjointTol > 0 {
		return rule{residual: cmp.Or(w.AdjointTol, 1e-4) * norm, share: w.share()}
	}
	bound := w.phiTol() / 2 * w.upper
	return rule{share: w.share(), gain: func(all float64) float64 {
		return min(bound*bound/max(w.distance, 1e-6*w.distanceBound()), 2*w.phiTol()*(gain+all)) / 4
	}}
}

// differentiate computes Φ and its gradient from Y and Z.
func (w *solving) differentiate() error {
	// f(y*) = f(y) − ∇_y f'H⁻¹∇_y g + ... = f(y) − z'∇_y g + ...
	w.Phi = w.upper - vec.Dot(w.Z, w.g)
	j := make([]float64, w.p)
	if err := w.mean(w.ctx, w.fine(), j, func(o dsbo.ValueOracle, part []float64) error { return o.JVP(part, w.x, w.Y, w.Z, allExamples) }); err != nil {
		return err
	}
	vec.Sub(w.Gradient, w.Gradient, j)
	return nil
}

// lowerGrad sets g to ∇_y g(x, y), averaged over the agents as is all below.
func (w *solving) lowerGrad(y []float64) error {
	return w.mean(w.ctx, w.fine(), w.g, func(o dsbo.ValueOracle, part []float64) error { return o.LowerGrad(part, w.x, y, allExamples) })
}

// upperGrad finds ∇_x f and ∇_y f at (x, Y), in one average.
func (w *solving) upperGrad(dx, dy []float64) error {
	both := make([]float64, w.p+w.q)
	err := w.mean(w.ctx, w.fine(), both, func(o dsbo.ValueOracle, part []float64) error {
		return o.UpperGrad(part[:w.p], part[w.p:], w.x, w.Y, allExamples)
	})
	copy(dx, both)
	copy(dy, both[w.p:])
	return err
}

// residual sets r = b − H z at Y, in numbers that are not rounded to the products' wire.
func (w *solving) residual(r, b, z []float64) error {
	err := w.mean(w.ctx, w.fine(), r, func(o dsbo.ValueOracle, part []float64) error { return o.HVP(part, w.x, w.Y, z, allExamples) })
	vec.Sub(r, b, r)
	w.Products++
	return err
}

// values returns the averaged losses.
func (w *solving) values(y []float64) (upper, lower float64, err error) {
	var both [2]float64
	err = w.group.numbers(w.ctx, both[:], func(i int, part []float64) (err error) {
		part[0], part[1], err = w.Oracles[i].Values(w.x, y, allExamples)
		return err
	})
	return both[0], both[1], err
}
