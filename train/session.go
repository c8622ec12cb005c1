package train

import (
	"context"

	"dsbo"
	"dsbo/network"
	"dsbo/runs"
)

// session is the layout of a run with one agent in each process, which has a run folder of its own
// and may be lost while the other ones wait for it. They are ranks that do not ask each other after
// every iteration whether to stop: whatever stops one of them ends the session for all, and the
// next one begins with the newest checkpoint that all have.
type session struct{ ranks }

func (session) collectiveContext(ctx context.Context) context.Context { return ctx }

func (session) stepContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithCancel(ctx)
}

func (session) iterationLimit(_, due int) int { return due }

func (session) stopsTogether() bool { return false }

func (session) agree(ctx context.Context, s *stepper, errs []error) (bool, *dsbo.DivergedError, error) {
	return s.agreeAll(ctx, false, errs)
}

// fail does nothing: the other agents wait until this one has come back.
func (session) fail(network.Team, error) {}

// sharedUsage returns the usage without times: each folder has its own agent's.
func (session) sharedUsage(u runs.Usage) runs.Usage {
	u.Times = runs.Times{}
	return u
}

func (session) writesMetrics() bool { return true }

// checkpointsKept counts the newest, which all agents have, and the one before it.
func (session) checkpointsKept() int { return 2 }
