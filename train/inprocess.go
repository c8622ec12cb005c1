package train

import (
	"context"
	"time"

	"dsbo"
	"dsbo/network"
	"dsbo/runs"
)

// inProcess is the layout of a run whose agents are all in this process: nothing is gathered or
// agreed on with other processes.
type inProcess struct{}

func (inProcess) sharedUsage(u runs.Usage) runs.Usage { return u }

func (inProcess) collectiveContext(ctx context.Context) context.Context { return ctx }

// interruptGrace is the time that agents try to finish an interrupted iteration, which may be long
// or need neighbours that are gone.
const interruptGrace = 2 * time.Second

func (inProcess) stepContext(ctx context.Context) (context.Context, context.CancelFunc) {
	inner, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(interruptGrace, cancel)
		context.AfterFunc(inner, func() { timer.Stop() })
	})
	return inner, func() { stop(); cancel() }
}

func (inProcess) iterationLimit(_, due int) int { return due }

// agree returns a divergence rather than another error, which the divergence may have caused.
func (inProcess) agree(ctx context.Context, s *stepper, errs []error) (bool, *dsbo.DivergedError, error) {
	first := earliest(errs)
	if err := s.failure(errs); err != nil && first == nil {
		return false, nil, s.interruption(ctx, err)
	}
	return ctx.Err() != nil, first, nil
}

func (inProcess) fail(exchange network.Team, err error) { exchange.Fail(err) }

func (inProcess) stopsTogether() bool { return true }

func (inProcess) concludeInterrupted(ctx context.Context, r *runner) error {
	return r.conclude(context.WithoutCancel(ctx))
}

// checkpointsKept is above 1, as the newest may be damaged.
func (inProcess) checkpointsKept() int { return 3 }

func (inProcess) writesMetrics() bool { return true }

func (inProcess) checkpointAgents() []int { return nil }

// multiProcess is the part that the two layouts of several processes share: checkpoints of the
// agents of each process. What they share with a run in one process they inherit.
type multiProcess struct {
	inProcess
	local []int // the agents of this process, by their numbers in the roster
}

// concludeInterrupted adds nothing: the other processes' agents may have stopped elsewhere.
func (multiProcess) concludeInterrupted(context.Context, *runner) error { return nil }

func (l multiProcess) checkpointAgents() []int { return l.local }
