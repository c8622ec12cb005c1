package train

import (
	"context"

	"dsbo"
	"dsbo/network"
	"dsbo/runs"
)

// A layout is all of a run that depends on where its agents are: all in this process ([inProcess]),
// dealt to ranks that start and stop together ([ranks]), or one in each process, which may be lost
// and come back ([restartable]). No other code of a run asks which of these it is in.
type layout interface {
	// round returns the number of the next exchange, which a checkpoint holds; 0 where exchanges
	// have none.
	round() int
	// sharedUsage returns the part of an agent's usage that the other processes are told.
	sharedUsage(u runs.Usage) runs.Usage
	// divergenceIsShared reports whether all processes know that the run has diverged, so that they
	// can find the curvature together.
	divergenceIsShared() bool

	// collectiveContext returns the context of what all processes do together.
	collectiveContext(ctx context.Context) context.Context
	// stepContext returns the context of the agents' iterations, which they finish after ctx has
	// ended: they need each other's exchanges.
	stepContext(ctx context.Context) (context.Context, context.CancelFunc)
	// iterationLimit returns the iteration before which the processes agree, when something is due
	// before iteration due.
	iterationLimit(done, due int) int
	// agree returns whether all agents are to stop, or the first of them that diverged, after
	// iterations that ended with errs.
	agree(ctx context.Context, s *stepper, errs []error) (stop bool, first *dsbo.DivergedError, err error)
	// fail ends the exchange of all agents because of err, where an agent that fails ends the run.
	fail(exchange network.Team, err error)
	// concludeInterrupted adds the averages and the usage of all agents to an interrupted run's
	// result, if all agents are here.
	concludeInterrupted(ctx context.Context, r *runner) error

	// writesMetrics reports whether this process writes metrics.jsonl.
	writesMetrics() bool
	// checkpointAgents returns the agents of this process's checkpoints, as package runs names
	// them: nil for all agents in one process, which goes on from the newest of them; where there
	// are others, they agree on one.
	checkpointAgents() []int
}

// layout returns the layout of the problem's agents, of which local are in this process.
func (p Problem) layout(local []int) layout {
	if p.Team == nil {
		return inProcess{}
	}
	part := multiProcess{local: p.agentNumbers(local)}
	if m, ok := p.Team.Mixer(local[0]).(network.Rewinder); ok {
		return restartable{part, m}
	}
	if len(local) == len(p.Oracles) {
		return inProcess{}
	}
	return ranks{part}
}

// multiProcess is the part that the two layouts of several processes share: checkpoints of the
// agents of each process. What they share with a run in one process they inherit.
type multiProcess struct {
	inProcess
	local []int // the agents of this process, by their numbers in the roster
}

// concludeInterrupted adds nothing: the other processes' agents may have stopped elsewhere.
func (multiProcess) concludeInterrupted(context.Context, *runner) error { return nil }

func (l multiProcess) checkpointAgents() []int { return l.local }
