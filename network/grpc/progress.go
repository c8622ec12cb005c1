package grpc

import (
	"errors"
	"fmt"
	"time"

	"dsbo"
	"dsbo/network"
	"dsbo/network/grpc/holdup"
)

// newWatch returns the watch over this agent's exchanges.
func (c *Config) newWatch() holdup.Watch {
	return holdup.NewWatch(c.Agent, holdup.Limits{
		Heartbeat: c.Heartbeat, SilentAfter: c.SilentAfter, Stalled: c.PeerTimeout, Computing: c.ComputeTimeout,
		Agents: c.agents(),
	}, c.Log)
}

// holdup returns what this agent waits for, nil if it does not wait. Of several neighbours that it
// waits for, it is the first with the worst cause, of these the first that nobody contradicts.
func (m *Mixer) holdup() (worst *Holdup) {
	if m.watch.Doing() == holdup.AwaitingKeys {
		if agent, some := m.keys.Missing(); some {
			worst = &Holdup{Agent: agent, Source: -1, Cause: holdup.ByNoKey}
		}
	}
	for _, e := range m.view.edges {
		if e.holdsUp() {
			if h := e.holdup(); h.IsWorse(worst) {
				worst = h
			}
		}
	}
	return m.watch.Complete(worst, m.flow.round)
}

// holdsUp reports whether this agent waits for the neighbour: for its vector, or at the end for its
// news of the others.
func (e *edge) holdsUp() bool {
	switch e.m.watch.Doing() {
	case holdup.Exchanging:
		return e.isAwaited()
	case holdup.Ending:
		return e.radius < e.m.finish.lastRadius() && e.radius < e.m.finish.radius()
	case holdup.AwaitingKeys: // it has to pass this agent's on
		return !e.m.keys.Confirms(e.confirmed)
	}
	return false
}

// holdup returns who holds up this agent as far as the neighbour goes.
func (e *edge) holdup() *Holdup {
	m := e.m
	return m.watch.Judge(holdup.Neighbour{
		Agent: e.id, Silent: e.isSilent(),
		Reported: e.reported, Report: e.report, EarlierEpoch: e.isInEarlierEpoch(), Staged: m.flow.staged,
	}, m.flow.round, func(agent int) bool {
		other := m.neighbours.edge(agent)
		return agent == m.config.Agent || other != nil && other.position >= 0 && other.conduct.clears(e)
	})
}

// clears reports whether the neighbour is known not to hold up another one, as it has sent this
// agent what is due: its vector, or at the end more news than that one says to have of it. In a
// reduction one that has sent to this agent may yet have to send to others: it is believed of as
// long as it is heard. Nothing is known of agents to which no edge is in use.
func (e *conduct) clears(other *edge) bool {
	switch e.m.watch.Doing() {
	case holdup.Exchanging:
		return !e.isAwaited() && !(e.m.flow.staged && e.isSilent())
	case holdup.Ending: // the other one's radius is at most 1 more than what it has been told
		return e.radius >= other.radius
	}
	return false
}

// obstacle returns what this agent waits for, or who has it go back again and again; nil if it
// goes on.
func (m *Mixer) obstacle() *Holdup {
	if h := m.watch.Setbacks(); h != nil {
		return h
	}
	return m.holdup()
}

// checkWait counts a heartbeat of the exchange under way, and returns an error where that has
// waited too long. Where there is a council, that leaves the agent out (observe), and only a member
// that has diverged ends the wait.
func (m *Mixer) checkWait() error {
	c := &m.config
	if m.watch.Doing() == holdup.Saving && m.watch.Waiting() >= c.PeerTimeout {
		err := fmt.Errorf("agent %d has been writing a file for %v: the disk does not answer", c.Agent,
			m.watch.Waiting().Round(time.Second))
		if c.OnDiskHang != nil {
			go c.OnDiskHang(err)
		}
		return err
	}
	h := m.obstacle()
	if h == nil {
		return nil
	}
	if m.watch.Beat(h) {
		m.neighbours.askAgain()
	}
	m.spendWait(h)
	switch {
	case !m.watch.Exceeds(h) || m.watch.Doing() == holdup.Ending && m.finish.allFinished():
		return nil
	case m.chamber != nil:
		return m.divergence()
	}
	err := &network.HoldupError{Process: fmt.Sprintf("agent %d", h.Agent), Holdup: h.String()}
	if e := m.neighbours.edge(h.Agent); e != nil {
		err.Last = e.lastErr
	}
	return err
}

// askAgain drops the streams of neighbours that are there and do not send what is due, so that new
// ones open. The hello of a new stream asks for the vectors that this agent needs, and the stream
// carries all keys. What a liar has left out for a time is then not lost.
func (n *neighbours) askAgain() {
	m := n.m
	for _, e := range m.view.edges {
		due := m.watch.Doing() == holdup.AwaitingKeys
		if m.watch.Doing() == holdup.Exchanging && e.isAwaited() {
			h := e.holdup()
			due = h.Agent == e.id && h.Cause == holdup.ByWithholding
		}
		if due && e.session != nil {
			e.session.drop(errWithheld)
		}
	}
}

// divergence returns the failure of a member whose run has diverged, nil if there is none. Where
// there is a council it has been left out as it failed, or those that are left are no quorum: the
// others may have failed too, out of this agent's sight. Nobody starts it again, so that no
// patience helps.
func (m *Mixer) divergence() error {
	for _, e := range m.view.edges {
		if errors.Is(e.failure, dsbo.ErrDiverged) {
			return e.failure
		}
	}
	return nil
}

// Saving says that a file is being written until done is called: neighbours that wait are told, and
// if it takes longer than Config.PeerTimeout the run ends, as the disk does not answer. It belongs
// to the goroutine of Mix.
func (m *Mixer) Saving() (done func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.watch.Doing()
	m.watch.Begin(holdup.Saving)
	m.hasSaved, m.saved = true, m.flow.round
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.watch.Begin(before)
	}
}
