package paxos_test

import (
	"slices"
	"testing"

	"dsbo/network/membership"
)

// TestTwoThatBlameEachOther: where two members say that nothing comes over the edge between them,
// and without either of them there is no quorum, that edge is cut and all stay. It takes 15
// patiences from when a member has looked at it for the first time, and the members look one after
// the other, 6 or 7 patiences apart: 57 for 6 of them. Before, each one that had looked waited for
// longer than the others took, up to 97 for these draws.
func TestTwoThatBlameEachOther(t *testing.T) {
	const n = 6
	for draws := range uint64(5) {
		r := fullRoom(n, n)
		r.draws = 1000 * draws
		r.seen[0].Down, r.seen[3].Down = []int{3}, []int{0}
		took := 0
		for ; took < 60 && len(r.seats[0].Log()) == 0; took++ {
			r.waitForEnds(1)
		}
		log := r.log(t)
		if took > 57 || !slices.Equal(log[0].Cut, membership.Edges{{0, 3}}) || len(log[0].Members) != n {
			t.Errorf("draws %d: edge 0-3 must be cut within 57 patiences; after %d the log is\n%s", draws, took,
				log.Bytes())
		}
	}
}
