package train

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"dsbo"
	"dsbo/algo"
	"dsbo/network"
	"dsbo/runs"
)

// ErrInterrupted is what [Run] returns when its context ends: the state after a whole iteration is in
// the checkpoint, if there is a folder. It matches context.Canceled too.
var ErrInterrupted error = interruption{}

type interruption struct{}

func (interruption) Error() string        { return "interrupted" }
func (interruption) Is(target error) bool { return target == context.Canceled }

// A Result is what a run leaves behind.
type Result struct {
	Records        []runs.Record // from iteration 0 on, those before a resume included
	X, Y           []float64     // x̄ and ȳ; of a run over several processes nil before its end, as is Usage
	Iterations     int           // done
	Seconds        float64       // of the clock, in iterations
	MsPerIteration runs.Number   // median over the iterations of this process
	Usage          []runs.Usage  // by agent
}

// Last returns the newest record, the zero one if there is none.
func (r *Result) Last() runs.Record {
	if len(r.Records) == 0 {
		return runs.Record{}
	}
	return r.Records[len(r.Records)-1]
}

// Run runs a method on all agents of a problem, each in its own goroutine, for c.K iterations.
// Every c.EvalEvery of them the agents are stopped and evaluated; that time does not count as theirs.
// Same configuration, same bits: neither the number of processors nor where a run was stopped and resumed
// matters.
//
// Of a run over several processes, each has some of the agents ([Problem].Team) and calls Run with the same
// configuration. The numbers are those of one process. Where agents may be lost and come back, the error may be a
// [*network.RollbackError]: the caller begins anew from an earlier [Point].
//
// When ctx ends, the agents finish their iteration, the checkpoint is written, and the error is
// [ErrInterrupted]. Numbers that leave the finite ones end the run with a [*dsbo.DivergedError]; the
// checkpoint before stays. The result is never nil after the run has begun.
func Run(ctx context.Context, c Config) (*Result, error) {
	r, err := newRunner(c)
	if err != nil {
		return nil, err
	}
	defer r.close()
	if err := r.open(); err != nil {
		return nil, err
	}
	err = r.loop(ctx)
	if e := r.metrics.Close(); err == nil {
		err = e
	}
	return &r.result, err
}

// A runner is one call of Run.
type runner struct {
	Config
	group
	exchange network.Team
	close    func()
	agents   []*agent // nil for those of other processes
	eval     *evaluator
	metrics  *runs.Metrics
	result   Result

	done      int // iterations
	evaluated int // the iteration of the newest record; -1: none
	round     int // the next exchange, when the agents last stood still
	records   []runs.Record
	seconds   float64
	times     []time.Duration // of the first agent's iterations
	recent    int             // times before the newest record
}

func newRunner(c Config) (*runner, error) {
	c, err := c.resolve()
	if err != nil {
		return nil, err
	}
	r := &runner{Config: c, exchange: c.Problem.Team, close: func() {}, evaluated: -1, agents: make([]*agent, len(c.Problem.Oracles))}
	if r.group, err = c.Problem.group(); err != nil {
		return nil, err
	}
	if r.exchange == nil {
		local := network.NewLocal(c.W)
		r.exchange, r.close = local, local.Close
	}
	for _, i := range r.local {
		a, err := algo.New(c.Method, c.p, c.q, c.Params)
		if err != nil {
			return nil, err
		}
		r.agents[i] = newAgent(i, a, c.Problem.Oracles[i], r.exchange.Mixer(i), c.W.Sends(i), c.MaxNorm)
		if c.Problem.Start != nil {
			r.agents[i].start(c.Problem.Start)
		}
	}
	r.eval, err = newEvaluator(&c, r.group)
	return r, err
}

// loop goes from boundary to boundary.
func (r *runner) loop(ctx context.Context) error {
	r.mark()
	for {
		if r.due(r.EvalEvery) && r.evaluated < r.done {
			if err := r.evaluate(ctx); err != nil {
				return err
			}
		}
		if r.due(r.CheckpointEvery) {
			if err := r.save(); err != nil {
				return err
			}
		}
		if r.done == r.K {
			return r.conclude(ctx)
		}
		stop, err := r.advance(ctx)
		if err != nil {
			return err
		}
		if stop && r.done < r.K {
			return r.interrupted(ctx)
		}
	}
}

// mark keeps what a later look at the run is to find: the agents stand still, before exchange round.
func (r *runner) mark() {
	r.round = r.group.round()
	r.result = Result{Records: r.records, Iterations: r.done, Seconds: r.seconds, MsPerIteration: median(r.times)}
}

// due reports whether something that happens every so many iterations, and at the end, happens now.
func (r *runner) due(every int) bool { return r.done%every == 0 || r.done == r.K }

// next returns the next iteration before which something is due.
func (r *runner) next() int {
	after := func(every int) int { return (r.done/every + 1) * every }
	return min(after(r.EvalEvery), after(r.CheckpointEvery), r.K)
}

