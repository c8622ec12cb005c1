package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"dsbo"
	"dsbo/internal/num"
	"dsbo/internal/wording"
	"dsbo/network"
	"dsbo/runs"
)

// Run runs a method on all agents of a problem, each in its own goroutine, for c.K iterations.
// Every c.EvalEvery of them the agents are stopped and evaluated; that time does not count as
// theirs. The same configuration gives the same bits, whatever the number of processors and
// wherever a run was stopped and resumed.
//
// If members change ([Config.Membership]), records, exact values and the best iterate belong to the
// members at the time, finally to the last epoch's.
//
// Each process of a run over several has some of the agents ([Problem].Team) and calls Run with the
// same configuration. The numbers are the same as of a run in one process. Where agents may be lost
// and come back ([network.Saver]), an error of the exchange has the caller begin anew from an
// earlier [Point].
//
// When ctx ends, the agents finish their iteration, the checkpoint is written, and the error is
// [ErrInterrupted]; an agent that may come back ends at once, and keeps its earlier checkpoint.
// Iterates that become NaN, infinite or too large end the run with a [*dsbo.DivergedError]; the
// earlier checkpoint is kept. The result is never nil after the run has begun.
func Run(ctx context.Context, c Config) (*Result, error) {
	r, err := newRunner(c)
	if err != nil {
		return nil, err
	}
	defer func() { r.close() }() // not r.close alone: an epoch replaces it
	if err := r.openFiles(); err != nil {
		return nil, err
	}
	if r.done == 0 {
		err := r.Problem.CheckStart(r.start())
		if err == nil {
			err = r.checkCentral(ctx)
		}
		if err != nil {
			return nil, errors.Join(err, r.metrics.Close())
		}
	}
	if r.Resume && r.epoch.Number > 0 && r.done == r.epoch.Iteration {
		r.newEpoch = true // write the epoch's first checkpoint (again): some processes may lack it
	}
	if r.Resume && r.OnResume != nil {
		r.OnResume(r.done)
	}
	err = r.atBoundary(ctx, false, nil)
	for err == nil && r.done < r.end {
		var stop bool
		var diverged *dsbo.DivergedError
		if stop, diverged, err = r.advance(ctx, r.nextBoundary()); err == nil {
			err = r.atBoundary(ctx, stop, diverged)
		}
	}
	switch {
	case err == nil:
		err = r.metrics.Truncate() // drops records of a run that has begun anew since
	case !r.stopsTogether() && errors.Is(err, context.Canceled):
		err = r.interruption(ctx, err)
	}
	return &r.result, cmp.Or(err, r.metrics.Close())
}

// newRunner makes the agents and the evaluator of a run, at iteration 0.
func newRunner(c Config) (*runner, error) {
	c, err := c.resolve()
	if err != nil {
		return nil, err
	}
	c.Start.Phi, c.Start.ValLoss = runs.Unknown(), runs.Unknown()
	r := &runner{end: c.K, evaluated: -1}
	return r, r.makeAgents(c, func(int) (dsbo.Algorithm, error) { return c.newMethod() })
}

// atBoundary does what is due between two iterations, while no agent computes: the first checkpoint
// of an epoch, an evaluation, the beginning of the next epoch, and a regular checkpoint. It ends
// the run after a divergence, or if it is interrupted (stop), and concludes it after the last
// iteration.
func (r *runner) atBoundary(ctx context.Context, stop bool, diverged *dsbo.DivergedError) error {
	if diverged != nil {
		diverged.Advice = r.advice(ctx, diverged.Iteration)
		return diverged
	}
	r.updateResult()
	if stop && r.done < r.end {
		return r.stopInterrupted(ctx)
	}
	// Before the evaluation, so that all members have a checkpoint of the epoch's start.
	if r.newEpoch && !r.epochEnds() {
		if err := r.writeCheckpoint(ctx); err != nil {
			return err
		}
	}
	if r.isDue(r.EvalEvery) && r.evaluated < r.done {
		if err := r.evaluate(ctx); err != nil {
			return err
		}
	}
	if r.Patience > 0 && int(r.eval.bestState.head[headRose]) >= r.Patience {
		r.end = r.done
	}
	if r.epochEnds() {
		if err := r.beginEpoch(); err != nil {
			return err
		}
		return r.atBoundary(ctx, false, nil)
	}
	if r.isDue(r.CheckpointEvery) && (r.epoch.Number == 0 || r.done > r.epoch.Iteration) {
		if err := r.writeCheckpoint(ctx); err != nil {
			return err
		}
	}
	if r.done == r.end {
		return r.conclude(ctx)
	}
	err := r.followMembers(ctx)
	if err != nil && ctx.Err() != nil {
		return r.stopInterrupted(ctx)
	}
	return err
}

