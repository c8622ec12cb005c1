package grpc

import (
	"errors"
	"testing"

	"dsbo/membership/council"
	"dsbo/network"
)

// TestGoingBackAndCouncil exclude each other: who has named checkpoints in the council does not go back, as it would remove them, and who goes back
// names none before it has.
func TestGoingBackAndCouncil(t *testing.T) {
	m := &Mixer{rollback: &network.RollbackError{Neighbour: 1, Round: 5}}
	c := &chamber{m: m, seat: new(council.Seat)}
	m.chamber = c
	for _, c.held = range []bool{true, false} {
		if c.busy = !c.held; m.interrupted() != nil || c.rests {
			t.Errorf("held %v, busy %v: the agent goes back", c.held, c.busy)
		}
	}
	c.busy = false
	if err := m.interrupted(); !errors.As(err, new(*network.RollbackError)) || c.begin() {
		t.Errorf("error %v: the agent must go back, and the seat rest", err)
	}
	m.rollback = nil // by Rewind
	if m.interrupted() != nil || !c.begin() {
		t.Error("in the next exchange the seat must be at work again")
	}
}

// TestVectorsOfAnotherEpoch: what a neighbour has sent in an epoch before, or in one that this agent has not begun, is no vector of this one.
func TestVectorsOfAnotherEpoch(t *testing.T) {
	m, _ := pathAgent(nil)
	s := attached(m, 0, 0, 0)
	m.part.epoch.Number, s.said = 1, 1
	for _, tt := range []struct{ theirs, received int }{{0, 0}, {2, 0}, {1, 1}} {
		s.theirs = tt.theirs
		if deliver(s, vectorOfOne(0, 5)); s.e.received != tt.received {
			t.Errorf("in epoch 1 a neighbour of epoch %d has sent %d vectors; it must be %d", tt.theirs, s.e.received, tt.received)
		}
	}
}
