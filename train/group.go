package train

import (
	"cmp"
	"context"
	"runtime"
	"sync"

	"dsbo"
)

// A group is the n agents of a problem as one process sees them: those in local are in this process, the layout reaches the
// others. Results do not depend on how the agents are divided among processes.
type group struct {
	layout
	n          int
	local      []int
	collective *collective
}

// group returns the problem's agents, after a check that those in this process have oracles.
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
	g.layout, g.collective = p.layout(g.local), newCollective(p, g.local)
	return g, nil
}

// collect lets each agent that is here fill in its row, in parallel, and returns the rows of all agents: small ones, that are no data.
func (g group) collect(ctx context.Context, length int, fill func(i int, row []float64) error) ([][]float64, error) {
	rows := make([][]float64, g.n)
	for i := range rows {
		rows[i] = make([]float64, length)
	}
	err := g.each(ctx, func(_, i int) error { return fill(i, rows[i]) })
	if err == nil {
		err = g.gather(ctx, rows)
	}
	return rows, err
}

// each calls f for the agents that are here, k of them before agent i, in parallel, and returns the error of the first of them that
// failed. No new call starts once ctx is done.
func (g group) each(ctx context.Context, f func(k, i int) error) error {
	errs := make([]error, len(g.local))
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	var calls sync.WaitGroup
	for k, i := range g.local {
		free <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		calls.Go(func() {
			errs[k] = f(k, i)
			<-free
		})
	}
	calls.Wait()
	return cmp.Or(ctx.Err(), cmp.Or(errs...))
}
