package train

import (
	"context"
	"slices"

	"dsbo"
)

// ranks is the layout of a run whose agents are dealt to processes that start and stop together, as
// the ranks of an MPI job: they share the run folder, in which each has its own checkpoints, and
// ask each other after every iteration whether to stop.
type ranks struct{ multiProcess }

// collectiveContext does not end: no process leaves before the others know.
func (ranks) collectiveContext(ctx context.Context) context.Context {
	return context.WithoutCancel(ctx)
}

// stepContext does not end: a process that left an iteration would end the job for the others.
func (ranks) stepContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithCancel(context.WithoutCancel(ctx))
}

func (ranks) iterationLimit(done, _ int) int { return done + 1 }

// agree lets all processes know whether one is interrupted, and the first agent that has diverged.
func (l ranks) agree(ctx context.Context, s *stepper, errs []error) (stop bool, first *dsbo.DivergedError, err error) {
	if err := s.failure(errs); err != nil {
		return false, nil, err
	}
	interrupted := ctx.Err() != nil
	rows, err := s.Gather(l.collectiveContext(ctx), 3, func(i int, row []float64) error {
		if interrupted {
			row[0] = 1
		}
		if d := earliest(errs[i : i+1]); d != nil {
			row[1], row[2] = float64(2+slices.Index(normNames, d.Quantity)), d.Value
		}
		return nil
	})
	if err != nil {
		return false, nil, err
	}
	for i, row := range rows {
		if row[1] > 0 {
			quantity := "something of the method's own" // which its process names
			if k := int(row[1]) - 2; k >= 0 {
				quantity = normNames[k]
			}
			return false, &dsbo.DivergedError{Agent: i, Iteration: s.done - 1, Quantity: quantity, Value: row[2]}, nil
		}
		stop = stop || row[0] > 0
	}
	return stop, nil, nil
}

// writesMetrics is true of the first rank.
func (l ranks) writesMetrics() bool { return l.local[0] == 0 }
