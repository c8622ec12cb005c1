package train

import (
	"context"

	"dsbo"
	"dsbo/network"
	"dsbo/runs"
)

// allExamples is the draw of all examples of an agent, which evaluation uses.
var allExamples = dsbo.Sample{Set: dsbo.Whole}

// A group is the n agents of a problem as one process sees them, with their layout.
type group struct {
	*network.Group
	layout
}

// Collective returns the collective operations of a problem's agents after a run. Agents are named
// by their numbers in the roster; absent agents have no texts.
func (p Problem) Collective(ctx context.Context) network.Collective { return p.agents().Bound(ctx) }

// A layout is all of a run that depends on where its agents are: all in this process ([inProcess]),
// dealt to ranks that start and stop together ([ranks]), or one in each process, which may be lost
// and come back ([session]). No other code of a run asks which of these it is in.
type layout interface {
	// sharedUsage returns the part of an agent's usage that is sent to the other processes.
	sharedUsage(u runs.Usage) runs.Usage

	// collectiveContext returns the context of operations of all processes together.
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
	// stopsTogether reports whether an interrupted run stops after the same iteration in all
	// processes, with a checkpoint; else that of this process ends at once.
	stopsTogether() bool
	// concludeInterrupted adds the averages and the usage of all agents to an interrupted run's
	// result, if all agents are here.
	concludeInterrupted(ctx context.Context, r *runner) error

	// checkpointsKept is the number of newest checkpoints that are kept.
	checkpointsKept() int
	// writesMetrics reports whether this process writes metrics.jsonl.
	writesMetrics() bool
	// checkpointAgents returns the agents of this process's checkpoints, as package runs names
	// them: nil for all agents in one process, which resumes from its newest checkpoint; several
	// processes agree on one.
	checkpointAgents() []int
}
