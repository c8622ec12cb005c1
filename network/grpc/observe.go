package grpc

import (
	"time"

	"dsbo/network/grpc/holdup"
	"dsbo/network/membership/paxos"
)

// countComputing counts a heartbeat for which this agent has waited for a neighbour that says of
// itself that it computes, or writes a file. What others say of it does not count, nor do
// heartbeats for which it has waited itself.
func (e *conduct) countComputing() {
	m := e.m
	if e.computes.round != m.flow.round || !e.holdsUp() {
		e.computes = holding{round: m.flow.round}
	}
	if c := m.chamber; !e.holdsUp() || c != nil && c.held { // it may stand still for a proposal, as this agent does
		return
	}
	if h := e.holdup(); h.Source == e.id && h.Agent == e.id &&
		(h.Cause == holdup.ByComputing || h.Cause == holdup.BySaving) {
		e.computes.beats++
	}
	if e.isSlow() && !e.computes.reported {
		e.computes.reported = true
		m.config.Log.Warn("a neighbour is slow", "neighbour", e.id, "exchange", m.flow.round, "waited",
			m.watch.Beats(e.computes.beats), "reason", e.holdup().Cause)
	}
}

// isSlow reports whether this agent has waited so long for what the neighbour computes that it
// should be left out.
func (e *conduct) isSlow() bool {
	m := e.m
	return m.chamber != nil && e.position >= 0 && e.computes.round == m.flow.round && e.holdsUp() &&
		m.watch.Beats(e.computes.beats) >= m.chamber.computePatience(e.id)
}

// computePatience returns how long an exchange waits for what a neighbour computes:
// StragglerDeadline, twice as long for each time that it has been left out as slow, so that one
// that is always slow costs the others few changes. When all has been computed, for the end, it is
// the most.
func (c *chamber) computePatience(agent int) time.Duration {
	most, patience := c.m.config.ComputeTimeout, c.m.config.Membership.StragglerDeadline
	if patience == 0 || c.m.watch.Doing() == holdup.Ending {
		return most
	}
	for range c.log.SlowDepartures(agent) {
		if patience >= most/2 {
			return most
		}
		patience *= 2
	}
	return patience
}

// contradictedPatience is for how many times AbsentAfter an agent waits for a neighbour that says
// that it waits for another one, which contradicts it. Meanwhile each of these two can have the
// edge between them cut, by its own word, which costs neither of them its place.
const contradictedPatience = 8

// obstacle returns the agent that is there, or comes again and again, and keeps this one from going
// on, -1 if there is none.
func (c *chamber) obstacle() int {
	m, most := c.m, c.m.config.Membership.AbsentAfter
	h := m.obstacle()
	switch {
	case h == nil, h.Cause != holdup.ByWithholding && (h.Cause != holdup.BySilence || h.Source >= 0):
		return -1
	case h.Beyond > 0 && h.Beyond != m.config.Agent+1:
		most *= contradictedPatience
	}
	if m.watch.Stalled() < most {
		return -1
	}
	return h.Agent
}

// observe returns what the council is to know of this agent's neighbours: of which it has heard
// nothing for as long as Membership says, or that are there and keep all from going on, and those
// that have failed are down. It is ready to come in if it does nothing else and is connected to
// all, or has had time to be since it was to the first: an edge that is not there then is cut. It
// is called by the chamber at each of its ticks.
func (c *chamber) observe() (seen paxos.Observation) {
	c.m.mu.Lock()
	defer c.m.mu.Unlock()
	if c.m.view.matrix != nil && c.m.finish.allFinished() {
		return seen // they leave
	}
	most, obstacle := c.m.config.Membership.AbsentAfter, c.obstacle()
	company, all := false, true
	seen.Saved = c.m.saved
	for _, e := range c.m.neighbours.edges {
		if e.silence() >= most || e.id == obstacle || e.failure != nil {
			seen.Down = append(seen.Down, e.id)
		}
		if e.conduct.isSlow() {
			seen.Slow = append(seen.Slow, e.id)
		}
		if e.conduct.blank.known {
			seen.Blank = append(seen.Blank, e.id)
		}
		company, all = company || e.session != nil, all && e.session != nil
	}
	if c.company++; !company {
		c.company = 0
	}
	// One that was left out as it computed has not begun the newest epoch before it is through
	// with that.
	seen.Ready = c.m.epochChange() == nil && (all || c.company >= settled*ticks)
	return seen
}
