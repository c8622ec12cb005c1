package train

import (
	"cmp"
	"context"
	"runtime"
	"sync"

	"dsbo"
	"dsbo/network"
)

// A group is the n agents of a problem as one process sees them: those in local are in this process, the layout reaches the
// others. Results do not depend on how the agents are divided among processes.
//
// Outside of iterations all agents find exact averages together, the largest of numbers, and whether they have the same bits. Nothing of one
// agent's leaves it but as a part of these. Averages go over the tree also where those of the method are by Mix alone: all agents have to
// come to the same decisions, by the same bits. A group belongs to one goroutine at a time.
type group struct {
	layout
	n       int
	local   []int
	team    network.Team // nil before the first average, if all agents are in this process
	w       *network.Matrix
	options network.AverageOptions
	counter *dsbo.Traffic // what all agents have sent

	averages *network.Averages   // nil before the first average
	ends     []*network.Averager // the ends of the local agents
	parts    [][]float64         // a vector of each local agent
}

// group returns the problem's agents, after a check that those in this process have oracles.
func (p Problem) group() (*group, error) {
	n, local := len(p.Oracles), p.local()
	if n == 0 {
		return nil, dsbo.Errorf(dsbo.ErrShape, "a problem must have an oracle for each agent; it has none")
	}
	if len(local) == 0 {
		return nil, dsbo.Errorf(dsbo.ErrShape, "each process must have an agent; none of %d is in this one", n)
	}
	for _, i := range local {
		if i >= n || p.Oracles[i] == nil {
			return nil, dsbo.Errorf(dsbo.ErrShape, "agent %d is in this process and must have an oracle", p.agentNumber(i))
		}
	}
	return p.groupOf(local), nil
}

// local returns the numbers of the agents in this process.
func (p Problem) local() (list []int) {
	if p.Team != nil {
		return p.Team.Local()
	}
	for i := range p.Oracles {
		list = append(list, i)
	}
	return list
}

// groupOf returns the problem's agents, of which local are in this process.
func (p Problem) groupOf(local []int) *group {
	g := &group{
		layout: p.layout(local), n: len(p.Oracles), local: local, team: p.Team, w: p.W, options: p.Average, counter: p.Sent, parts: make([][]float64, len(local)),
	}
	if g.counter == nil {
		g.counter = new(dsbo.Traffic)
	}
	g.options.ByMix = false
	return g
}

// gatherRows lets each agent that is here fill in its row, in parallel, and returns the rows of all agents: small ones, that are no data.
func (g *group) gatherRows(ctx context.Context, length int, fill func(i int, row []float64) error) ([][]float64, error) {
	rows := make([][]float64, g.n)
	for i := range rows {
		rows[i] = make([]float64, length)
	}
	err := g.forEach(ctx, func(_, i int) error { return fill(i, rows[i]) })
	if err == nil {
		err = g.gather(ctx, rows)
	}
	return rows, err
}

// forEach calls f for the agents that are here, k of them before agent i, in parallel, and returns the error of the first of them that
// failed. No new call starts once ctx is done.
func (g *group) forEach(ctx context.Context, f func(k, i int) error) error {
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
