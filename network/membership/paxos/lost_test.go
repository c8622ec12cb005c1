package paxos_test

import (
	"errors"
	"slices"
	"testing"

	"dsbo/network/membership"
	"dsbo/network/membership/paxos"
)

// TestNoCheckpointYet: members that are about to write their first checkpoint are no reason for a
// change, though a newcomer asks again and again that has only these beside it; one that has lost
// its checkpoint is.
func TestNoCheckpointYet(t *testing.T) {
	const n = 4
	r := newRoom(n, 3, complete(n), diskSite{{}}, nil, nil, diskSite{{}}, nil)
	for _, s := range r.seats {
		s.Admit(n, membership.Edges{{1, n}, {2, n}})
	}
	r.seen[n] = paxos.Observation{Ready: true}
	r.wait()
	if log := r.log(t); len(log) > 0 {
		t.Fatalf("epoch 1 has begun: %s", log[0].Line())
	}
	r.seats[1].SetLost(true)
	r.wait()
	if log := r.log(t); len(log) == 0 || !slices.Contains(log[0].Lost, 1) {
		t.Errorf("after agent 1 has lost its checkpoint the log is %v", log)
	}
}

// TestNobodyHasTheState: where no member has a checkpoint, and one says that it had, each ends by
// itself. It does not where one has, or is silent.
func TestNobodyHasTheState(t *testing.T) {
	const n, nobody = 4, -1
	for name, c := range map[string]struct {
		asks, has, away int // agents
		ends            bool
	}{
		"all have lost it":         {asks: 0, has: nobody, away: nobody, ends: true},
		"the last one has lost it": {asks: 3, has: nobody, away: nobody, ends: true},
		"one has it":               {asks: 0, has: 2, away: nobody},
		"one may have it":          {asks: 0, has: nobody, away: 2},
		"it is yet to come":        {asks: nobody, has: nobody, away: nobody},
	} {
		disks := make([]diskSite, n)
		if c.has >= 0 {
			disks[c.has] = diskSite{{Iteration: 4, Round: 40}}
		}
		r := newRoom(n, 3, ring(n), disks...)
		r.away = map[int]bool{c.away: true}
		if c.asks >= 0 {
			r.seats[c.asks].SetLost(true)
		}
		for i, err := range r.waitForEnds(100) {
			if ended := errors.Is(err, paxos.ErrStateLost); ended != c.ends || err != nil && !ended {
				t.Errorf("%s: agent %d: %v; that the state is lost must be %v", name, i, err, c.ends)
			}
		}
	}
}

// TestBlank: a neighbour says that an agent has come back without a state. That begins the next
// epoch with another one's, unless it names a checkpoint itself.
func TestBlank(t *testing.T) {
	const n = 4
	for _, has := range []bool{false, true} {
		disks := saved(n)
		if !has {
			disks[1] = nil
		}
		r := newRoom(n, 3, ring(n), disks...)
		r.seen[2].Blank = []int{1}
		r.wait()
		log := r.log(t)
		if has && len(log) > 0 {
			t.Errorf("agent 1 has its state, and epoch 1 has begun: %s", log[0].Line())
		}
		if !has && (len(log) == 0 || len(log[0].Members) != n || !slices.Equal(log[0].Lost, []int{1}) ||
			log[0].Iteration != 4) {
			t.Errorf("agent 1 must begin epoch 1 with another one's state; the log is\n%s", log.Bytes())
		}
	}
}

// TestStateCrossesAgentsThatAsk: the only state of an epoch is at the tip of a star, and all others
// ask for one, a former member too. The hub passes it on, as the quorum needs one that it reaches
// only so. It would not to a newcomer if it were about to write its own.
func TestStateCrossesAgentsThatAsk(t *testing.T) {
	for _, hubAsks := range []bool{true, false} {
		r := newRoom(4, 3, membership.Edges{{0, 1}, {0, 2}, {0, 3}}, nil, nil, diskSite{{Iteration: 2, Round: 10}}, nil)
		r.seats[0].SetLost(hubAsks)
		r.seats[1].SetLost(true)
		r.seats[3].SetLost(true)
		r.wait()
		log := r.log(t)
		if !hubAsks && len(log) > 0 {
			t.Errorf("the hub is to write its checkpoint, and epoch 1 has begun: %s", log[0].Line())
		}
		if hubAsks && (len(log) != 1 || len(log[0].Members) != 4 || !slices.Equal(log[0].Lost, []int{0, 1, 3})) {
			t.Errorf("agents 0, 1 and 3 must begin epoch 1 with the state of agent 2; the log is\n%s", log.Bytes())
		}
	}
}
