package train

import (
	"context"
	"slices"
	"time"

	"dsbo"
	"dsbo/network"
	"dsbo/runs"
)

// A layout is all of a run that depends on where its agents are: all in this process (the zero
// value), dealt to the ranks of an MPI job, which start and stop together and share the run folder,
// or one in each process, which has a run folder of its own and may be lost while the other ones
// wait for it. No code outside of this file asks which of these it is.
type layout struct {
	local   []int // the agents of this process, by their numbers in the roster; nil: all of the run
	returns bool  // whether a lost agent comes back, and the next session begins with a checkpoint
}

// layout returns the layout of the problem's agents, with local the ones in this process.
func (p Problem) layout(local []int) layout {
	_, returns := p.Team.(network.Saver)
	if !returns && len(local) == len(p.Oracles) {
		return layout{}
	}
	return layout{p.agentNumbers(local), returns}
}

// ofRanks reports whether the agents are dealt to ranks.
func (l layout) ofRanks() bool { return l.local != nil && !l.returns }

// sharedUsage returns the part of an agent's usage that is sent to the other processes: where each
// agent has a folder, its times stay there.
func (l layout) sharedUsage(u runs.Usage) runs.Usage {
	if l.returns {
		u.Times = runs.Times{}
	}
	return u
}

// collectiveContext returns the context of operations of all processes together. With ranks it does
// not end: a process must not leave before the other ones know.
func (l layout) collectiveContext(ctx context.Context) context.Context {
	if l.ofRanks() {
		return context.WithoutCancel(ctx)
	}
	return ctx
}

// interruptGrace is the time that agents try to finish an interrupted iteration, which may be long
// or need neighbours that are gone.
const interruptGrace = 2 * time.Second

// stepContext returns the context of the agents' iterations. An agent that may come back stops at
// once when ctx ends. Other agents finish the iteration, in which they need each other: within one
// process for at most interruptGrace; ranks without limit, as one that left an iteration would end
// the job.
func (l layout) stepContext(ctx context.Context) (context.Context, context.CancelFunc) {
	if l.returns {
		return context.WithCancel(ctx)
	}
	inner, cancel := context.WithCancel(context.WithoutCancel(ctx))
	if l.ofRanks() {
		return inner, cancel
	}
	stop := context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(interruptGrace, cancel)
		context.AfterFunc(inner, func() { timer.Stop() }) // agents were faster
	})
	return inner, func() { stop(); cancel() }
}

// iterationLimit returns the iteration before which the processes agree, when something is due
// before iteration due: ranks ask each other after every iteration whether to stop.
func (l layout) iterationLimit(done, due int) int {
	if l.ofRanks() {
		return done + 1
	}
	return due
}

// agree returns, after iterations that ended with errs, whether all agents must stop, and the first
// divergence. A divergence takes precedence over another error, which it may have caused. Agents in
// several processes exchange this; ranks also whether one is interrupted, whereas an agent that may
// come back just ends the session. The exchange is skipped in sessions of agents that have the same
// state, since these diverge alike, and an exchange between far machines takes as long as an
// iteration.
func (l layout) agree(ctx context.Context, s *stepper, errs []error) (bool, *dsbo.DivergedError, error) {
	knowsOthers := l.returns && s.alike && ctx.Err() == nil
	if l.local != nil && !knowsOthers {
		return s.agreeAll(l.collectiveContext(ctx), l.ofRanks() && ctx.Err() != nil, errs)
	}
	first := earliest(errs)
	if err := s.failure(errs); err != nil && first == nil {
		return false, nil, s.interruption(ctx, err)
	}
	// If the exchange was skipped, ctx may have ended since; the others do not know that.
	return !knowsOthers && ctx.Err() != nil, first, nil
}

// fail ends the exchange of all agents because of err, where an agent that fails ends the run;
// others wait until it has come back.
func (l layout) fail(exchange network.Team, err error) {
	if !l.returns {
		exchange.Fail(err)
	}
}

// stopsTogether reports whether an interrupted run stops after the same iteration in all processes,
// with a checkpoint; else the part of this process ends at once.
func (l layout) stopsTogether() bool { return !l.returns }

// concludeInterrupted adds the averages and the usage of all agents to an interrupted run's result,
// if all agents are here: others may have stopped elsewhere.
func (l layout) concludeInterrupted(ctx context.Context, r *runner) error {
	if l.local != nil {
		return nil
	}
	return r.conclude(context.WithoutCancel(ctx))
}

// checkpointsKept is the number of newest checkpoints that are kept: above 1, as the newest may be
// damaged, or the one before it may be the newest that all agents have.
func (l layout) checkpointsKept() int {
	if l.returns {
		return 2
	}
	return 3
}

// writesMetrics reports whether this process writes metrics.jsonl: of ranks the first does.
func (l layout) writesMetrics() bool { return !l.ofRanks() || l.local[0] == 0 }

// agreeAll exchanges whether some process must stop, and returns the first divergence of any agent.
// An agent's row has four numbers: 1 to stop; for a divergence 2 plus the index of the norm in
// normNames, or 1 for another quantity, else 0; its value; its iteration.
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
			row[1], row[2], row[3] = float64(2+slices.Index(normNames, d.Quantity)), d.Value, float64(d.Iteration)
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
