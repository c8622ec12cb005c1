package train

import (
	"cmp"
	"context"
	"runtime"
	"sync"

	"dsbo"
	"dsbo/internal/vec"
)

// A group is the n agents of a problem as one process sees them: those in local are in this process, the layout reaches the
// others. Results do not depend on how the agents are divided among processes.
type group struct {
	layout
	n     int
	local []int
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
	g.layout = p.layout(g.local)
	return g, nil
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
