package council_test

import (
	"slices"
	"testing"

	"dsbo/membership"
	"dsbo/membership/council"
)

// TestNoCheckpointYet: members that are about to write their first checkpoint are no reason for a change, though a newcomer asks again and again that
// has only these beside it; one that has lost its checkpoint is.
func TestNoCheckpointYet(t *testing.T) {
	const n = 4
	r := newRoom(n, 3, membership.Edges{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}, diskSite{{}}, nil, nil, diskSite{{}}, nil)
	for _, s := range r.seats {
		s.Admit(n, membership.Edges{{1, n}, {2, n}})
	}
	r.seen[n] = council.Observation{Ready: true}
	r.wait()
	if log := r.log(t); len(log) > 0 {
		t.Fatalf("epoch 1 has begun: %s", log[0].Line())
	}
	r.seats[1].Lose(true)
	r.wait()
	if log := r.log(t); len(log) == 0 || !slices.Contains(log[0].Lost, 1) {
		t.Errorf("after agent 1 has lost its checkpoint the log is %v", log)
	}
}
