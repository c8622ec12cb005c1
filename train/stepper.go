package train

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"dsbo"
	"dsbo/algo"
	"dsbo/internal/linalg"
	"dsbo/network"
)

// ErrInterrupted is the error of [Run] when its context ends: the state after a whole iteration is
// in the checkpoint, if there is a folder. It matches context.Canceled too.
var ErrInterrupted error = interruption{}

type interruption struct{}

func (interruption) Error() string        { return "interrupted" }
func (interruption) Is(target error) bool { return target == context.Canceled }

// A stepper is the agents of this process with their ends of the exchange. It runs them from
// boundary to boundary.
type stepper struct {
	*network.Group
	layout
	exchange    network.Team   // between the agents
	close       func()         // ends the exchange, if it was made here
	products    *linalg.Matrix // the matrix of the agents' products
	agents      []*agent       // the agents by their numbers; nil for agents of other processes
	alike       bool           // all agents have the same state, by the same bits
	shared      *shared        // the agents that one method serves; nil: each has its own
	maxNorm     float64        // a norm of x, y or z above it counts as divergence
	onIteration func(done int) // called after each iteration, unless nil

	done    int       // iterations done
	seconds float64   // wall time of the iterations done
	times   []float64 // milliseconds of each iteration of this process's first agent
}

