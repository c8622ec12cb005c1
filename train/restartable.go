package train

import (
	"context"
	"fmt"
	"time"

	"dsbo"
	"dsbo/network"
	"dsbo/runs"
)

// restartable is the layout of a run in which each process has one agent, which may be lost and come back while the others
// wait for it: it has a run folder of its own, and stops alone.
type restartable struct {
	team  network.Team
	mixer network.Rewinder
	local []int
}

func (l restartable) gather(ctx context.Context, rows [][]float64) error {
	return l.team.Gather(ctx, rows)
}

func (l restartable) round() int { return l.mixer.Round() }

// shared leaves out the times: they are others when the agent comes back.
func (restartable) shared(u runs.Usage) runs.Usage {
	u.Times = runs.Times{}
	return u
}

func (restartable) collectiveContext(ctx context.Context) context.Context { return ctx }

// grace is how long an agent whose neighbours may be gone tries to finish an interrupted iteration.
const grace = 2 * time.Second

func (restartable) stepContext(ctx context.Context) (context.Context, context.CancelFunc) {
	inner, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(grace, cancel)
		context.AfterFunc(inner, func() { timer.Stop() })
	})
	return inner, func() { stop(); cancel() }
}

func (restartable) stop(_, due int) int { return due }

func (restartable) agree(ctx context.Context, s *stepper, errs []error) (bool, *dsbo.DivergedError, error) {
	if err := s.failure(errs); err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("%w in iteration %d: the checkpoint before it stands", ErrInterrupted, s.done)
		}
		return true, nil, err
	}
	return ctx.Err() != nil, earliest(errs), nil
}

// fail leaves the exchange as it is: the others wait until the agent has come back.
func (restartable) fail(network.Team, error) {}

func (restartable) concludeInterrupted(context.Context, *runner) error { return nil }

func (restartable) curvature(context.Context, Problem, func(i int) []float64, []float64) []float64 {
	return nil
}

func (restartable) writesMetrics() bool { return true }

func (l restartable) checkpointPath(f runs.Folder, iteration int) string {
	return f.AgentCheckpointPath(l.local, iteration)
}

func (l restartable) readCheckpoint(f runs.Folder, from *Point) ([]byte, string, error) {
	return readPoint(f, l.local, from)
}

func (l restartable) removeAfter(f runs.Folder, iteration int) error {
	return f.RemoveCheckpointsAfter(l.local, iteration)
}

func (l restartable) prune(f runs.Folder) error { return f.RemoveOldCheckpoints(l.local) }
