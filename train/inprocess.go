package train

import (
	"context"
	"errors"
	"os"

	"dsbo"
	"dsbo/network"
	"dsbo/runs"
)

// inProcess is the layout of a run whose agents are all in this process: nobody else needs to know anything, and the run has
// one checkpoint file.
type inProcess struct{}

func (inProcess) gather(ctx context.Context, _ [][]float64) error { return ctx.Err() }

func (inProcess) round() int { return 0 }

func (inProcess) shared(u runs.Usage) runs.Usage { return u }

func (inProcess) collectiveContext(ctx context.Context) context.Context { return ctx }

// stepContext lets an interrupted iteration end: the agents need each other's exchanges.
func (inProcess) stepContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithCancel(context.WithoutCancel(ctx))
}

func (inProcess) stop(_, due int) int { return due }

// agree prefers a divergence to another error, which it may have caused.
func (inProcess) agree(ctx context.Context, s *stepper, errs []error) (bool, *dsbo.DivergedError, error) {
	first := earliest(errs)
	if err := s.failure(errs); err != nil && first == nil {
		return false, nil, err
	}
	return ctx.Err() != nil, first, nil
}

func (inProcess) fail(exchange network.Team, err error) { exchange.Fail(err) }

func (inProcess) concludeInterrupted(ctx context.Context, r *runner) error {
	return r.conclude(context.WithoutCancel(ctx))
}

func (inProcess) curvature(ctx context.Context, p Problem, x func(i int) []float64, y []float64) []float64 {
	l, err := p.curvature(ctx, x, y)
	if err != nil {
		return nil
	}
	return l
}

func (inProcess) writesMetrics() bool { return true }

func (inProcess) checkpointPath(f runs.Folder, _ int) string { return f.CheckpointPath() }

func (l inProcess) readCheckpoint(f runs.Folder, _ *Point) ([]byte, string, error) {
	path := l.checkpointPath(f, 0)
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, path, nil
	}
	return data, path, err
}

func (inProcess) removeAfter(runs.Folder, int) error { return nil }

func (inProcess) prune(runs.Folder) error { return nil }
