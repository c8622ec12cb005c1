package grpc

import "testing"

// TestVectorsOfAnotherEpoch: what a neighbour has sent in an epoch before, or in one that this
// agent has not begun, is no vector of this one.
func TestVectorsOfAnotherEpoch(t *testing.T) {
	m, _ := pathAgent(nil)
	s := attached(m, 0, 0, 0)
	m.view.epoch.Number, s.announced = 1, 1
	for _, tt := range []struct{ theirs, received int }{{0, 0}, {2, 0}, {1, 1}} {
		s.remote = tt.theirs
		if deliver(s, vectorOfOne(0, 5)); s.e.received != tt.received {
			t.Errorf("in epoch 1 a neighbour of epoch %d has sent %d vectors; it must be %d", tt.theirs,
				s.e.received, tt.received)
		}
	}
}
