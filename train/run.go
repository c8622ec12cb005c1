package train

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"dsbo"
	"dsbo/algo"
	"dsbo/internal/num"
	"dsbo/internal/wording"
	"dsbo/network/membership"
	"dsbo/runs"
	"dsbo/train/exact"
)

// ErrInterrupted is what [Run] returns when its context ends: the state after a whole iteration is
// in the checkpoint, if there is a folder. It matches context.Canceled too.
var ErrInterrupted error = interruption{}

type interruption struct{}

func (interruption) Error() string        { return "interrupted" }
func (interruption) Is(target error) bool { return target == context.Canceled }

// A Result is what a run has found when it ends, or is interrupted.
type Result struct {
	Records        []runs.Record    // all records from iteration 0 on, those before a resume included
	WithoutPhi     string           // why Φ of all records is NaN; "": of the records of Config.ExactAt it is known
	X, Y           []float64        // x̄ and ȳ; of a run over several processes nil before its end, as is Usage
	Iterations     int              // iterations done
	Seconds        float64          // wall time in iterations, without evaluations
	MsPerIteration runs.Number      // median over the iterations of this process
	Usage          []runs.Usage     // usage of each agent, by its number in the roster
	Epoch          membership.Epoch // the last that has begun; the zero one without [Config.Membership]
	Evaluation     dsbo.Traffic     // what all agents have sent in evaluations
	Start          Start            // how the run began
	Best           Best             // the best of the iterates that records are of
	// Exact is the solver that found the exact values of the records, at x̄ of the last of them;
	// nil: there are none. It is good for further solves of all agents together, which
	// Problem.Sent counts.
	Exact *exact.Solver
	// Method is what this process's first agent runs: its Cost is the cost of the iterations done.
	Method dsbo.Algorithm
}

// A Start is how a run began, which agents that come back or join did not see.
type Start struct {
	Curvature float64      `json:"curvature,omitzero"` // the largest L_max of an agent, where steps follow it
	Sent      dsbo.Traffic `json:"sent"`               // what all agents have sent to find it
	// Of the record of iteration 0; unknown without one.
	Phi     runs.Number `json:"phi"`
	ValLoss runs.Number `json:"val_loss"`
}

// Last returns the newest record, the zero one if there is none.
func (r *Result) Last() runs.Record {
	if len(r.Records) == 0 {
		return runs.Record{}
	}
	return r.Records[len(r.Records)-1]
}

