package algo

import "dsbo"

// A following adapts the steps of a method to the curvature while x moves. L was found at x₀, and
// P(x) is the penalty's part of the Hessian (Penalty of [dsbo.OracleCapabilities]). As eigenvalues
// of a sum are at most sums of eigenvalues (Weyl),
//
//	L(x) ≤ L(x₀) + max_j (P_j(x) − P_j(x₀))⁺
//
// This bound is at most twice the larger of L(x₀) and L(x). It takes no product and no exchange,
// and is the same on agents with the same x. If the oracle does not know P, steps stay as they are.
type following struct {
	bound      float64   // L to which the steps were bound
	found, x   []float64 // L(x₀), one number, 0 if it is not known; x₀. Both are parts of the state
	before, at []float64 // scratch: P(x₀) and P(x)
	growth     float64   // L(x)/bound, at least 1
}

// FollowCurvature makes steps of a method, after Init, follow the curvature while x moves, from
// [Bind]'s numbers for L: they are divided by the growth of L, and lg, a bound of L, is multiplied
// by it. names are Bind's. [Found] must then be called with L at the start, and whenever members
// have changed. Steps of a method without a state of this package stay as they are.
func FollowCurvature(m dsbo.Algorithm, names []string, l float64) {
	of, ok := m.(based)
	if !ok || len(names) == 0 {
		return
	}
	s := of.ownState()
	f := &following{bound: l, found: s.carried("curvature", 1), x: s.carried("curvature_x", len(s.x)), growth: 1}
	s.scratch(len(s.y), &f.before, &f.at)
	s.restarts(f.found) // L is the largest of all members, so a change of members makes it unknown
	s.following = f
	for _, name := range names {
		switch own := s.schedules[name]; name {
		case "alpha", "beta", "gamma":
			s.schedules[name] = func(k int) float64 { return own(k) / f.growth }
		case "lg":
			s.schedules[name] = func(k int) float64 { return own(k) * f.growth }
		}
	}
}

// Found gives L, the largest curvature of an agent at x, to a method whose steps follow it.
func Found(m dsbo.Algorithm, l float64, x []float64) {
	if of, ok := m.(based); ok && of.ownState().following != nil {
		f := of.ownState().following
		f.found[0] = l
		copy(f.x, x)
	}
}

// A based is an algorithm with a state of this package.
type based interface{ ownState() *state }

func (s *state) ownState() *state { return s }

// update computes the growth of L at x. If the oracle does not know P, L counts as L(x₀). The
// growth is at least 1, so that steps are never longer than by Bind's numbers. Between a change of
// members and the next call of [Found], L(x₀) is unknown (0) and the growth keeps its value.
func (f *following) update(w *Turn, s *state) {
	grown := 0.0
	if penalty(w, f.before, f.x) && penalty(w, f.at, s.x) {
		for j, v := range f.at {
			grown = max(grown, v-f.before[j])
		}
	}
	if l := f.found[0]; l > 0 {
		f.growth = max(1, (l+grown)/f.bound)
	}
}
