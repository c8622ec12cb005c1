package train

import (
	"context"

	"dsbo"
)

// A group is all n agents of a problem as this process sees them: local are here, and the layout knows the way to the others.
type group struct {
	layout
	n     int
	local []int
}

// group returns the problem's agents. It has oracles for those that are here.
func (p Problem) group() (group, error) {
	n := len(p.Oracles)
	if n == 0 {
		return group{}, dsbo.Errorf(dsbo.ErrShape, "a problem must have an oracle for each agent; it has none")
	}
	g := group{n: n}
	if p.Team != nil {
		g.local = p.Team.Local()
	} else {
		for i := range n {
			g.local = append(g.local, i)
		}
	}
	for _, i := range g.local {
		if i >= n || p.Oracles[i] == nil {
			return g, dsbo.Errorf(dsbo.ErrShape, "agent %d is in this process and must have an oracle", i)
		}
	}
	g.layout = newLayout(p.Team, n, g.local)
	return g, nil
}

// each calls f for the agents that are here, in parallel.
func (g group) each(ctx context.Context, f func(i int) error) error {
	return each(ctx, len(g.local), func(k int) error { return f(g.local[k]) })
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
