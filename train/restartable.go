package train

import (
	"context"

	"dsbo"
	"dsbo/network"
	"dsbo/runs"
)

// restartable is the layout of a run in which each process has one agent, which may be lost and
// come back while the others wait for it: it has a run folder of its own, and stops alone.
type restartable struct {
	multiProcess
	mixer network.Rewinder
}

func (l restartable) round() int { return l.mixer.Round() }

// sharedUsage returns the usage without times, which differ when the agent comes back and does an
// iteration again.
func (restartable) sharedUsage(u runs.Usage) runs.Usage {
	u.Times = runs.Times{}
	return u
}

func (restartable) divergenceIsShared() bool { return false }

func (restartable) agree(ctx context.Context, s *stepper, errs []error) (bool, *dsbo.DivergedError, error) {
	if err := s.failure(errs); err != nil {
		return true, nil, s.interruption(ctx, err)
	}
	return ctx.Err() != nil, earliest(errs), nil
}

// fail leaves the exchange as it is: the others wait until the agent has come back.
func (restartable) fail(network.Team, error) {}
