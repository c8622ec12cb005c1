package train

import (
	"cmp"
	"context"
	"runtime"
	"sync"
	"time"

	"dsbo"
	"dsbo/internal/vec"
	"dsbo/network"
	"dsbo/runs"
)

// A layout says where the agents of a run are.
type layout int

const (
	inProcess layout = iota // all in this process
	// ranks are processes that start and stop together, as those of an MPI job: they share the run folder, in which each has its
	// own checkpoints, and ask each other after every iteration whether to stop.
	ranks
	// restartable are processes of one agent each, which may be lost and come back while the others wait for it: each has a run
	// folder of its own, and stops alone.
	restartable
)

// A group is all n agents of a problem as this process sees them: local are here. What depends on the layout is here and in
// the methods of a stepper; a run in several processes has the numbers of one.
type group struct {
	layout layout
	n      int
	local  []int
	team   network.Team     // the way to the agents of other processes; nil in one process
	mixer  network.Rewinder // of the agent of a restartable process
}

// group returns the problem's agents. It has oracles for those that are here.
func (p Problem) group() (group, error) {
	g := group{n: len(p.Oracles)}
	if g.n == 0 {
		return g, dsbo.Errorf(dsbo.ErrShape, "a problem must have an oracle for each agent; it has none")
	}
	if p.Team == nil {
		for i := range g.n {
			g.local = append(g.local, i)
		}
	} else {
		g.local = p.Team.Local()
	}
	if len(g.local) == 0 {
		return g, dsbo.Errorf(dsbo.ErrShape, "each process must have an agent; none of %d is in this one", g.n)
	}
	for _, i := range g.local {
		if i >= g.n || p.Oracles[i] == nil {
			return g, dsbo.Errorf(dsbo.ErrShape, "agent %d is in this process and must have an oracle", i)
		}
	}
	if p.Team == nil {
		return g, nil
	}
	if m, ok := p.Team.Mixer(g.local[0]).(network.Rewinder); ok {
		g.layout, g.team, g.mixer = restartable, p.Team, m
	} else if len(g.local) < g.n {
		g.layout, g.team = ranks, p.Team
	}
	return g, nil
}

// gather fills in the rows of the agents elsewhere: rows has one for each agent, all of one length. What is gathered
// depends on nothing but the run's configuration: an agent that comes back gathers it again, and has to send the same.
func (g group) gather(ctx context.Context, rows [][]float64) error {
	if g.team == nil {
		return ctx.Err()
	}
	return g.team.Gather(ctx, rows)
}

// collect lets each agent that is here fill in its row, in parallel, and returns the rows of all agents.
func (g group) collect(ctx context.Context, length int, fill func(i int, row []float64) error) ([][]float64, error) {
	rows := make([][]float64, g.n)
	for i := range rows {
		rows[i] = make([]float64, length)
	}
	err := g.each(ctx, func(i int) error { return fill(i, rows[i]) })
	if err == nil {
		err = g.gather(ctx, rows)
	}
	return rows, err
}

// mean sets dst to the average over all agents of what those that are here fill in, in parallel. It is summed in the order of the
// agents: the result depends neither on the number of processors nor on where they are.
func (g group) mean(ctx context.Context, dst []float64, fill func(i int, part []float64) error) error {
	parts, err := g.collect(ctx, len(dst), fill)
	if err == nil {
		vec.Mean(dst, parts...)
	}
	return err
}

// round returns the number of the next exchange, which a checkpoint keeps; 0 where exchanges have none.
func (g group) round() int {
	if g.mixer == nil {
		return 0
	}
	return g.mixer.Round()
}

// shared returns the part of an agent's usage that the other processes are told: no times if the agent may come back, as they
// are others then.
func (g group) shared(u runs.Usage) runs.Usage {
	if g.layout == restartable {
		u.Times = runs.Times{}
	}
	return u
}

// collectiveContext returns the context of what all processes do together: no rank leaves before the others know.
func (g group) collectiveContext(ctx context.Context) context.Context {
	if g.layout == ranks {
		return context.WithoutCancel(ctx)
	}
	return ctx
}

// grace is how long an agent whose neighbours may be gone tries to finish an interrupted iteration.
const grace = 2 * time.Second

// stepContext returns the context of the agents' iterations, which they finish after ctx has ended: they need each other's
// exchanges.
func (g group) stepContext(ctx context.Context) (context.Context, context.CancelFunc) {
	inner, cancel := context.WithCancel(context.WithoutCancel(ctx))
	if g.layout != restartable {
		return inner, cancel
	}
	stop := context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(grace, cancel)
		context.AfterFunc(inner, func() { timer.Stop() })
	})
	return inner, func() { stop(); cancel() }
}

// each calls f for the agents that are here, in parallel, and returns the error of the first of them that failed. No new call
// starts once ctx is done.
func (g group) each(ctx context.Context, f func(i int) error) error {
	errs := make([]error, len(g.local))
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	var calls sync.WaitGroup
	for k, i := range g.local {
		free <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		calls.Go(func() {
			errs[k] = f(i)
			<-free
		})
	}
	calls.Wait()
	return cmp.Or(ctx.Err(), cmp.Or(errs...))
}
