package paxos

import (
	"fmt"
	"slices"
	"time"

	"dsbo/internal/wording"
	"dsbo/network/membership"
)

// A composer makes the change that the answers to a proposal ask for. Of the same answers all
// agents make the same.
type composer struct {
	*Node
	answers map[int]Message // promises, by agent
	kept    []int           // agents that do not count, as the run has to get further first
}

func newComposer(c *Node, answers map[int]Message) *composer {
	return &composer{Node: c, answers: answers}
}

// mostInVain is how often an agent may leave, or lose its state, before the run has another
// checkpoint. Until it has, that agent is kept out then: whatever makes it come and go,
// iterations are done meanwhile.
const mostInVain = 3

// compose returns the change that the answers ask for. nil means none, for
// a problem if there is one. Where the members cannot go on without those that are slow, they wait
// for these, but not for what else asks for a change. Those that are kept out come in all the same
// where the members cannot go on without them.
func (c *composer) compose(now time.Time) (change *membership.Change, problem string) {
	slow := c.stragglers(c.answered)
	change, problem = c.composeWithout(slow, now)
	if change == nil && len(slow) > 0 {
		change, _ = c.composeWithout(nil, now)
	}
	if c.kept = c.inVain(change); len(c.kept) > 0 {
		if without, cannot := c.composeWithout(change.Slow, now); cannot == "" {
			return without, ""
		}
	}
	return change, problem
}

// keptOut says which of the agents that a change leaves out do not come in again for now.
func (c *composer) keptOut(change membership.Change) (all []string) {
	log := append(slices.Clip(c.log), change)
	for _, i := range c.epoch.Members {
		if times := log.VainLosses(i, c.Founders); times >= mostInVain && !slices.Contains(change.Members, i) {
			all = append(all, fmt.Sprintf(
				"agent %d is kept out until there is a newer checkpoint: time %d since the last one", i, times))
		}
	}
	return all
}

// inVain returns the agents that a change has begin with the state of others, and that have come
// and gone for too often since the run has had a newer checkpoint than the epoch begins with.
func (c *composer) inVain(change *membership.Change) (agents []int) {
	if change == nil || change.Iteration != c.epoch.Iteration || change.Round != c.epoch.Round {
		return nil
	}
	for _, i := range change.Members {
		if (!c.isMember(i) || slices.Contains(change.Lost, i)) && c.log.VainLosses(i, c.Founders) >= mostInVain {
			agents = append(agents, i)
		}
	}
	return agents
}

// composeWithout is compose, where these members are slow.
func (c *composer) composeWithout(slow []int, now time.Time) (change *membership.Change, problem string) {
	candidates, further := c.candidates(slow)
	cut := c.cut(candidates)
	members := c.beginning(candidates, cut, further)
	var staying, lost []int // of the members
	for _, i := range members {
		switch {
		case c.hasState(i):
			staying = append(staying, i)
		case c.isMember(i):
			lost = append(lost, i)
		}
	}
	if len(staying)+len(lost) < c.Quorum {
		return nil, c.noQuorumReason(candidates, slow, cut, further, len(staying)+len(lost))
	}
	if len(staying) == 0 {
		return nil, "no member has a checkpoint yet: until then all must be there"
	}
	point, ok := c.newestCommon(staying)
	if !ok {
		return nil, fmt.Sprintf("agents %s have no checkpoint in common yet", wording.List(staying))
	}
	cut = slices.DeleteFunc(cut,
		func(e [2]int) bool { return !slices.Contains(members, e[0]) || !slices.Contains(members, e[1]) })
	further = slices.DeleteFunc(further,
		func(e [2]int) bool { return !slices.Contains(members, e[0]) && !slices.Contains(members, e[1]) })
	// Who has no checkpoint yet and does not ask for a state is about to write one: that is no
	// reason for a change.
	same := slices.Equal(members, c.epoch.Members) && !slices.ContainsFunc(lost, c.isAsking)
	if same && !slices.ContainsFunc(cut, func(e [2]int) bool { return !slices.Contains(c.epoch.Cut, e) }) {
		return nil, ""
	}
	change = &membership.Change{
		Epoch: c.epoch.Number + 1, Iteration: point.Iteration, Round: point.Round, Members: members, Lost: lost,
		Slow: slow, Edges: further, Cut: cut, Liars: c.lies(members),
		Proposer: c.Agent, Time: now.UTC().Format(time.RFC3339), Why: c.reasons(members, lost, slow, cut),
	}
	change.Why = append(change.Why, c.keptOut(*change)...)
	if size := len(change.Line()); size > maxChange { // a message has more in it
		return nil, fmt.Sprintf("the change must have at most %d bytes; with %d members and %d edges cut it has %d",
			maxChange, len(members), len(cut), size)
	}
	if err := c.check(change.Epoch, members, cut, further); err != nil {
		return nil, err.Error()
	}
	return change, ""
}

