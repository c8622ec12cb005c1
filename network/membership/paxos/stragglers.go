package paxos

import (
	"slices"
	"time"
)

// stragglers returns the members that are too slow for those that would go on without them,
// ascending. Such a member computes, and all its neighbours have waited too long for it, but for
// those that do not hear it, that are slow themselves, or that do not count. So the most patient of
// them decides, and nobody is left out by the word of one. said returns what an agent has said of
// its neighbours, and false for one that does not count.
//
// One that has lost its state and asks for another does not compute.
//
// If those that are left are no quorum, all wait: to leave out some of the slow ones would not end
// the wait for the others. So they do if no quorum would vote for it, as where one that lies says
// that all are slow, and those that wait for one of them do not count: none that still waits for
// one votes to leave it out, and nothing else would be decided.
func (c *composer) stragglers(said func(agent int) (down, slow []int, counts bool)) (all []int) {
	finds := func(i int) bool {
		_, slow, counts := said(i)
		return counts && len(slow) > 0
	}
	if !slices.ContainsFunc(c.epoch.Members, finds) { // as a rule: it is asked a few times a second
		return nil
	}
	neighbours, accused := map[int][]int{}, map[int]bool{}
	for _, e := range c.used(c.epoch.Cut, nil) {
		if !c.isMember(e[0]) || !c.isMember(e[1]) {
			continue
		}
		for k := range e {
			neighbours[e[k]] = append(neighbours[e[k]], e[1-k])
			if _, slow, counts := said(e[k]); counts && slices.Contains(slow, e[1-k]) {
				accused[e[1-k]] = true
			}
		}
	}
	for _, i := range c.epoch.Members {
		waits := func(j int) bool { // for one that is not slow
			down, slow, counts := said(j)
			return counts && !accused[j] && !slices.Contains(slow, i) && !slices.Contains(down, i)
		}
		if accused[i] && !c.isAsking(i) && !slices.ContainsFunc(neighbours[i], waits) {
			all = append(all, i)
		}
	}
	votes := slices.DeleteFunc(slices.Clone(c.epoch.Members), func(i int) bool {
		down, slow, counts := said(i)
		return !counts || slices.Contains(all, i) || slices.ContainsFunc(all, func(j int) bool {
			return slices.Contains(neighbours[i], j) && !slices.Contains(slow, j) && !slices.Contains(down, j)
		})
	})
	if len(votes) < c.Quorum && len(c.epoch.Members)-len(all) >= c.Quorum {
		return nil
	}
	return all
}

// lastSaid returns what the agents have said of their neighbours of late. One that has said nothing
// does not wait.
func (c *composer) lastSaid(now time.Time) func(agent int) (down, slow []int, counts bool) {
	return func(agent int) (down, slow []int, counts bool) {
		if r, has := c.reports[agent]; has && now.Sub(r.at) <= reportTimeouts*c.Patience {
			return r.Down, r.Slow, true
		}
		return nil, nil, true
	}
}

// answered returns what an agent has answered to the proposal. One that has not is not among those
// that go on.
func (c *composer) answered(agent int) (down, slow []int, counts bool) {
	m, counts := c.answers[agent]
	return m.Down, m.Slow, counts
}

// isAsking reports whether an agent asks to come in, or for a state, by what it has answered,
// or else said last, or whether a neighbour says that it has come back
// without one.
func (c *composer) isAsking(agent int) bool {
	if m, has := c.answers[agent]; has {
		return m.Asks || c.isBlank(agent)
	}
	return c.reports[agent].Asks
}

// isBlank reports whether an answer says that an agent has come back
// without a state. Of one that names a checkpoint itself that changes nothing.
func (c *composer) isBlank(agent int) bool {
	for _, m := range c.answers {
		if slices.Contains(m.Blank, agent) {
			return true
		}
	}
	return false
}
