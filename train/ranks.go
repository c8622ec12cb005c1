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

// collectiveContext does not end: a process must not leave before the other ones know.
func (ranks) collectiveContext(ctx context.Context) context.Context {
	return context.WithoutCancel(ctx)
}

// stepContext does not end: a process that left an iteration would end the job for all.
func (ranks) stepContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithCancel(context.WithoutCancel(ctx))
}

func (ranks) iterationLimit(done, _ int) int { return done + 1 }

// agree lets all processes know whether one is interrupted, and the first agent that has diverged.
func (l ranks) agree(ctx context.Context, s *stepper, errs []error) (bool, *dsbo.DivergedError, error) {
	return s.agreeAll(l.collectiveContext(ctx), ctx.Err() != nil, errs)
}

// agreeAll lets all processes know whether one is to stop, and the first agent that has diverged.
func (s *stepper) agreeAll(ctx context.Context, stops bool, errs []error) (stop bool, first *dsbo.DivergedError,
	err error) {
	if err := s.failure(errs); err != nil {
		return false, nil, err
	}
	rows, err := s.Gather(ctx, 4, func(i int, row []float64) error {
		if stops {
			row[0] = 1
		}
		if d := earliest(errs[i : i+1]); d != nil {
			row[1], row[2] = float64(2+slices.Index(normNames, d.Quantity)), d.Value
			row[3] = float64(d.Iteration)
		}
		return nil
	})
	if err != nil {
		return false, nil, err
	}
	for i, row := range rows {
		stop = stop || row[0] > 0
		if k := int(row[3]); row[1] > 0 && (first == nil || k < first.Iteration) {
			quantity := "something of the method's own" // which its process names
			if name := int(row[1]) - 2; name >= 0 {
				quantity = normNames[name]
			}
			first = &dsbo.DivergedError{Agent: s.Number(i), Iteration: k, Quantity: quantity, Value: row[2]}
		}
	}
	return stop, first, nil
}

// writesMetrics is true of the first rank.
func (l ranks) writesMetrics() bool { return l.local[0] == 0 }
