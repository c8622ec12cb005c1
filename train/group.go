package train

import (
	"context"
	"fmt"

	"dsbo"
	"dsbo/network"
)

// A group is all agents of a problem as this process sees them: some are here, and what the others know
// is behind a team.
type group struct {
	team  network.Team // nil: all are here
	n     int
	local []int
}

// group returns the problem's agents. It has oracles for those that are here.
func (p Problem) group() (group, error) {
	n := len(p.Oracles)
	if n == 0 {
		return group{}, fmt.Errorf("%w: a problem without oracles: want one for each agent", dsbo.ErrShape)
	}
	g := group{team: p.Team, n: n}
	if g.team != nil {
		g.local = g.team.Local()
	} else {
		for i := range n {
			g.local = append(g.local, i)
		}
	}
	for _, i := range g.local {
		if i >= n || p.Oracles[i] == nil {
			return g, fmt.Errorf("%w: agent %d is in this process and has no oracle", dsbo.ErrShape, i)
		}
	}
	return g, nil
}

// whole reports whether all agents are here, and stay.
func (g group) whole() bool { return len(g.local) == g.n && !g.survives() }

// survives reports whether agents of the run may be lost and come back.
func (g group) survives() bool {
	_, ok := g.rewinder()
	return ok
}

// rewinder returns the end of the exchange of an agent that can be lost and come back; such a process has one agent.
func (g group) rewinder() (network.Rewinder, bool) {
	if g.team == nil || len(g.local) == 0 {
		return nil, false
	}
	m, ok := g.team.Mixer(g.local[0]).(network.Rewinder)
	return m, ok
}

// round returns the number of the next exchange where that matters, else 0.
func (g group) round() int {
	if m, ok := g.rewinder(); ok {
		return m.Round()
	}
	return 0
}

// each calls f for the agents that are here, in parallel.
func (g group) each(ctx context.Context, f func(i int) error) error {
	return each(ctx, len(g.local), func(k int) error { return f(g.local[k]) })
}

// gather fills in the rows of the agents elsewhere: rows has one for each agent, all of one length. What is gathered
// depends on nothing but the run's configuration: an agent that comes back gathers it again, and has to send the same.
func (g group) gather(ctx context.Context, rows [][]float64) error {
	if g.whole() {
		return ctx.Err()
	}
	return g.team.Gather(ctx, rows)
}

// rows returns one row an agent: those of agents that are here from of, room for the others'.
func (g group) rows(length int, of func(i int) []float64) [][]float64 {
	rows := make([][]float64, g.n)
	for _, i := range g.local {
		rows[i] = of(i)
	}
	for i := range rows {
		if rows[i] == nil {
			rows[i] = make([]float64, length)
		}
	}
	return rows
}
