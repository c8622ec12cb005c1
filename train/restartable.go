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
	multiProcess
	mixer network.Rewinder
}

func (l restartable) round() int { return l.mixer.Round() }

// sharedUsage returns the usage without times, which differ when the agent comes back and does an iteration again.
func (restartable) sharedUsage(u runs.Usage) runs.Usage {
	u.Times = runs.Times{}
	return u
}

func (restartable) divergenceIsShared() bool { return false }

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
