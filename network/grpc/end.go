package grpc

import (
	"context"
	"fmt"
	"slices"

	"dsbo/network"
	"dsbo/network/grpc/holdup"
)

// newFinish returns the finish of an agent which has not finished.
func newFinish(m *Mixer) finish { return finish{m: m, recorded: m.config.AllFinished == nil} }

// Drain implements [network.Rewinder].
func (m *Mixer) Drain(ctx context.Context) error {
	m.finish.beginDrain()
	err := m.flow.await(ctx, func() bool { return m.finish.radius() >= m.finish.finishRadius() })
	if err == nil {
		err = m.finish.recordFinish()
	}
	if err == nil {
		err = m.flow.await(ctx, m.finish.drained)
	}
	if err != nil {
		return fmt.Errorf("agent %d, after exchange %d, waiting for the others' end: %w", m.config.Agent,
			m.flow.round, err)
	}
	m.mu.Lock()
	m.leaving = true // whoever connects anew meanwhile
	m.mu.Unlock()
	if m.config.AllFinished != nil {
		if err := m.config.AllFinished(true); err != nil { // who starts this agent again waits for nothing
			m.config.Log.Warn("it is not kept that the neighbours know that all have finished", "reason", err)
		}
	}
	return nil
}

// recordFinish has the caller keep that all agents have finished, and lets the neighbours know.
func (f *finish) recordFinish() error {
	if f.m.config.AllFinished != nil {
		if err := f.m.config.AllFinished(false); err != nil {
			return err
		}
	}
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	f.recorded = true
	f.m.neighbours.announce()
	return nil
}

func (f *finish) beginDrain() {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	f.drains, f.m.leaving = true, false
	f.m.watch.Begin(holdup.Ending)
	f.m.neighbours.announce()
}

// allFinished reports whether this agent knows that all have finished. One that is sealed has known
// it before.
func (f *finish) allFinished() bool { return f.sealed || f.radius() >= len(f.m.view.epoch.Members) }

// isCutOff reports whether the members may have left this agent out, and go on: they vote, it does
// not know that all know that all have finished, and it hears nobody.
func (f *finish) isCutOff() bool {
	return f.m.chamber != nil && !f.recorded &&
		!slices.ContainsFunc(f.m.view.edges, func(e *edge) bool { return e.silence() < f.m.config.SilentAfter })
}

// outstays reports whether the neighbour has held up this agent's end for PeerTimeout, whatever it
// sends meanwhile, or its process is at fault again and again, so that the others go on without it.
func (e *conduct) outstays() bool {
	w := &e.m.watch
	return e.failure != nil && e.barBeats >= failedBar ||
		w.Doing() == holdup.Ending && e.holdsUp() && w.Stalled() >= e.m.config.PeerTimeout
}

// drained reports whether this agent can leave.
func (f *finish) drained() bool { return f.recorded && f.radius() == f.lastRadius() }

// radius returns 0 until this agent has finished, and then 1 more than the least radius of its
// neighbours. At radius r+1 all agents up to r edges away have finished, so that at radius n all
// have: none can come back and need what another one sends. An agent whose former process has
// recorded that needs no neighbour for it.
func (f *finish) radius() int {
	if !f.drains {
		return 0
	}
	least := f.lastRadius() - 1
	for _, e := range f.m.view.edges {
		least = min(least, e.radius)
	}
	if f.former {
		least = max(least, f.finishRadius()-1)
	}
	return 1 + least
}

// announcedRadius returns the radius that the neighbours are told. They leave when all of theirs
// have announced that which is enough, which this agent does once it has recorded the finish.
func (f *finish) announcedRadius() int {
	if f.m.chamber != nil && !f.sealed {
		return min(f.radius(), len(f.m.view.epoch.Members)-1)
	}
	if f.recorded {
		return f.radius()
	}
	return min(f.radius(), f.finishRadius()-1)
}

// finishRadius is the radius at which an agent records the finish: that at which it knows that all
// have finished; where there is a council that all know so and are sealed, so that nobody is let in
// by a change which those that leave would not learn of.
func (f *finish) finishRadius() int {
	n := len(f.m.view.epoch.Members)
	if f.m.chamber != nil {
		return 2 * n
	}
	return n
}

// lastRadius is the radius at which an agent leaves. It is one above what is enough, because the
// neighbours of one that has got so far are at radius 2 or more: they know that it has finished,
// and understand its end.
func (f *finish) lastRadius() int { return f.finishRadius() + 1 }

// handleFail ends the run when the neighbour reports that an agent has failed. If that agent is
// another one, the error names the neighbour as its source. Where there is a council,
// [edge.noteFailure] takes the report.
func (e *edge) handleFail(f *frame) error {
	agent := f.exchange
	switch {
	case agent >= e.m.config.agents():
		return fmt.Errorf("it says that agent %d has failed, but there are %d agents", agent, e.m.config.agents())
	case agent == e.m.config.Agent && e.m.chamber == nil: // an honest neighbour passes on what it was told
		return nil
	}
	reported := &network.EndedError{Process: fmt.Sprintf("agent %d", agent), Number: agent,
		Reason: bounded(string(f.text)), Kind: f.detail}
	if agent != e.id {
		reported.Process = fmt.Sprintf("agent %d says that agent %d", e.id, agent)
	}
	if e.m.chamber != nil {
		return e.noteFailure(reported)
	}
	forwarded := *reported
	if agent != e.id { // others are to know whose word it is
		forwarded.Reason = bounded(fmt.Sprintf("as agent %d says, %s", e.id, reported.Reason))
	}
	e.m.endRun(reported, &forwarded)
	return nil
}

// noteFailure takes in that the neighbour has failed where there is a council, which leaves it out.
// Where that leaves less than a quorum this agent fails too. There each agent speaks for
// itself alone.
func (e *edge) noteFailure(said *network.EndedError) error {
	m := e.m
	if said.Number != e.id {
		return fmt.Errorf("it says that agent %d has failed, which only that agent may where members change",
			said.Number)
	}
	if e.failure == nil {
		m.config.Log.Warn("a member has failed", "neighbour", e.id, "reason", said)
	}
	e.failure = said
	left := len(m.view.epoch.Members)
	for _, other := range m.view.edges {
		if other.failure != nil {
			left--
		}
	}
	if left < m.config.Membership.Quorum {
		m.failLocked(said)
	}
	return nil
}
