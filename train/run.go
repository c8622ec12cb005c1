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
	"dsbo/internal/vec"
	"dsbo/network"
)

// ErrInterrupted is what [Run] returns when its context ends: the state after a whole iteration is in
// the checkpoint, if there is a folder. It matches context.Canceled too.
var ErrInterrupted error = interruption{}

type interruption struct{}

func (interruption) Error() string        { return "interrupted" }
func (interruption) Is(target error) bool { return target == context.Canceled }

// A Result is what a run leaves behind.
type Result struct {
	Records        []Record  // from iteration 0 on, those before a resume included
	X, Y           []float64 // x̄ and ȳ
	Iterations     int       // done
	Seconds        float64   // of the clock, in iterations
	MsPerIteration Number    // median over the iterations of this process
	Usage          []Usage   // by agent
}

// Last returns the newest record, the zero one if there is none.
func (r *Result) Last() Record {
	if len(r.Records) == 0 {
		return Record{}
	}
	return r.Records[len(r.Records)-1]
}

// Run runs a method on all agents of a problem, each in its own goroutine, for c.K iterations.
// Every c.EvalEvery of them the agents are stopped and evaluated; that time does not count as theirs.
// Same configuration, same bits: neither the number of processors nor where a run was stopped and resumed
// matters.
//
// When ctx ends, the agents finish their iteration, the checkpoint is written, and the error is
// [ErrInterrupted]. Numbers that leave the finite ones end the run with a [*dsbo.DivergedError]; the
// checkpoint before stays. The result is never nil after the run has begun.
func Run(ctx context.Context, c Config) (*Result, error) {
	r, err := newRunner(c)
	if err != nil {
		return nil, err
	}
	defer r.exchange.Close()
	if err := r.open(); err != nil {
		return nil, err
	}
	err = r.loop(ctx)
	if e := r.metrics.close(); err == nil {
		err = e
	}
	return r.result(), err
}

// A runner is one call of Run.
type runner struct {
	Config
	exchange *network.Local
	agents   []*Agent
	eval     *evaluator
	metrics  *metrics

	done    int // iterations
	records []Record
	seconds float64
	times   []time.Duration // of agent 0's iterations
	recent  int             // times before the newest record
}

func newRunner(c Config) (*runner, error) {
	c, err := c.resolve()
	if err != nil {
		return nil, err
	}
	r := &runner{Config: c, exchange: network.NewLocal(c.W)}
	for i, o := range c.Problem.Oracles {
		a, err := algo.New(c.Method, c.p, c.q, c.Params)
		if err != nil {
			return nil, err
		}
		agent := NewAgent(i, a, o, r.exchange.Mixer(i), c.MaxNorm)
		if c.Problem.Start != nil {
			agent.Start(c.Problem.Start)
		}
		r.agents = append(r.agents, agent)
	}
	r.eval, err = newEvaluator(&c)
	return r, err
}

// loop goes from boundary to boundary.
func (r *runner) loop(ctx context.Context) error {
	for {
		if r.due(r.EvalEvery) && r.lastRecord() < r.done {
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
			return nil
		}
		if err := r.advance(ctx); err != nil {
			return err
		}
		if ctx.Err() != nil && r.done < r.K {
			return r.interrupted()
		}
	}
}

// due reports whether something that happens every so many iterations, and at the end, happens now.
func (r *runner) due(every int) bool { return r.done%every == 0 || r.done == r.K }

func (r *runner) lastRecord() int {
	if len(r.records) == 0 {
		return -1
	}
	return r.records[len(r.records)-1].Iteration
}

// next returns the next iteration before which something is due.
func (r *runner) next() int {
	after := func(every int) int { return (r.done/every + 1) * every }
	return min(after(r.EvalEvery), after(r.CheckpointEvery), r.K)
}