// check returns what is wrong with the epoch that a change would begin.
func (c *composer) check(number int, members []int, cut, further membership.Edges) error {
	if c.Check == nil {
		return nil
	}
	return c.Check(membership.Epoch{Number: number, Members: members, Cut: cut,
		Edges: slices.Concat(c.epoch.Edges, further)})
}

// noQuorumReason says that a quorum answers, but that no part of these agents which edges join has
// one, without those that are slow.
func (c *composer) noQuorumReason(candidates, slow []int, cut, further membership.Edges, members int) string {
	text := fmt.Sprintf(
		"the agents that answer, %s, are not joined by edges to a quorum of %d: the largest part has %d members",
		wording.List(candidates), c.Quorum, members)
	if len(slow) > 0 {
		text = fmt.Sprintf("agents %s are slow, and are waited for: %s", wording.List(slow), text)
	}
	if err := c.check(c.epoch.Number+1, candidates, cut, further); err != nil {
		text += ": " + err.Error()
	}
	return text
}

// candidates returns the agents that answered and may be members, without those that are slow, and
// the edges of those that come in for the first time.
func (c *composer) candidates(slow []int) (agents []int, further membership.Edges) {
	over := false // the members have finished
	for i, m := range c.answers {
		over = over || m.Sealed && c.isMember(i)
	}
	for i, m := range c.answers {
		switch {
		case slices.Contains(slow, i), slices.Contains(c.kept, i), c.isLiar(i):
		case c.isMember(i) && (len(m.Points) > 0 || !over):
			agents = append(agents, i)
		case m.Asks && c.mayCome(i) && !over:
			agents = append(agents, i)
			if !c.known(i) {
				further = append(further, c.admitted[i]...)
			}
		}
	}
	slices.Sort(agents)
	return agents, ascending(further)
}

