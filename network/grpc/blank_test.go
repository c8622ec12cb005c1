package grpc

import "testing"

// TestBlankNeighbour: where there is a council, a neighbour that needs exchange 0 again, which is
// no longer kept, is the council's matter, if this agent may have a checkpoint. Before it has begun
// to write one it goes back at once, as it does without a council.
func TestBlankNeighbour(t *testing.T) {
	for _, c := range []struct {
		name                    string
		council, saved, rewinds bool
	}{
		{name: "no council", saved: true, rewinds: true},
		{name: "no checkpoint", council: true, rewinds: true},
		{name: "a checkpoint", council: true, saved: true},
	} {
		m, _ := pathAgent(nil)
		a := attached(m, 0, 0, 0)
		if c.council {
			a, _ = withCouncil(m, 2)
		}
		m.flow.window.start = 2
		if c.saved {
			m.Saving()()
		}
		a.e.sendFrom(0)
		if back := m.flow.rollback != nil; back != c.rewinds || a.e.conduct.blank.suspected == c.rewinds {
			t.Errorf("%s: it goes back: %t, and suspects that the neighbour has no state: %t", c.name, back,
				a.e.conduct.blank.suspected)
		}
	}
}
