package network

import (
	"fmt"
	"math/bits"
	"strings"

	"dsbo"
)

// maxDissentAgents is the largest graph in which groups that cannot agree are looked for: for 14
// agents it takes some 3^14·14 steps.
const maxDissentAgents = 14

// A dissent is why trimming may not bring honest agents to agree: no agent of two groups has more
// than b neighbours among the honest ones outside of its own group, and so may leave out all that
// comes from there. Agents are bits of sets.
type dissent struct{ liars, one, other uint }

// findDissent returns a dissent with at most b liars, and whether there is one. Without one, agents
// that trim come to agree whatever b liars do (Vaidya, Tseng, Liang: "Iterative Approximate
// Byzantine Consensus in Arbitrary Directed Graphs", PODC 2012).
func (m *Matrix) findDissent(b int) (dissent, bool) {
	n := m.N()
	near := make([]uint, n)
	for i, js := range m.neighbours {
		for _, j := range js {
			near[i] |= 1 << j
		}
	}
	holds := make([]uint, 1<<n) // a group within each set that stays apart; 0: there is none
	for liars := range uint(1) << n {
		if bits.OnesCount(liars) > b {
			continue
		}
		honest := (uint(1)<<n - 1) &^ liars
		for set := nextSubset(0, honest); set != 0; set = nextSubset(set, honest) {
			if holds[set] = groupWithin(holds, set); holds[set] == 0 && isIsolated(near, set, honest&^set, b) {
				holds[set] = set
			}
		}
		for set := nextSubset(0, honest); set != 0; set = nextSubset(set, honest) {
			if one, other := holds[set], holds[honest&^set]; one != 0 && other != 0 {
				return dissent{liars, one, other}, true
			}
		}
	}
	return dissent{}, false
}

// nextSubset returns the subset that comes after another one of the same set, in the order of
// numbers; 0 after the last.
func nextSubset(subset, of uint) uint { return (subset - of) & of }

// groupWithin returns a group within a set less one agent that stays apart, 0 if there is none. The
// groups of all subsets must be known.
func groupWithin(holds []uint, set uint) uint {
	for rest := set; rest != 0; rest &= rest - 1 {
		if group := holds[set&^(rest&-rest)]; group != 0 {
			return group
		}
	}
	return 0
}

// isIsolated reports whether no agent of a set has more than b neighbours in another one.
func isIsolated(near []uint, set, other uint, b int) bool {
	for rest := set; rest != 0; rest &= rest - 1 {
		if bits.OnesCount(near[bits.TrailingZeros(rest)]&other) > b {
			return false
		}
	}
	return true
}

// checkAgreement returns an error that names two groups that trimming may leave apart, in graphs of
// up to maxDissentAgents agents.
func (m *Matrix) checkAgreement(x Mixing, name func(position int) int) error {
	if m.N() > maxDissentAgents {
		return nil
	}
	d, found := m.findDissent(x.liars())
	if !found {
		return nil
	}
	words := func(set uint) string {
		var list []string
		for rest := set; rest != 0; rest &= rest - 1 {
			list = append(list, fmt.Sprint(name(bits.TrailingZeros(rest))))
		}
		return strings.Join(list, ", ")
	}
	lying := ""
	if d.liars != 0 {
		lying = fmt.Sprintf(" where agents %s lie", words(d.liars))
	}
	return dsbo.ConfigErrorf(
		"mixing %v may leave agents %s and agents %s apart for ever%s: none of them has more than %d honest "+
			"neighbours outside of its own group",
		x, words(d.one), words(d.other), lying, x.liars())
}