func (r *runner) evaluate(ctx context.Context) error {
	rec, err := r.eval.at(r.collectiveContext(ctx), r.agents)
	if err != nil {
		if ctx.Err() != nil {
			return r.interrupted(ctx)
		}
		return fmt.Errorf("evaluation after %d iterations: %w", r.done, err)
	}
	rec.Seconds, rec.MsPerIteration = r.seconds, median(r.times[r.recent:])
	r.recent = len(r.times)
	r.records, r.evaluated = append(r.records, rec), r.done
	if err := r.metrics.Write(rec); err != nil {
		return err
	}
	r.mark()
	if r.OnRecord != nil {
		r.OnRecord(rec)
	}
	return nil
}

// advance runs the agents up to the next boundary, or to the iteration at which they are interrupted or
// one diverges. It reports whether they are to stop.
func (r *runner) advance(ctx context.Context) (stop bool, err error) {
	g := newGate(r.collectiveContext(ctx), r.done, r.stop(r.done, r.next()))
	inner, cancel := r.stepContext(ctx)
	defer cancel()
	errs := make([]error, len(r.agents))
	var wg sync.WaitGroup
	start := time.Now()
	for _, i := range r.local {
		wg.Go(func() { errs[i] = r.drive(inner, r.agents[i], g) })
	}
	wg.Wait()
	r.done = r.agents[r.local[0]].k
	stop, err = r.decide(ctx, errs)
	r.seconds += time.Since(start).Seconds()
	if err == nil {
		r.mark()
	}
	return stop, err
}

// drive is the goroutine of one agent between two boundaries.
func (r *runner) drive(ctx context.Context, a *agent, g *gate) error {
	var diverged error
	for g.enter(a.k) {
		err := a.step(ctx)
		switch {
		case a.diverged(err):
			// The others are in the same iteration and need this agent to its end.
			g.stop()
			if diverged == nil {
				diverged = err
			}
		case err != nil:
			r.fail(r.exchange, err) // the others wait for this agent
			return err
		}
		if a == r.agents[r.local[0]] {
			r.times = append(r.times, a.last)
			if r.OnIteration != nil {
				r.OnIteration(a.k)
			}
		}
	}
	return diverged
}

// decide returns whether the agents are to stop, and the error of the iterations just done.
func (r *runner) decide(ctx context.Context, errs []error) (stop bool, err error) {
	stop, first, err := r.agree(ctx, r, errs)
	if err == nil && first != nil {
		first.Advice = r.advice(ctx, first.Iteration)
		return false, first
	}
	return stop, err
}

// earliest returns of divergences the earliest, then that of the lowest agent, so that it does not depend on who was
// faster; nil if there are none.
func earliest(errs []error) (first *dsbo.DivergedError) {
	for _, err := range errs {
		if d := (*dsbo.DivergedError)(nil); errors.As(err, &d) && (first == nil || d.Iteration < first.Iteration) {
			first = d
		}
	}
	return first
}

// failure returns the error that is no divergence, if there is one.
func (r *runner) failure(errs []error) error {
	others := slices.Clone(errs)
	for i, err := range errs {
		if err != nil && r.agents[i].diverged(err) {
			others[i] = nil
		}
	}
	return cause(others, func(i int) bool { return r.agents[i].mixer.failed })
}

// cause returns of the agents' errors rather one that is not about the exchange, which ends for all when one agent fails.
func cause(errs []error, exchange func(i int) bool) error {
	var failed error
	for i, err := range errs {
		if err != nil && !exchange(i) {
			return err
		}
		if failed == nil {
			failed = err
		}
	}
	return failed
}

// advice says which steps would be stable.
func (r *runner) advice(ctx context.Context, k int) string {
	x, y := r.start()
	l := r.Curvature
	if l == nil {
		l = r.curvature(ctx, r.Problem, x, y)
	}
	if l == nil {
		return ""
	}
	return stepAdvice(r.Method, r.Params, l, k)
}

// interrupted writes the checkpoint of a run that stops before its end.
func (r *runner) interrupted(ctx context.Context) error {
	if err := r.save(); err != nil {
		return fmt.Errorf("%w after %d iterations, and %w", ErrInterrupted, r.done, err)
	}
	if err := r.concludeInterrupted(ctx, r); err != nil {
		return err
	}
	return fmt.Errorf("%w after %d of %d iterations", ErrInterrupted, r.done, r.K)
}

// conclude adds to the result what all agents have to say.
func (r *runner) conclude(ctx context.Context) (err error) {
	r.mark()
	ctx = r.collectiveContext(ctx)
	r.result.X, r.result.Y = make([]float64, r.p), make([]float64, r.q)
	if _, err = r.spread(ctx, r.result.X, r.agents, (*agent).x); err != nil {
		return err
	}
	if _, err = r.spread(ctx, r.result.Y, r.agents, (*agent).y); err != nil {
		return err
	}
	r.result.Usage, err = r.spent(ctx, r.agents)
	return err
}

// median returns the median in milliseconds, not known for none.
func median(times []time.Duration) runs.Number {
	if len(times) == 0 {
		return runs.Unknown()
	}
	s := slices.Sorted(slices.Values(times))
	return runs.Number((s[(len(s)-1)/2] + s[len(s)/2]).Seconds() * 500)
}