func (r *runner) evaluate(ctx context.Context) error {
	rec, err := r.eval.at(ctx, r.agents)
	if err != nil {
		if ctx.Err() != nil {
			return r.interrupted()
		}
		return fmt.Errorf("evaluation after %d iterations: %w", r.done, err)
	}
	rec.Seconds, rec.MsPerIteration = r.seconds, median(r.times[r.recent:])
	r.recent = len(r.times)
	r.records = append(r.records, rec)
	if err := r.metrics.write(rec); err != nil {
		return err
	}
	if r.OnRecord != nil {
		r.OnRecord(rec)
	}
	return nil
}

// advance runs all agents up to the next boundary, or to the iteration at which they are interrupted or
// one diverges.
func (r *runner) advance(ctx context.Context) error {
	g := newGate(ctx, r.done, r.next())
	inner := context.WithoutCancel(ctx) // an interrupted iteration is finished
	errs := make([]error, len(r.agents))
	var wg sync.WaitGroup
	start := time.Now()
	for i, a := range r.agents {
		wg.Go(func() { errs[i] = r.drive(inner, a, g) })
	}
	wg.Wait()
	r.seconds += time.Since(start).Seconds()
	r.done = r.agents[0].Iteration()
	return r.verdict(ctx, errs)
}

// drive is the goroutine of one agent between two boundaries.
func (r *runner) drive(ctx context.Context, a *Agent, g *gate) error {
	var diverged error
	for g.enter(a.Iteration()) {
		err := a.Step(ctx)
		switch {
		case errors.Is(err, dsbo.ErrDiverged):
			// The others are in the same iteration and need this agent to its end.
			g.stop()
			if diverged == nil {
				diverged = err
			}
		case err != nil:
			r.exchange.Fail(err)
			return err
		}
		if a == r.agents[0] {
			r.times = append(r.times, a.Last())
			if r.OnIteration != nil {
				r.OnIteration(a.Iteration())
			}
		}
	}
	return diverged
}

// verdict picks the error to return: of divergences the earliest, then that of the lowest agent, so that it does not
// depend on who was faster; else one that is not about the exchange, which ends for all when one agent fails.
func (r *runner) verdict(ctx context.Context, errs []error) error {
	var first *dsbo.DivergedError
	for _, err := range errs {
		if d := (*dsbo.DivergedError)(nil); errors.As(err, &d) && (first == nil || d.Iteration < first.Iteration) {
			first = d
		}
	}
	if first != nil {
		first.Advice = r.advice(ctx, first.Iteration)
		return first
	}
	var failed error
	for i, err := range errs {
		if err != nil && !r.agents[i].mixer.failed {
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
		var err error
		if l, err = Curvature(ctx, r.Problem.Oracles, x, y); err != nil {
			return ""
		}
	}
	return stepAdvice(r.Method, r.Params, l, k)
}

func (r *runner) interrupted() error {
	if err := r.save(); err != nil {
		return fmt.Errorf("%w after %d iterations, and %w", ErrInterrupted, r.done, err)
	}
	return fmt.Errorf("%w after %d of %d iterations", ErrInterrupted, r.done, r.K)
}

func (r *runner) result() *Result {
	res := &Result{Records: r.records, Iterations: r.done, Seconds: r.seconds, MsPerIteration: median(r.times)}
	res.X, res.Y = make([]float64, r.p), make([]float64, r.q)
	var xs, ys [][]float64
	for _, a := range r.agents {
		xs, ys = append(xs, a.Algorithm().X()), append(ys, a.Algorithm().Y())
		res.Usage = append(res.Usage, a.Usage())
	}
	vec.Mean(res.X, xs...)
	vec.Mean(res.Y, ys...)
	return res
}

// median returns the median in milliseconds, not known for none.
func median(times []time.Duration) Number {
	if len(times) == 0 {
		return unknown
	}
	s := slices.Sorted(slices.Values(times))
	return Number((s[(len(s)-1)/2] + s[len(s)/2]).Seconds() * 500)
}
