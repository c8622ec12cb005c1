package paxos_test

import (
	"slices"
	"testing"

	"dsbo/internal/testkit"
	"dsbo/network/membership/paxos"
)

// TestSealed: an agent that asks to come in when all members have finished is not let in, but by a
// change that one of them had voted for before; and one that is sealed still helps to leave
// another out.
func TestSealed(t *testing.T) {
	for _, tt := range []struct {
		name        string
		asks, voted bool
		epochs      int
	}{
		{"nobody has voted", true, false, 1},
		{"one has voted", true, true, 2},
		{"one is lost", false, false, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, 1, founders, 5, wheel(founders))
			lost := w.sites[3]
			if tt.asks {
				lost.seat = nil
				w.steps(50)
				lost.start()
			}
			if tt.voted {
				for k := 0; w.confirmed() < w.quorum; k++ { // it may be decided
					if k == 100 {
						t.Fatal("nobody votes")
					}
					w.step()
				}
				w.queue = nil // the proposer does not hear of it
			}
			for _, s := range w.sites {
				if s != lost && !s.seat.Undecided() {
					testkit.OK(s.seat.Seal(true))
				}
			}
			if !tt.asks {
				lost.seat = nil
			}
			if !tt.voted {
				testkit.OK(w.sites[0].seat.Seal(false)) // the news has not come to it
			}
			w.steps(200)
			e := w.sites[0].seat.Epoch()
			if _, back := e.Position(lost.agent); e.Number != tt.epochs || back != tt.voted {
				t.Errorf("epoch %d of %v; epoch %d is that to be decided, and agent 3 a member: %v", e.Number,
					e.Members, tt.epochs, tt.voted)
			}
		})
	}
}

// TestSealedWithdraws: an agent that asks for promises as it is sealed proposes nothing then, as
// others may have left; one that has proposed by then waits for the outcome, and the others with
// it.
func TestSealedWithdraws(t *testing.T) {
	for _, tt := range []struct {
		name   string
		sealed paxos.Kind // by the first message of this kind
		epochs int
	}{{"asks for promises", paxos.Prepare, 0}, {"has proposed", paxos.Accept, 1}} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, 1, founders, 5, wheel(founders))
			w.sites[3].seat = nil
			of := func(d delivery) bool { return d.message.Kind == tt.sealed }
			for k := 0; !slices.ContainsFunc(w.queue, of); k++ {
				if k == 400 {
					t.Fatal("nobody proposes")
				}
				w.step()
			}
			for _, s := range w.sites {
				if s.seat != nil && !s.seat.Undecided() {
					testkit.OK(s.seat.Seal(true))
				}
			}
			w.steps(200)
			if e := w.sites[0].seat.Epoch(); e.Number != tt.epochs {
				t.Errorf("epoch %d of %v; it must be %d", e.Number, e.Members, tt.epochs)
			}
		})
	}
}

// confirmed returns how many sites have given a change their second vote.
func (w *world) confirmed() (count int) {
	for _, s := range w.sites {
		if s.vote.Confirmed != nil && s.vote.Epoch == s.seat.Epoch().Number+1 {
			count++
		}
	}
	return count
}

// TestSealOutlivesTheProcess: an agent that is sealed is so when it is started again, and no more
// in the next epoch.
func TestSealOutlivesTheProcess(t *testing.T) {
	w := newWorld(t, 1, founders, 5, wheel(founders))
	s := w.sites[2]
	testkit.OK(s.seat.Seal(true))
	s.start()
	if !s.seat.Sealed() {
		t.Error("after a restart the agent does not know that all have finished")
	}
	testkit.OK(s.seat.Seal(false)) // it has gone back
	s.start()
	if s.seat.Sealed() {
		t.Error("after a restart the agent takes all to have finished, which one has not")
	}
	testkit.OK(s.seat.Seal(true))
	w.sites[5].seat = nil
	w.steps(200)
	if e := s.seat.Epoch(); e.Number != 1 || s.seat.Sealed() {
		t.Errorf("epoch %d, sealed: %v; an agent has left, and the epoch without it goes on", e.Number, s.seat.Sealed())
	}
}