// newStepper makes the agents of a problem that are in this process, each with its oracle and its
// method, by its number in the roster, or all with the method of the first one, where that can
// serve them all.
func newStepper(p Problem, w *network.Matrix,
	method func(number int) (dsbo.Algorithm, error)) (*stepper, error) {
	g, err := p.group()
	if err != nil {
		return nil, err
	}
	s := &stepper{Group: g, layout: p.layout(g.Local()), exchange: p.Team, close: func() {},
		products: linalg.NewMatrix(p.Matrix), agents: make([]*agent, g.N())}
	if s.exchange == nil {
		local := network.NewLocal(w)
		s.exchange, s.close = local, local.Close
	}
	averages, err := network.NewAverages(s.exchange, w, p.Average)
	if err == nil {
		err = s.join(p, averages, method)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	s.alike = algo.TraitsOf(s.method()).Alike
	return s, nil
}

// join makes the agents of this process, each with its method, oracle and end of the exchange. If
// the method can serve several agents and there are several, all share the first one's.
func (s *stepper) join(p Problem, averages *network.Averages,
	method func(number int) (dsbo.Algorithm, error)) error {
	var ends []*network.Averager
	for _, i := range s.Local() {
		ends = append(ends, averages.Agent(i))
	}
	together := averages.Together(ends)
	for k, i := range s.Local() {
		var m dsbo.Algorithm
		if s.shared != nil {
			m = s.method()
		} else {
			var err error
			if m, err = method(s.Number(i)); err != nil {
				return err
			}
			if k == 0 && len(ends) > 1 && mayShare(m) {
				s.shared = &shared{together: together}
			}
		}
		a, err := newAgent(s.Number(i), m, p.Oracles[i], s.products, ends[k], p.apart)
		if err != nil {
			return err
		}
		if s.agents[i] = a; s.shared != nil {
			s.shared.add(a)
		}
	}
	return nil
}

// method returns the method that the first agent of this process runs.
func (s *stepper) method() dsbo.Algorithm { return s.agents[s.Local()[0]].alg }

// advance runs the agents until limit iterations are done, or until they are interrupted or one
// diverges. It returns whether the run must stop, and the first divergence. Each agent runs in a
// goroutine; agents that share a method need one for all.
func (s *stepper) advance(ctx context.Context, limit int) (stop bool, first *dsbo.DivergedError, err error) {
	g := &gate{limit: s.iterationLimit(s.done, limit), entered: s.done, fixed: !s.stopsTogether()}
	g.ctx, g.stop = context.WithCancel(s.collectiveContext(ctx))
	defer g.stop()
	inner, cancel := s.stepContext(ctx)
	defer cancel()
	errs := make([]error, len(s.agents))
	var wg sync.WaitGroup
	start := time.Now()
	for _, i := range s.Local() {
		var a stepping = s.agents[i]
		if s.shared != nil {
			a = s.shared
		}
		wg.Go(func() {
			if turns, ok := s.exchange.(network.TurnTeam); ok && s.shared == nil {
				turns.BeginTurns(inner, i)
				defer turns.EndTurns()
			}
			s.runAgent(inner, s.agents[i], a, g, &errs[i])
		})
		if s.shared != nil {
			break
		}
	}
	wg.Wait()
	s.done = s.agents[s.Local()[0]].k
	stop, first, err = s.agree(ctx, s, errs)
	s.seconds += time.Since(start).Seconds()
	return stop && first == nil, first, err
}

// A stepping is an agent, or several that one method serves, in an iteration.
type stepping interface {
	// begin prepares for an iteration, and returns the oracle and the mixer of its Step.
	begin(ctx context.Context) (dsbo.Oracle, dsbo.Mixer)
	end(took time.Duration, err error, maxNorm float64) error
}

// runAgent runs one agent, together with the agents that its method also serves, from one boundary
// to the next. It sets failure to the first divergence, or to the error that ended it. After a
// divergence it finishes the iterations that other agents have begun, since they need its vectors.
func (s *stepper) runAgent(ctx context.Context, a *agent, all stepping, g *gate, failure *error) {
	for g.mayBegin(a.k) {
		o, m := all.begin(ctx)
		start := time.Now()
		err := a.alg.Step(ctx, a.k, o, m)
		err = all.end(time.Since(start), err, s.maxNorm)
		switch {
		case a.diverged(err):
			g.stop()             // no further iteration begins
			if *failure == nil { // of the first iteration in which it diverged
				*failure = err
			}
		case err != nil:
			s.fail(s.exchange, err)
			*failure = err
			return
		}
		if a == s.agents[s.Local()[0]] {
			s.times = append(s.times, a.lastStep.Seconds()*1000)
			if s.onIteration != nil {
				s.onIteration(a.k)
			}
		}
	}
}

// earliest returns the divergence of the earliest iteration, of several the one of the lowest
// agent, so that it does not depend on which agent was faster; nil if there is none.
func earliest(errs []error) (first *dsbo.DivergedError) {
	for _, err := range errs {
		if d := (*dsbo.DivergedError)(nil); errors.As(err, &d) && (first == nil || d.Iteration < first.Iteration) {
			first = d
		}
	}
	return first
}

// failure returns the first error that is not a divergence. Errors of the exchange come last: when
// one agent fails, the exchange fails for all others, and the cause is the interesting error.
func (s *stepper) failure(errs []error) (failed error) {
	for i, err := range errs {
		switch {
		case err == nil || s.agents[i].diverged(err):
		case !s.agents[i].mixer.failed:
			return err
		case failed == nil:
			failed = err
		}
	}
	return failed
}

// interruption returns the error of iterations that ended with err: where ctx has ended, that
// is why.
func (s *stepper) interruption(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return fmt.Errorf("%w in iteration %d: the checkpoint before it stands", ErrInterrupted, s.done)
}

// A gate lets agents into iterations, and stops all of them after the same one: they depend on each
// other's exchanges, so an iteration that one has begun all must end.
type gate struct {
	ctx     context.Context // after whose end no iteration opens
	stop    func()          // ends ctx
	mu      sync.Mutex
	limit   int // iterations from here on are closed
	entered int // the highest iteration that an agent has begun, plus 1
	// the agents of other processes begin all iterations up to limit, and need this process's
	// agents
	fixed bool
}

// mayBegin reports whether an agent may begin iteration k. Once ctx has ended only iterations that
// an agent has begun already are open to the others.
func (g *gate) mayBegin(k int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ctx.Err() != nil && !g.fixed {
		g.limit = min(g.limit, g.entered)
	}
	if k >= g.limit {
		return false
	}
	g.entered = max(g.entered, k+1)
	return true
}