// updateResult sets the result to the state after the iterations done. No agent computes meanwhile.
func (r *runner) updateResult() {
	r.result = Result{Method: r.method(), Start: r.Start, Best: r.eval.best(), Exact: r.eval.sharedExact,
		Epoch: r.epoch, Records: r.records, Iterations: r.done, Seconds: r.seconds, Evaluation: r.eval.sent,
		MsPerIteration: runs.Number(num.Median(r.times))}
}

// nextBoundary returns the next iteration before which all agents pause.
func (r *runner) nextBoundary() int {
	after := func(every int) int { return (r.done/every + 1) * every }
	due := min(after(r.EvalEvery), after(r.CheckpointEvery), r.K)
	if next := r.epoch.Number; next < len(r.Membership) {
		due = min(due, r.Membership[next].Iteration)
	}
	return due
}

// evaluate makes a record of the agents and writes it to metrics.jsonl.
func (r *runner) evaluate(ctx context.Context) error {
	rec, err := r.eval.makeRecord(r.collectiveContext(ctx))
	if err != nil {
		if ctx.Err() != nil {
			return r.stopInterrupted(ctx)
		}
		return fmt.Errorf("evaluation after %s: %w", wording.Count(r.done, "iteration"), err)
	}
	rec.Epoch = r.epoch.Number
	rec.Seconds, rec.MsPerIteration = r.seconds, runs.Number(num.Median(r.times[r.timesRecorded:]))
	r.timesRecorded = len(r.times)
	r.records, r.evaluated = append(r.records, rec), r.done
	if r.done == 0 {
		r.Start.Phi, r.Start.ValLoss = rec.Phi, rec.ValLoss
	}
	if err := r.metrics.Write(rec); err != nil {
		return err
	}
	r.updateResult()
	if r.OnRecord != nil {
		r.OnRecord(rec)
	}
	return nil
}

// stopInterrupted writes the checkpoint of a run that stops before its end, if all do.
func (r *runner) stopInterrupted(ctx context.Context) error {
	if !r.stopsTogether() {
		return ctx.Err()
	}
	if err := r.writeCheckpoint(ctx); err != nil {
		return fmt.Errorf("%w after %s, and %w", ErrInterrupted, wording.Count(r.done, "iteration"), err)
	}
	if err := r.concludeInterrupted(ctx, r); err != nil {
		return err
	}
	return fmt.Errorf("%w after %d of %s", ErrInterrupted, r.done, wording.Count(r.K, "iteration"))
}

// conclude adds the averages of x and y over all agents, and each agent's cost, to the result. It
// then hands the exact solver to the caller, whose later averages count in Problem.Sent.
func (r *runner) conclude(ctx context.Context) (err error) {
	ctx = r.collectiveContext(ctx)
	// Even if the last record had these averages: a run that is resumed here has not, and all
	// processes must make the same exchanges.
	if err := r.eval.findMeans(ctx); err != nil {
		return err
	}
	r.result.Evaluation = r.eval.sent
	r.result.X, r.result.Y = slices.Clone(r.eval.means.x), slices.Clone(r.eval.means.y)
	members, err := r.usages(ctx)
	if err != nil {
		return err
	}
	r.result.Usage = r.eval.usageByNumber(members)
	if r.eval.sharedExact != nil && !r.ExactAt(r.done) { // else the last record has adopted them
		r.eval.adoptPairs()
	}
	r.eval.CountIn(cmp.Or(r.Problem.Sent, new(dsbo.Traffic)))
	return r.eval.Begin(network.StageAfterRun)
}