// ascending sorts edges, and leaves each once.
func ascending(edges membership.Edges) membership.Edges {
	slices.SortFunc(edges, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	return slices.Compact(edges)
}

// lies returns what proves that members have lied that are none any more.
func (c *composer) lies(members []int) (all []membership.Lie) {
	for _, l := range c.witness.proofs() {
		if !slices.Contains(members, l.Agent) {
			all = append(all, l)
		}
	}
	return all
}

// cut returns the edges between candidates that either end does not hear the other one over.
func (c *composer) cut(candidates []int) (cut membership.Edges) {
	for _, i := range candidates {
		for _, j := range c.answers[i].Down {
			if slices.Contains(candidates, j) {
				cut = append(cut, edgeOf(i, j))
			}
		}
	}
	return ascending(cut)
}

// hasState reports whether an agent that answered goes on with its own state.
func (c *composer) hasState(agent int) bool {
	return c.isMember(agent) && len(c.answers[agent].Points) > 0
}

// beginning returns the largest connected part of the candidates in which each agent gets a state:
// its own, or a neighbour's, over several edges if need be. Others may come in with a later change.
// Where no agent has a state, the whole part is returned, and the caller says so.
func (c *composer) beginning(candidates []int, cut, further membership.Edges) []int {
	for {
		members := c.joined(candidates, cut, further)
		begins := c.supplied(members, c.used(cut, further))
		left := slices.DeleteFunc(slices.Clone(members), func(i int) bool { return !begins[i] })
		if len(left) == len(members) || len(left) == 0 {
			return members
		}
		candidates = left
	}
}

// supplied returns which members have a state to begin with, that may cross edges. One that is
// about to write its first checkpoint passes none on.
func (c *composer) supplied(members []int, edges membership.Edges) map[int]bool {
	sources := slices.DeleteFunc(slices.Clone(members), func(i int) bool { return !c.hasState(i) })
	return reached(edges, sources, func(i, j int) bool {
		return (c.hasState(i) || c.isAsking(i)) && slices.Contains(members, j)
	})
}

// reached returns some agents and those to which edges lead from them, one after the other, where
// leads says that an edge between neighbours does.
func reached(edges membership.Edges, from []int, leads func(i, j int) bool) map[int]bool {
	all := map[int]bool{}
	for _, i := range from {
		all[i] = true
	}
	for again := true; again; {
		again = false
		for _, e := range edges {
			for k, i := range e {
				if j := e[1-k]; all[i] && !all[j] && leads(i, j) {
					all[j], again = true, true
				}
			}
		}
	}
	return all
}

// used returns the edges of the roster, and further ones, without those that are cut.
func (c *composer) used(cut, further membership.Edges) membership.Edges {
	return slices.DeleteFunc(slices.Concat(c.Edges, c.epoch.Edges, further),
		func(e [2]int) bool { return slices.Contains(cut, e) })
}

// joined returns the candidates that edges join to the most present members, ascending; of equal
// parts the one with the lowest number.
func (c *composer) joined(candidates []int, cut, further membership.Edges) []int {
	edges, most := c.used(cut, further), -1
	var best map[int]bool
	seen := map[int]bool{}
	for _, i := range candidates { // ascending: the first of equal parts counts
		if seen[i] {
			continue
		}
		part, members := reached(edges, []int{i}, func(_, j int) bool { return slices.Contains(candidates, j) }), 0
		for j := range part {
			seen[j] = true
			if c.isMember(j) {
				members++
			}
		}
		if members > most {
			best, most = part, members
		}
	}
	return slices.DeleteFunc(slices.Clone(candidates), func(i int) bool { return !best[i] })
}

// newestCommon returns the newest checkpoint of this epoch that all of some members have.
func (c *composer) newestCommon(members []int) (Point, bool) {
	for _, p := range c.answers[members[0]].Points {
		if p.Iteration < c.epoch.Iteration || p.Round < c.epoch.Round {
			continue
		}
		if !slices.ContainsFunc(members,
			func(i int) bool { return !slices.Contains(c.answers[i].Points, p) }) {
			return p, true
		}
	}
	return Point{}, false
}

// reasons says in words what a change changes.
func (c *composer) reasons(members, lost, slow []int, cut membership.Edges) (all []string) {
	missed := map[int]bool{}
	for i, m := range c.answers {
		for _, j := range c.newlyDown(i, m.Down) {
			missed[j] = true
		}
	}
	for _, i := range c.epoch.Members {
		_, answered := c.answers[i]
		switch {
		case slices.Contains(members, i):
		case c.isLiar(i):
			all = append(all, fmt.Sprintf("agent %d left for good: it has voted twice in one ballot", i))
		case slices.Contains(slow, i):
			all = append(all, fmt.Sprintf(
				"agent %d left: slow, as it computes and all its neighbours have waited too long for it (time %d)", i,
				c.log.SlowDepartures(i)+1))
		case slices.Contains(c.kept, i):
			all = append(all, fmt.Sprintf("agent %d left: it has no checkpoint again and again", i))
		case missed[i]:
			all = append(all, fmt.Sprintf("agent %d left: absent for %v, or failed", i, c.Absent))
		case answered:
			all = append(all, fmt.Sprintf("agent %d left: no edge joins it to those that stay", i))
		default:
			all = append(all, fmt.Sprintf("agent %d left: no answer", i))
		}
	}
	for _, i := range members {
		switch {
		case slices.Contains(lost, i):
			all = append(all, fmt.Sprintf("agent %d has no checkpoint any more", i))
		case c.isMember(i):
		case c.known(i):
			all = append(all, fmt.Sprintf("agent %d returned", i))
		default:
			all = append(all, fmt.Sprintf("agent %d joined", i))
		}
	}
	for _, e := range cut {
		if !slices.Contains(c.epoch.Cut, e) {
			all = append(all, fmt.Sprintf("edge %d-%d cut: nothing heard over it for %v", e[0], e[1], c.Absent))
		}
	}
	return all
}
