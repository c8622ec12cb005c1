package assess

import (
	"math"
	"slices"

	"dsbo/internal/kernel"
	"dsbo/internal/linalg"
	"dsbo/internal/num"
)

// Limits of the fit of hazards: the fewest events for each column; the ratio of a weight's variance
// to the one at weights of 0 beyond which the weight is taken to diverge, because the partial
// likelihood rises without end (monotone likelihood); and the step, in standard errors, at which a
// fit with such weights has converged, since nearEnd would never be reached.
const (
	leastOfColumn = 3
	endless       = 1e6
	looseEnd      = 1e-2
)

// noEstimate is the reason why a weight that diverges has no interval.
const noEstimate = "no finite estimate"

// A risk is the partial likelihood of a site's rows: its negative logarithm, and for each row its
// term of the gradient, slope = w_i d_i (x_i − x̄_i) − c_i (x_i − b̄_i), and bends = c_i (x_i −
// b̄_i), whose products with x_i sum to the second derivatives. w_i is the weight, d_i is 1 for an
// event, x̄_i is the mean of x over the risk set of the row's own event, c_i the row's expected
// number of events, and b̄_i the mean of x̄ over the events in whose risk sets the row is.
type risk struct {
	loss            float64
	x, slope, bends []float64 // row by row
}

// riskOf returns the risk of a site's rows at these weights, whose scores are x'w. sets.Fall takes
// sums over risk sets, sets.Rise sums over the events in whose risk sets a row is, and
// sets.TieMeans takes means over tied events; each is linear in the number of rows.
func (e *Effects) riskOf(s *rows, weights []float64) (r risk) {
	n, p := s.Rows, len(weights)
	r.x, r.slope, r.bends = make([]float64, n*p), make([]float64, n*p), make([]float64, n*p)
	e.each(s, func(from, _ int, x []float64) { copy(r.x[from*p:], x) })
	at := make([]float64, n)
	for row := range at {
		at[row] = s.rowsOf(row) * (s.weight(row) / e.unit)
	}
	scores := make([]float64, n)
	kernel.GemmNN(n, 1, p, scores, 1, r.x, p, weights, 1, false)
	// For each event its weight, and the logarithm of the sum of risks over its risk set; for each
	// row its expected events, and the mean of these logarithms over the events tied with it.
	mass, logs, expected, tied := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	sets := &num.RiskSets{Efron: !e.Breslow}
	num.SortRisks(sets, s.Target, at)
	sets.SetScores(slices.Clone(scores), at)
	sets.Fall(logs, nil, nil)
	sets.TieMeans(mass, at)
	sets.Rise(expected, mass, logs)
	sets.TieMeans(tied, logs)
	for row, t := range s.Target {
		if t > 0 {
			r.loss += float64(at[row] * (tied[row] - scores[row]))
		}
	}
	// For one column at a time: its values, x̄ of each event, x̄ of a row's own event, and c_i
	// b̄_i.
	column, means, own, behind := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for j := range p {
		for row := range n {
			column[row] = r.x[row*p+j]
		}
		sets.Fall(nil, column, means)
		sets.TieMeans(own, means)
		for row, m := range mass {
			means[row] *= m
		}
		sets.Rise(behind, means, logs)
		for row, v := range column {
			bend := float64(expected[row]*v) - behind[row]
			r.bends[row*p+j], r.slope[row*p+j] = bend, -bend
			if s.Target[row] > 0 {
				r.slope[row*p+j] += float64(at[row] * (v - own[row]))
			}
		}
	}
	return r
}

// A hazardPoint is a point of the fit of hazards.
type hazardPoint struct {
	point
	loss  float64
	slope []float64
	bends []float64 // second derivatives
}

