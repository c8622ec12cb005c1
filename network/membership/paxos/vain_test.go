package paxos_test

import (
	"slices"
	"testing"

	"dsbo/network/membership"
	"dsbo/network/membership/paxos"
)

// TestComesAndGoes: an agent that has left, or lost its state, three times since the last
// checkpoint is kept out until there is a newer one, or the others cannot go on without it. Before,
// it came in each time: who sent vectors and no heartbeats to one neighbour had all go back for
// ever.
func TestComesAndGoes(t *testing.T) {
	const n, restless = 4, 3
	for name, c := range map[string]struct {
		loses bool                      // its state, again and again; else it leaves
		ends  func(r *room, d diskSite) // that it is kept out
	}{
		"it leaves":          {false, newerCheckpoint},
		"it loses its state": {true, newerCheckpoint},
		"it is needed": {false, func(r *room, _ diskSite) {
			r.seen[1].Down, r.seen[2].Down = []int{2}, []int{1}
		}},
	} {
		disk := diskSite{{Iteration: 4, Round: 40}, {}}
		disks := slices.Repeat([]diskSite{disk}, n)
		if c.loses {
			disks[restless] = nil
		}
		r := newRoom(n, 3, membership.Edges{{0, 1}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}, disks...)
		changes := 0
		for range 3 {
			if c.loses {
				r.seats[restless].SetLost(true)
				changes++
			} else {
				comeAndGo(r, restless)
				changes += 2
			}
			r.wait()
		}
		if c.loses {
			r.seats[restless].SetLost(true)
			r.wait()
			r.seen[restless].Ready = true
			changes++
		} else {
			changes-- // it has not come in for the last time
		}
		r.wait()
		log := r.log(t)
		if _, is := log.Last(n).Position(restless); is || len(log) != changes {
			t.Fatalf("%s: after three times agent %d must be kept out, in epoch %d; the log is\n%s", name, restless,
				changes, log.Bytes())
		}
		c.ends(r, disk)
		r.wait()
		log = r.log(t)
		if _, is := log.Last(n).Position(restless); !is {
			t.Errorf("%s: agent %d must be in again; the log is\n%s", name, restless, log.Bytes())
		}
	}
}

// comeAndGo has an agent leave, as no other one hears it, and ask to come in again.
func comeAndGo(r *room, agent int) {
	for i := range r.seen {
		r.seen[i] = paxos.Observation{Down: []int{agent}}
	}
	r.seen[agent] = paxos.Observation{}
	r.wait()
	for i := range r.seen {
		r.seen[i] = paxos.Observation{}
	}
	r.seen[agent].Ready = true
}

// newerCheckpoint has all have another checkpoint.
func newerCheckpoint(r *room, d diskSite) {
	d[0] = paxos.Point{Iteration: 5, Round: 50}
	for i := range r.seen {
		r.seen[i].Saved = 50
	}
}
