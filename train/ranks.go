package train

import (
	"context"
	"os"
	"slices"

	"dsbo"
	"dsbo/network"
	"dsbo/runs"
)

// ranks is the layout of a run whose agents are dealt to processes that start and stop together, as those of an MPI job: they
// share the run folder, in which each has its own checkpoints, and ask each other after every iteration whether to stop.
type ranks struct {
	team  network.Team
	local []int
}

func (l ranks) gather(ctx context.Context, rows [][]float64) error { return l.team.Gather(ctx, rows) }

func (ranks) round() int { return 0 }

func (ranks) shared(u runs.Usage) runs.Usage { return u }

// collectiveContext does not end: no process leaves before the others know.
func (ranks) collectiveContext(ctx context.Context) context.Context {
	return context.WithoutCancel(ctx)
}

func (ranks) stepContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithCancel(context.WithoutCancel(ctx))
}

func (ranks) stop(done, _ int) int { return done + 1 }

// agree lets all processes know whether one is interrupted, and the first agent that has diverged.
func (l ranks) agree(ctx context.Context, s *stepper, errs []error) (bool, *dsbo.DivergedError, error) {
	if err := s.failure(errs); err != nil {
		return false, nil, err
	}
	interrupted := ctx.Err() != nil
	rows := s.rows(3, func(i int) []float64 {
		row := make([]float64, 3)
		if interrupted {
			row[0] = 1
		}
		if d := earliest(errs[i : i+1]); d != nil {
			row[1], row[2] = float64(2+slices.Index(watched, d.Quantity)), d.Value
		}
		return row
	})
	if err := l.gather(l.collectiveContext(ctx), rows); err != nil {
		return false, nil, err
	}
	stop := false
	for i, row := range rows {
		if row[1] > 0 {
			quantity := "something of the method's own" // which its process names
			if k := int(row[1]) - 2; k >= 0 {
				quantity = watched[k]
			}
			return false, &dsbo.DivergedError{Agent: i, Iteration: s.done - 1, Quantity: quantity, Value: row[2]}, nil
		}
		stop = stop || row[0] > 0
	}
	return stop, nil, nil
}

func (ranks) fail(exchange network.Team, err error) { exchange.Fail(err) }

func (ranks) concludeInterrupted(context.Context, *runner) error { return nil }

func (l ranks) curvature(ctx context.Context, p Problem, x func(i int) []float64, y []float64) []float64 {
	return inProcess{}.curvature(l.collectiveContext(ctx), p, x, y) // all ranks know that the run has diverged
}

func (l ranks) writesMetrics() bool { return l.local[0] == 0 }

func (l ranks) checkpointPath(f runs.Folder, iteration int) string {
	return f.AgentCheckpointPath(l.local, iteration)
}

func (l ranks) readCheckpoint(f runs.Folder, from *Point) ([]byte, string, error) {
	return readPoint(f, l.local, from)
}

func (l ranks) removeAfter(f runs.Folder, iteration int) error {
	return f.RemoveCheckpointsAfter(l.local, iteration)
}

func (l ranks) prune(f runs.Folder) error { return f.RemoveOldCheckpoints(l.local) }

// readPoint returns the checkpoint of some agents at a point; nil without one.
func readPoint(f runs.Folder, agents []int, from *Point) ([]byte, string, error) {
	if from == nil {
		return nil, "", nil
	}
	path := f.AgentCheckpointPath(agents, from.Iteration)
	data, err := os.ReadFile(path)
	return data, path, err
}