// hazardsAt returns the point at weights that were reached by move, with the pooled loss and its
// derivatives; near reports whether no row's score has moved by more than farthestMove. The sum has
// the second derivatives, the gradient, the number of sites with a farther move, and the loss.
func (e *Effects) hazardsAt(weights, move []float64) (at hazardPoint, near bool, err error) {
	q := len(weights)
	sum := make([]float64, triangle(q)+q+2)
	err = e.sum("partial likelihood with derivatives", sum, func(s *rows, part []float64) {
		r, full := e.riskOf(s, weights), make([]float64, q*q)
		kernel.GemmTN(q, q, s.Rows, full, q, r.x, q, r.bends, q, false)
		packLower(part, q, full)
		for row := range s.Rows {
			linalg.Axpy(part[triangle(q):][:q], 1, r.slope[row*q:][:q])
			if math.Abs(linalg.Dot(r.x[row*q:][:q], move)) > farthestMove {
				part[triangle(q)+q] = 1
			}
		}
		part[triangle(q)+q+1] = r.loss
	})
	at = hazardPoint{point{weights: weights}, sum[triangle(q)+q+1], sum[triangle(q):][:q], unpackLower(sum, q)}
	at.inverse = inverted(q, slices.Clone(at.bends))
	return at, sum[triangle(q)+q] == 0, err
}

// solveHazards maximizes the partial likelihood by Newton steps from 0, each halved until it moves
// no score too far and the likelihood rises. It returns nil after more than mostSteps trials, or if
// the second derivatives at 0 have no inverse. Near the end it also stops if some weights diverge;
// these are marked and get no interval.
func (f *Fit) solveHazards() (*point, error) {
	zero := make([]float64, len(f.use))
	start, _, err := f.hazardsAt(zero, zero)
	if err != nil || start.inverse == nil {
		return nil, err
	}
	at, share := start, 1.0
	move := zero
	for step := 0; ; step++ {
		if share == 1 { // at is a new point
			move = make([]float64, len(zero))
			kernel.GemmNN(len(move), 1, len(move), move, 1, at.inverse, len(move), at.slope, 1, false)
			length := math.Sqrt(max(0, linalg.Dot(at.slope, move))) // of the step, in errors
			if length < nearEnd || length < looseEnd && f.markEndless(start.point, at.point) {
				return &at.point, nil
			}
		}
		if step == mostSteps {
			return nil, nil
		}
		next := slices.Clone(at.weights)
		linalg.Axpy(next, share, move)
		to, near, err := f.hazardsAt(next, scaled(share, move))
		if err != nil {
			return nil, err
		}
		if share /= 2; near && at.risesTo(to) {
			at, share = to, 1
		}
	}
}

// risesTo reports whether the likelihood at a point is not lower, but for rounding, and has a
// curvature.
func (at hazardPoint) risesTo(to hazardPoint) bool {
	return to.inverse != nil && to.loss <= at.loss+float64(1e-12*math.Abs(at.loss))
}

// markEndless marks the columns whose weights have no end, and returns whether there are any.
func (f *Fit) markEndless(start, at point) (some bool) {
	for k, j := range f.use {
		place := k * (len(f.use) + 1)
		if at.inverse[place] > float64(endless*start.inverse[place]) {
			f.Why[j], some = noEstimate, true
		}
	}
	return some
}

// IsEndless reports whether weights of a group have no end, so that it gives no finite part.
func (f *Fit) IsEndless(group int) bool {
	return slices.ContainsFunc(f.use, func(j int) bool { return f.Columns[j].Group == group && f.Why[j] == noEstimate })
}

// Events returns how many events the rows have, where a hazard is predicted.
func (e *Effects) Events() int { return int(math.Round(e.events)) }

// findHazardErrors computes two covariances of the weights: the inverse second derivatives, and the
// sandwich with the squares of the rows' terms of the gradient (Lin, Wei 1989). These terms are too
// small, since the fit makes their sum 0; the factor E/(E − q), for E events and q weights,
// corrects for it. A row that represents n rows has the sum of n equal terms, whose squares sum to
// its square over n.
func (f *Fit) findHazardErrors(at point) error {
	q := len(at.weights)
	sum := make([]float64, triangle(q))
	err := f.sum("products of rows' slopes", sum, func(s *rows, part []float64) {
		r, full := f.riskOf(s, at.weights), make([]float64, q*q)
		for row := range s.Rows {
			if n := s.rowsOf(row); n != 0 {
				linalg.Scale(r.slope[row*q:][:q], 1/math.Sqrt(n), r.slope[row*q:][:q])
			}
		}
		kernel.GemmTN(q, q, s.Rows, full, q, r.slope, q, r.slope, q, false)
		packLower(part, q, full)
	})
	linalg.Scale(sum, f.events/(f.events-float64(q)), sum)
	f.setErrors(at, sum, 1)
	return err
}
