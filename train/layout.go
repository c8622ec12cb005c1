package train

import (
	"context"

	"dsbo"
	"dsbo/network"
	"dsbo/runs"
)

// A layout is all of a run that depends on where its agents are: all in this process ([inProcess]), dealt to ranks that
// start and stop together ([ranks]), or one in each process, which may be lost and come back ([restartable]). No other
// code of a run asks which of these it is in.
type layout interface {
	// gather fills in the rows of the agents elsewhere: rows has one for each agent, all of one length. What is gathered
	// depends on nothing but the run's configuration: an agent that comes back gathers it again, and has to send the same.
	gather(ctx context.Context, rows [][]float64) error
	// round returns the number of the next exchange, which a checkpoint keeps; 0 where exchanges have none.
	round() int
	// shared returns the part of an agent's usage that the other processes are told.
	shared(u runs.Usage) runs.Usage
	// collectiveContext returns the context of what all processes do together.
	collectiveContext(ctx context.Context) context.Context
	// stepContext returns the context of the agents' iterations. ctx ends when the run is interrupted.
	stepContext(ctx context.Context) (context.Context, context.CancelFunc)
	// stop returns the iteration after which the agents are asked whether to go on, when something is due at due.
	stop(done, due int) int
	// agree returns whether all agents are to stop, or the first of them that diverged, after iterations that ended with errs.
	agree(ctx context.Context, s *stepper, errs []error) (stop bool, first *dsbo.DivergedError, err error)
	// fail ends the exchange of the other agents because one of this process cannot go on.
	fail(exchange network.Team, err error)
	// concludeInterrupted adds to an interrupted run's result what all agents have to say, if they are here to say it.
	concludeInterrupted(ctx context.Context, r *runner) error
	// curvature returns each agent's L_max at its x and at y, once the run has diverged; nil if the others cannot be asked.
	curvature(ctx context.Context, p Problem, x func(i int) []float64, y []float64) []float64

	// writesMetrics reports whether this process writes metrics.jsonl.
	writesMetrics() bool
	// checkpointPath returns the path of the checkpoint after an iteration, in a run folder.
	checkpointPath(f runs.Folder, iteration int) string
	// readCheckpoint returns the checkpoint to resume from and its path; nil if there is none yet. from is that of Config.
	readCheckpoint(f runs.Folder, from *Point) (data []byte, path string, err error)
	// removeAfter removes checkpoints of later iterations (-1: all), whose metrics are about to be cut off.
	removeAfter(f runs.Folder, iteration int) error
	// prune removes the checkpoints that are no longer needed.
	prune(f runs.Folder) error
}

// newLayout returns the layout of n agents of which a team says which are here; nil: all.
func newLayout(team network.Team, n int, local []int) layout {
	if team == nil {
		return inProcess{}
	}
	if len(local) > 0 {
		if m, ok := team.Mixer(local[0]).(network.Rewinder); ok {
			return restartable{team, m, local}
		}
	}
	if len(local) == n {
		return inProcess{}
	}
	return ranks{team, local}
}
