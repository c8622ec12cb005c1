package session

import (
	"context"

	"dsbo"
	"dsbo/network"
)

// Gather implements [network.Team]. It takes as many exchanges as the graph's diameter, in which
// the rows go from neighbour to neighbour, each of which passes each row on once; rows that are too
// long to travel together in MaxFloats numbers, which must be the same for all agents, take as many
// again for each part.
func (s *Session) Gather(ctx context.Context, rows [][]float64) error {
	return s.wrap(", gathering", s.gather(ctx, rows))
}

func (s *Session) gather(ctx context.Context, rows [][]float64) error {
	if err := s.running(ctx); err != nil {
		return err
	}
	if err := network.CheckRows(rows, s.matrix.N()); err != nil {
		return s.failed(err)
	}
	if s.plan == nil {
		plan, err := newGatherPlan(s.matrix, s.position)
		if err != nil {
			return s.failed(err)
		}
		s.plan = plan
	}
	part := s.config.MaxFloats / s.plan.widest
	if part == 0 {
		return s.failed(dsbo.ConfigErrorf(
			"MaxFloats must be at least %d, the number of rows that travel together; it is %d",
			s.plan.widest, s.config.MaxFloats))
	}
	length := len(rows[0])
	for lo := 0; lo == 0 || lo < length; lo += part {
		if err := s.gatherPart(ctx, rows, lo, min(lo+part, length)); err != nil {
			return err
		}
	}
	return nil
}

// gatherPart gathers the entries from lo to before hi of all rows.
func (s *Session) gatherPart(ctx context.Context, rows [][]float64, lo, hi int) error {
	for step, agents := range s.plan.send {
		s.rows = s.rows[:0]
		for _, i := range agents {
			s.rows = append(s.rows, rows[i][lo:hi]...)
		}
		purpose := gathering(len(rows[0]))
		err := s.exchange(ctx, purpose, encodeVector(s.header(purpose), s.rows), func() (*tie, error) {
			for k, p := range s.x.ties {
				if got, want := len(s.x.came(p).payload), 8*s.plan.sizes[step][k]*(hi-lo); got != want {
					return p, dsbo.ShapeErrorf(
						"MaxFloats must be the same for all agents; agent %d sends %d bytes of the rows "+
							"that are gathered, where %d are next", p.agent, got, want)
				}
			}
			return nil, nil
		})
		if err != nil {
			return err
		}
		for _, l := range s.plan.learn[step] {
			in := vectorOf(s.x.came(s.x.ties[l.neighbour]).payload)
			copy(rows[l.agent][lo:hi], in[l.position*(hi-lo):])
		}
		s.x.advance()
	}
	return nil
}
