package algo

import "dsbo"

// A Reformer is a [Method] that goes on when the members of a run change. Its state at the
// beginning of an epoch is a function of the states that agents had before, without an exchange:
//
//   - An agent that stays calls Reform. x and y stay, and z and averages of its own; a tracker of a
//     quantity becomes what the agent itself put into it last, so that the trackers of those who
//     are there sum to their quantities again; what depends on the old members in another way
//     begins anew.
//   - An agent that comes in begins as Init leaves it, but for what it takes over ([TakeOver]) from
//     an agent that stays: x and y, or all that the method keeps alike on all agents.
//
// All methods of this package are. One of another module that embeds none of their states has to
// say itself how it goes on; without that it runs where members stay the same.
type Reformer interface {
	Method
	// Reform makes the state the state of an agent that stays, at the beginning of an epoch.
	Reform()
	// Handover returns views of what an agent that comes in takes over, before or after Reform:
	// parts of State, by their names.
	Handover() []dsbo.Named
}

// TakeOver readies a method after Init for an agent that comes in, with what one that stays hands
// over. An unknown name, and another length, is an error that matches [dsbo.ErrShape].
func TakeOver(m Reformer, from []dsbo.Named) error {
	state := m.State()
	for _, part := range from {
		to := partNamed(state, part.Name)
		if to == nil || len(to) != len(part.Value) {
			return dsbo.ShapeErrorf(
				"%s: what is taken over must be part of the state; %s of %d numbers is none", NameOf(m), part.Name,
				len(part.Value))
		}
		copy(to, part.Value)
	}
	return nil
}

// partNamed returns the part of a state with that name, nil if there is none.
func partNamed(state []dsbo.Named, name string) []float64 {
	for _, part := range state {
		if part.Name == name {
			return part.Value
		}
	}
	return nil
}

// A renewal is what a change of members does to a part of the state.
type renewal struct {
	part []float64
	to   []float64 // what it becomes; nil: 0
}

// tracks says that a part of the state is a tracker: its mean over the agents is the mean of
// another part, the quantity that each agent put into it last.
func (s *state) tracks(tracker, quantity []float64) {
	s.renewals = append(s.renewals, renewal{tracker, quantity})
}

// restarts says that parts of the state begin anew when members change.
func (s *state) restarts(parts ...[]float64) {
	for _, part := range parts {
		s.renewals = append(s.renewals, renewal{part, nil})
	}
}

// Reform implements [Reformer].
func (s *state) Reform() {
	for _, r := range s.renewals {
		if r.to == nil {
			clear(r.part)
		} else {
			copy(r.part, r.to)
		}
	}
}

// Handover implements [Reformer]: x and y, or all that stays, where all agents have the same state.
func (s *state) Handover() []dsbo.Named {
	if !s.alike {
		return s.named[:2]
	}
	var all []dsbo.Named
	for _, part := range s.named {
		if !s.renews(part.Value) {
			all = append(all, part)
		}
	}
	return all
}

// renews reports whether a change of members changes a part of the state.
func (s *state) renews(part []float64) bool {
	for _, r := range s.renewals {
		if len(r.part) > 0 && len(part) > 0 && &r.part[0] == &part[0] {
			return true
		}
	}
	return false
}