// Run runs a method on all agents of a problem, each in its own goroutine, for c.K iterations.
// Every c.EvalEvery of them the agents are stopped and evaluated; that time does not count as
// theirs. The same configuration gives the same bits, whatever the number of processors and
// wherever a run was stopped and resumed.
//
// Where members change ([Config.Membership]), records, exact values and the best iterate belong to
// the agents that are there, at the end of the last epoch.
//
// Each process of a run over several has some of the agents ([Problem].Team) and calls Run with the
// same configuration. The numbers are the same as of a run in one process. Where agents may be lost
// and come back, the error may be a [*network.RollbackError]: the caller begins anew from an
// earlier [Point].
//
// When ctx ends, the agents finish their iteration, the checkpoint is written, and the error is
// [ErrInterrupted]. Iterates that become NaN, infinite or too large end the run with a
// [*dsbo.DivergedError]; the checkpoint before stays. The result is never nil after the run
// has begun.
func Run(ctx context.Context, c Config) (*Result, error) {
	r, err := newRunner(c)
	if err != nil {
		return nil, err
	}
	defer func() { r.close() }() // the runner of the last epoch
	if err := r.openFiles(); err != nil {
		return nil, err
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
	if err == nil {
		err = r.metrics.Truncate() // of what a run that has gone back has left after its last record
	}
	if e := r.metrics.Close(); err == nil {
		err = e
	}
	return &r.result, err
}

// A runner is one call of Run. A boundary is a number of iterations after which all agents stand
// still, for an evaluation or a checkpoint: the stepper runs the agents from one to the next, the
// evaluator makes the records there.
type runner struct {
	Config
	*stepper
	eval    *evaluator    // makes records
	metrics *runs.Metrics // the file of records
	result  Result        // under way

	end           int           // the iteration after which the run ends: K, or earlier by Patience
	evaluated     int           // the iteration of the newest record; -1: none
	newEpoch      bool          // whether an epoch has begun since the newest checkpoint
	round         int           // the next exchange, when the agents last stood still
	records       []runs.Record // of the run so far
	timesRecorded int           // number of iteration times that the newest record, and those before, have used
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

// makeAgents makes the agents of c's epoch, with the methods that they begin with, by their numbers
// in the roster, and the evaluator.
func (r *runner) makeAgents(c Config, method func(number int) (dsbo.Algorithm, error)) (err error) {
	r.Config = c
	r.stepper, err = newStepper(c.Problem, c.W, func(i int) (dsbo.Algorithm, error) {
		return method(c.Problem.agentNumber(i))
	})
	if err != nil {
		return err
	}
	r.onIteration, r.maxNorm = c.OnIteration, cmp.Or(c.MaxNorm, 1e9)
	r.eval, err = newEvaluator(&c, r.stepper)
	return err
}

// newMethod returns an agent's method at the start.
func (c *Config) newMethod() (dsbo.Algorithm, error) {
	a := algo.Clone(c.Method)
	if err := a.Init(c.p, c.q, c.K); err != nil {
		return nil, err
	}
	copy(a.X(), c.StartX)
	if c.Problem.Start != nil {
		setStart(a, c.Problem.Start)
	}
	return a, nil
}

// atBoundary evaluates the agents and writes a checkpoint where that is due between two iterations,
// while the agents stand still. stop says that the run is interrupted, diverged that an
// agent diverged.
func (r *runner) atBoundary(ctx context.Context, stop bool, diverged *dsbo.DivergedError) error {
	if diverged != nil {
		diverged.Advice = r.advice(ctx, diverged.Iteration)
		return diverged
	}
	r.updateResult()
	if stop && r.done < r.end {
		return r.stopInterrupted(ctx)
	}
	// before anything is found in the epoch: all have the same, however soon the next one begins
	if r.newEpoch && !r.epochEnds() {
		if err := r.writeCheckpoint(); err != nil {
			return err
		}
	}
	if r.isDue(r.EvalEvery) && r.evaluated < r.done {
		if err := r.evaluate(ctx); err != nil {
			return err
		}
	}
	if r.Patience > 0 && r.eval.worseRecords() >= r.Patience {
		r.end = r.done
	}
	if r.epochEnds() {
		if err := r.beginEpoch(); err != nil {
			return err
		}
		return r.atBoundary(ctx, false, nil)
	}
	if r.isDue(r.CheckpointEvery) && (r.epoch.Number == 0 || r.done > r.epoch.Iteration) {
		if err := r.writeCheckpoint(); err != nil {
			return err
		}
	}
	if r.done == r.end {
		return r.conclude(ctx)
	}
	return nil
}

// updateResult makes the result cover the iterations done. The agents stand still.
func (r *runner) updateResult() {
	r.round = r.layout.round()
	r.result = Result{Method: r.method(), Start: r.Start, Best: r.eval.best(), Exact: r.eval.sharedExact,
		Epoch: r.epoch, Records: r.records, Iterations: r.done, Seconds: r.seconds, Evaluation: r.eval.sent,
		MsPerIteration: runs.Number(num.Median(r.times)), WithoutPhi: r.WithoutPhi()}
}

// isDue reports whether an evaluation or a checkpoint, which comes every few iterations and at the
// end, comes now.
func (r *runner) isDue(every int) bool { return r.done%every == 0 || r.done == r.end }

// nextBoundary returns the next iteration before which the agents have to stand still.
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

// stopInterrupted writes the checkpoint of a run that stops before its end.
func (r *runner) stopInterrupted(ctx context.Context) error {
	if err := r.writeCheckpoint(); err != nil {
		return fmt.Errorf("%w after %s, and %w", ErrInterrupted, wording.Count(r.done, "iteration"), err)
	}
	if err := r.concludeInterrupted(ctx, r); err != nil {
		return err
	}
	return fmt.Errorf("%w after %d of %s", ErrInterrupted, r.done, wording.Count(r.K, "iteration"))
}

// conclude adds the averages of x and y over all agents, and what each has spent, to the result.
func (r *runner) conclude(ctx context.Context) (err error) {
	ctx = r.collectiveContext(ctx)
	// Also where the averages are known: a run that is resumed here does not have them, and has to
	// exchange the same.
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
	return r.eval.detachSolver(r.Problem.Sent)
}
