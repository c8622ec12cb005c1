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

// A stepper is the agents of this process with their ends of the exchange. It runs them between
// boundaries at which all agents stand still.
type stepper struct {
	*group
	exchange    network.Team
	close       func()         // ends the exchange, if it was made here
	products    *linalg.Matrix // what the agents' products are with
	agents      []*agent       // the agents by their numbers; nil for agents of other processes
	alike       bool           // all agents have the same state, by the same bits
	maxNorm     float64        // a norm of x, y or z above it counts as divergence; 0: no norm does
	onIteration func(done int)

	done    int       // iterations done
	seconds float64   // wall time of the iterations done
	times   []float64 // milliseconds of each iteration of this process's first agent
}

// newStepper makes the agents of a problem that are in this process, each with its algorithm
// and oracle.
func newStepper(p Problem, w *network.Matrix,
	member func(i int) (dsbo.Algorithm, dsbo.Oracle, error)) (*stepper, error) {
	g, err := p.group()
	if err != nil {
		return nil, err
	}
	s := &stepper{group: g, exchange: p.Team, close: func() {}, products: linalg.NewMatrix(p.Matrix),
		agents: make([]*agent, g.N())}
	if s.exchange == nil {
		local := network.NewLocal(w)
		s.exchange, s.close = local, local.Close
	}
	averages, err := network.NewAverages(s.exchange, w, p.Average)
	if err != nil {
		s.close()
		return nil, err
	}
	for _, i := range s.Local() {
		a, o, err := member(i)
		if err != nil {
			s.close()
			return nil, err
		}
		s.agents[i] = newAgent(p.agentNumber(i), a, o, s.products, averages.Agent(i))
	}
	// by Mix alone averages differ by their rounding
	s.alike = algo.TraitsOf(s.method()).Alike && !p.Average.ByMix
	return s, nil
}

// advance runs the agents up to iteration limit, or to the one in which they are interrupted or one
// diverges. It reports whether the run is interrupted, and the first divergence.
func (s *stepper) advance(ctx context.Context, limit int) (stop bool, first *dsbo.DivergedError, err error) {
	g := &gate{ctx: s.collectiveContext(ctx), limit: s.iterationLimit(s.done, limit), entered: s.done}
	inner, cancel := s.stepContext(ctx)
	defer cancel()
	errs := make([]error, len(s.agents))
	var wg sync.WaitGroup
	start := time.Now()
	for _, i := range s.Local() {
		wg.Add(1)
		go s.runAgent(inner, s.agents[i], g, &wg, &errs[i])
	}
	wg.Wait()
	s.done = s.agents[s.Local()[0]].k
	stop, first, err = s.agree(ctx, s, errs)
	s.seconds += time.Since(start).Seconds()
	return stop && first == nil, first, err
}

// runAgent runs one agent from one boundary to the next, in the agent's own goroutine. It writes
// the error that ends it, or in which the agent diverged.
func (s *stepper) runAgent(ctx context.Context, a *agent, g *gate, done *sync.WaitGroup, failure *error) {
	defer done.Done()
	for g.mayBegin(a.k) {
		a.begin(ctx)
		start := time.Now()
		err := a.alg.Step(ctx, a.k, a.metered, &a.mixer)
		err = a.end(time.Since(start), err, s.maxNorm)
		switch {
		case a.diverged(err):
			// The others are in the same iteration and need this agent to its end.
			g.stop()
			if *failure == nil {
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

// failure returns an error of an agent that is no divergence, if there is one. One that is not
// about the exchange comes first: the exchange ends for all agents when one of them fails.
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
	ctx     context.Context // context whose end stops all agents
	mu      sync.Mutex
	limit   int // iterations from here on are closed
	entered int // the highest iteration that an agent has begun, plus 1
}

// mayBegin reports whether an agent may begin iteration k.
func (g *gate) mayBegin(k int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ctx.Err() != nil {
		g.limit = min(g.limit, g.entered)
	}
	if k >= g.limit {
		return false
	}
	g.entered = max(g.entered, k+1)
	return true
}

// stop closes all iterations that nobody has begun.
func (g *gate) stop() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.limit = min(g.limit, g.entered)
}
