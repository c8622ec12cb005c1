package mpi

import (
	"fmt"
	"slices"

	"dsbo/network"
)

// blocks deals n agents to ranks, in order and as evenly as can be.
type blocks struct{ agents, ranks int }

// agentsOf returns the agents lo ≤ i < hi of a rank.
func (b blocks) agentsOf(rank int) (lo, hi int) {
	return rank * b.agents / b.ranks, (rank + 1) * b.agents / b.ranks
}

// rank returns the rank that has agent i: the largest r with agentsOf(r).lo ≤ i.
func (b blocks) rank(i int) int { return ((i+1)*b.ranks - 1) / b.agents }

// label names a rank by its agents too.
func (b blocks) label(rank int) string {
	lo, hi := b.agentsOf(rank)
	if hi-lo == 1 {
		return fmt.Sprintf("rank %d (agent %d)", rank, lo)
	}
	return fmt.Sprintf("rank %d (agents %d to %d)", rank, lo, hi-1)
}

// A parcel is an agent's vector on its way to or from another rank.
type parcel struct{ agent, peer int }

// routes returns what a rank receives and sends in one exchange: each vector once for every other
// rank where a neighbour is, in ascending order of agents, so that both ends count them alike.
func (b blocks) routes(w *network.Matrix, rank int) (receive, send []parcel) {
	for i := range b.agents {
		home := b.rank(i)
		var to []int
		for _, j := range w.Neighbours(i) {
			if r := b.rank(j); r != home && !slices.Contains(to, r) {
				to = append(to, r)
			}
		}
		switch {
		case home == rank:
			for _, r := range to {
				send = append(send, parcel{i, r})
			}
		case slices.Contains(to, rank):
			receive = append(receive, parcel{i, home})
		}
	}
	return receive, send
}
