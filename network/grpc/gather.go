package grpc

import (
	"context"
	"fmt"

	"dsbo"
	"dsbo/network"
)

// Local implements [network.Team]: it returns this agent's position among the members, which is its
// number where all are members.
func (m *Mixer) Local() []int { return m.view.local }

// Mixer implements [network.Team]: it returns m for this agent's position, and nil for others.
func (m *Mixer) Mixer(i int) dsbo.Mixer {
	if i != m.view.position {
		return nil
	}
	return m
}

// Gather implements [network.Team]. It takes as many exchanges as the graph's diameter, in which
// the rows go from neighbour to neighbour, each of which passes each row on once; rows that are too
// long to travel together in MaxFloats numbers, which must be the same for all agents, take as many
// again for each part.
//
// After the end of its ctx, and after a [*network.RollbackError], it can be repeated once Rewind
// has gone back to the exchange at which it began, or before. Any other error lasts, as one of
// Mix does.
func (m *Mixer) Gather(ctx context.Context, rows [][]float64) error {
	first := m.flow.round
	if err := m.gather(ctx, rows); err != nil {
		return fmt.Errorf("agent %d, exchange %d, gathering since exchange %d: %w", m.config.Agent,
			m.flow.round, first, err)
	}
	return nil
}

func (m *Mixer) gather(ctx context.Context, rows [][]float64) error {
	if err := m.flow.checkRunning(ctx); err != nil {
		return err
	}
	if err := network.CheckRows(rows, m.view.matrix.N()); err != nil {
		return m.failWith(err)
	}
	if m.view.flood == nil {
		f, err := newFlood(m.view.matrix, m.view.position)
		if err != nil {
			return m.failWith(err)
		}
		m.view.flood = f
	}
	part := m.config.MaxFloats / m.view.flood.widest
	if part == 0 {
		return m.failWith(dsbo.ConfigErrorf(
			"MaxFloats must be at least %d, the number of rows that travel together; it is %d",
			m.view.flood.widest, m.config.MaxFloats))
	}
	length := len(rows[0])
	for lo := 0; lo == 0 || lo < length; lo += part {
		if err := m.gatherPart(ctx, rows, lo, min(lo+part, length)); err != nil {
			return err
		}
	}
	return nil
}

// gatherPart gathers the entries from lo to before hi of all rows.
func (m *Mixer) gatherPart(ctx context.Context, rows [][]float64, lo, hi int) error {
	for step, agents := range m.view.flood.send {
		m.rows = m.rows[:0]
		for _, i := range agents {
			m.rows = append(m.rows, rows[i][lo:hi]...)
		}
		purpose := gathering(len(rows[0]))
		err := m.flow.exchange(ctx, purpose, entry{frame: encodeVector(m.flow.round, purpose, m.rows)},
			func() (*edge, error) {
				for k, e := range m.view.edges {
					if got, want := len(e.slot[m.flow.round%2]), 8*m.view.flood.sizes[step][k]*(hi-lo); got != want {
						return e, dsbo.ShapeErrorf(
							"MaxFloats must be the same for all agents; agent %d sends %d bytes of the rows "+
								"that are gathered, where %d are next", e.id, got, want)
					}
				}
				return nil, nil
			})
		if err != nil {
			return err
		}
		for _, l := range m.view.flood.learn[step] {
			in := vectorOf(m.view.edges[l.neighbour].slot[m.flow.round%2])
			copy(rows[l.agent][lo:hi], in[l.position*(hi-lo):])
		}
		m.flow.advance()
	}
	return nil
}
