package train

import (
	"context"
	"math"
	"slices"
	"time"

	"dsbo/runs"
)

// makeRecord evaluates the agents. After an error it restores exact solutions, scales of averages
// and counts, so that a run that was interrupted in an evaluation repeats it with the same bits.
func (e *evaluator) makeRecord(ctx context.Context) (r runs.Record, err error) {
	began := time.Now()
	restore := e.savedState()
	defer func() {
		if err != nil {
			restore()
		}
	}()
	if err := e.Begin(2*uint64(e.done) + 1); err != nil { // stage 2k+1 follows iteration k
		return r, err
	}
	r = runs.Record{Iteration: e.done, PeakRSSMiB: PeakRSS(), ConsensusZ: runs.Unknown()}
	if err := e.findMeans(ctx); err != nil {
		return r, err
	}
	r.ConsensusX, r.ConsensusY = runs.Number(e.means.spreads[0]), runs.Number(e.means.spreads[1])
	if e.means.z != nil {
		r.ConsensusZ = runs.Number(e.means.spreads[2])
	}
	if err := e.addScores(ctx, &r); err != nil {
		return r, err
	}
	if err := e.addExactValues(ctx, &r); err != nil {
		return r, err
	}
	if err := e.addSpectrum(ctx, &r); err != nil {
		return r, err
	}
	spent, err := e.usages(ctx)
	if err != nil {
		return r, err
	}
	if err := e.updateBest(ctx, r); err != nil {
		return r, err
	}
	e.products.SetDamping(float64(r.LeastEigenvalue)) // of iterations up to the next record
	e.lastUsage = e.usageByNumber(spent)
	total := runs.Total(e.lastUsage) // including former members'
	total.Add(e.config.Start.Spent)
	r.Calls, r.Traffic, r.Times = total.Calls, total.Traffic, total.Times
	r.EvaluationSent = e.sent
	r.EvaluationSeconds = time.Since(began).Seconds()
	return r, nil
}

// savedState returns the function that restores the exact solutions, scales and counts as they are.
func (e *evaluator) savedState() (restore func()) {
	solvers, pairs := e.solverState()
	if e.adoptablePairs() == nil { // else the next solve takes over the method's pairs
		solvers = append(solvers, pairs...)
	}
	var before [][]float64 // copied only if a solve will change them, as they take megabytes
	if e.config.ExactAt(e.done) {
		for _, s := range solvers {
			before = append(before, slices.Clone(s.Value))
		}
	}
	sent, scales := e.sent, e.Scales()
	return func() {
		e.SetScales(scales)
		for i, v := range before {
			copy(solvers[i].Value, v)
		}
		e.sent = sent
	}
}

// addScores adds the losses and accuracies at x̄ and ȳ to a record.
func (e *evaluator) addScores(ctx context.Context, r *runs.Record) error {
	s, err := e.problem.scores(ctx, e.Group, e.means.fit())
	r.TrainLoss, r.TrainAccuracy = s.Train.Numbers()
	r.ValLoss, r.ValAccuracy = s.Val.Numbers()
	r.HoldoutLoss, r.HoldoutAccuracy = s.Holdout.Numbers()
	r.TestLoss, r.TestAccuracy = s.Test.Numbers()
	return err
}

// addSpectrum adds the least eigenvalue of the averaged Hessian at x̄ and ȳ to a record, where it
// is due.
func (e *evaluator) addSpectrum(ctx context.Context, r *runs.Record) error {
	r.LeastEigenvalue = runs.Unknown()
	if !e.config.LeastEigenvalueAt(e.done) {
		return nil
	}
	least, err := leastOfMean(ctx, e.Group, len(e.means.y), func(i int, dst, v []float64) error {
		return e.problem.oracle(i).HVP(dst, e.means.x, e.means.y, v, allExamples)
	})
	r.LeastEigenvalue = runs.Number(least)
	return err
}

// updateBest updates the best iterate, as defined by [Best], with a record. The first record and,
// if nothing judges iterates, every record becomes the best. Some records may lack Φ; one that has
// it is better than these. With held-out examples, the newest iterate becomes the best unless its
// loss exceeds the least by more than a standard error; a larger rise is counted.
func (e *evaluator) updateBest(ctx context.Context, r runs.Record) error {
	c := &e.bestState
	by, value, rose := byNothing, runs.Unknown(), 0.0
	switch {
	case e.config.Newest:
	case r.HoldoutLoss.Known():
		by, value = byHeldOut, r.HoldoutLoss
	case e.everExact:
		by, value = byPhi, r.Phi
	case r.ValLoss.Known():
		by, value = byValidation, r.ValLoss
	}
	best, least := leastIsBest, c.least.value[1]
	isFirst := c.head[headBest] == 0
	isLess := float64(value) < least || value.Known() && math.IsNaN(least)
	switch {
	case isFirst, isLess, by == byNothing:
		c.least.set(&e.means, r.Iteration, value)
	case by == byHeldOut && e.problem.Each != nil:
		held, err := e.problem.compareSets(ctx, "held-out losses of two iterates", e.Group, e.means.fit(), e.problem,
			Fit{X: c.least.x, Y: c.least.y}, HoldoutSet)
		if err != nil {
			return err
		}
		if held[0].LossChange <= held[0].LossError {
			c.newest.set(&e.means, r.Iteration, value)
			best = newestIsBest
		} else if rises(held[0]) {
			rose = c.head[headRose] + 1
		}
	}
	copy(c.head, []float64{float64(by), best, rose})
	return nil
}

// best returns the best iterate so far.
func (e *evaluator) best() Best {
	c := e.bestState
	i := c.least
	switch c.head[headBest] {
	case 0:
		return Best{Value: runs.Unknown()}
	case newestIsBest:
		i = c.newest
	}
	best := Best{slices.Clone(i.x), slices.Clone(i.y), nil, int(i.value[0]), criteria[int(c.head[headBy])],
		runs.Number(i.value[1]), int(c.head[headRose])}
	if e.means.z != nil {
		best.Z = slices.Clone(i.z)
	}
	return best
}
