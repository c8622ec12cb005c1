package algo

import "dsbo"

// A Reformer is a [Method] that continues when the members of a run change. Its state at the
// beginning of an epoch is a function of the agents' earlier states, without an exchange:
//
//   - A remaining agent calls Reform. x, y, z and its own averages stay; a tracker of a
//     quantity is reset to the agent's own last contribution, so that the members' trackers
//     sum to their quantities again; state that depends on the old members in another way
//     is reset.
//   - A joining agent begins as Init leaves it, but for the part it takes over ([TakeOver]) from
//     a remaining agent: x and y, or all state that the method keeps equal on all agents.
//
// All methods of this package are Reformers. A method of another module that does not embed
// [Iterates] must implement it, or else runs with fixed members only.
type Reformer interface {
	Method
	// Reform makes the state the state of an agent that stays, at the beginning of an epoch.
	Reform()
	// Handover returns views of the parts of State that a joining agent takes over, before or after
	// Reform, by their names.
	Handover() []dsbo.Named
}

// TakeOver copies the state that a remaining agent hands over to the method of a joining agent,
// after Init. It returns an error that matches [dsbo.ErrShape] for a name that m's state does not
// have, or a vector of another length; parts before that one are copied then.
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

// A renewal says what a part of the state becomes when members change.
type renewal struct {
	part []float64
	to   []float64 // what it becomes; nil: 0
}

// tracks declares tracker, a part of the state, as the tracker of quantity: its mean over the
// agents is the mean of quantity, each agent's last contribution.
func (s *state) tracks(tracker, quantity []float64) {
	s.renewals = append(s.renewals, renewal{tracker, quantity})
}

// restarts declares parts of the state that are reset when members change.
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
