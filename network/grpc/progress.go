package grpc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"dsbo"
	"dsbo/network"
)

// An activity is what an agent is about.
type activity uint8

const (
	computing  activity = iota // between two exchanges
	saving                     // a file is written
	exchanging                 // vectors of the neighbours are awaited
	asking                     // keys of masks are awaited
	ending                     // the others' end is awaited
	activityEnd
)

// A cause is why an agent holds up others.
type cause uint8

const (
	causeComputing   cause = iota // it says that it does, which takes the time that it takes
	causeSaving                   // it says that a file is being written
	causeSilence                  // nothing is heard of it
	causeWithholding              // it is there and does not send what is due
	causeNoKey                    // its key has not come
	causeSetbacks                 // it has this agent go back again and again
	causeEnd                      // the first number that is no cause
)

func (c cause) String() string {
	return [...]string{"it computes", "it writes a file", "it is silent", "it is there and does not send what is due", "the key of its masks has not come",
		"it has this agent go back again and again"}[c]
}

// A report is what an agent says of itself with each heartbeat, so that of a whole chain of agents that wait the one that holds
// them up is known to all.
type report struct {
	doing  activity
	round  int // the next exchange, or the one under way
	holder int // who holds up the sender, in the end; the sender itself if nobody does
	cause  cause
}

// reportLength is that of the payload of an alive frame; an earlier version may send none.
const reportLength = 8

func (r report) encode() []byte {
	return binary.LittleEndian.AppendUint32([]byte{byte(r.doing), byte(r.cause), 0, 0}, uint32(r.holder))
}

// readReport reads the report in an alive frame.
func readReport(f *frame) (r report, ok bool) {
	if len(f.text) < reportLength || f.text[0] >= byte(activityEnd) || f.text[1] >= byte(causeEnd) {
		return r, false
	}
	return report{activity(f.text[0]), f.exchange, int(binary.LittleEndian.Uint32(f.text[4:])), cause(f.text[1])}, true
}

// ownReport returns what this agent says of itself.
func (m *Mixer) ownReport() report {
	r := report{doing: m.activity, round: m.round, holder: m.config.Agent, cause: causeComputing}
	if m.activity == saving {
		r.cause = causeSaving
	}
	if h := m.holdup(); h != nil {
		r.holder, r.cause = h.Agent, h.cause
	}
	return r
}

// A Holdup is what an exchange waits for.
type Holdup struct {
	Agent     int           // who holds it up
	Source    int           // the neighbour that says so; the agent itself, or -1 if this agent knows it of itself
	Exchange  int           // the exchange that waits
	Waiting   time.Duration // since it does
	Computing bool          // the agent says that it computes: all is well, but slow
	Reason    string
	cause     cause
}

func (h *Holdup) String() string {
	s := fmt.Sprintf("exchange %d has waited for agent %d for %v: %s", h.Exchange, h.Agent, h.Waiting.Round(time.Second), h.Reason)
	if h.Source >= 0 && h.Source != h.Agent {
		s += fmt.Sprintf(", as agent %d says", h.Source)
	}
	return s
}

// setActivity notes what this agent is about from now on.
func (m *Mixer) setActivity(a activity) {
	m.activity, m.activeSince = a, time.Now()
}

// holdup returns what this agent waits for, nil if it does not wait. Of several neighbours it waits for, that is the one
// with the worst cause, and of these the first.
func (m *Mixer) holdup() (worst *Holdup) {
	if m.activity == asking {
		worst = m.awaitedKey()
	}
	for _, e := range m.view.edges {
		if e.holdsUp() {
			if h := e.holdup(); worst == nil || h.cause > worst.cause {
				worst = h
			}
		}
	}
	if worst != nil {
		worst.Exchange, worst.Waiting = m.round, time.Since(m.activeSince)
		worst.Computing, worst.Reason = worst.cause == causeComputing, worst.cause.String()
	}
	return worst
}

// awaitedKey returns the first agent whose key is awaited; nil if there is none.
func (m *Mixer) awaitedKey() *Holdup {
	if agent, some := m.keys.Missing(); some {
		return &Holdup{Agent: agent, Source: -1, cause: causeNoKey}
	}
	return nil
}

// holdsUp reports whether this agent waits for the neighbour: for its vector, or at the end for its news of the others.
func (e *edge) holdsUp() bool {
	switch e.m.activity {
	case exchanging:
		return e.isAwaited()
	case ending:
		return e.radius < e.m.lastRadius() && e.radius < e.m.radius()
	}
	return false
}

// holdup returns who holds up this agent as far as the neighbour goes. One that waits itself does so in an earlier exchange, or
// nearer to an agent that has not finished: what it says of another agent is passed on only then, so that in a chain of agents which wait
// nobody is blamed but its end.
func (e *edge) holdup() *Holdup {
	m, r := e.m, e.report
	h := &Holdup{Agent: e.id, Source: -1, cause: causeWithholding}
	behind := r.round < m.round || m.activity == ending
	works := behind || r.round == m.round || e.isInEarlierEpoch() // if it does, on what is due
	switch {
	case e.session == nil || e.silence() >= m.config.SilentAfter:
		h.cause = causeSilence
	case !e.reported:
	case r.doing == computing && works:
		h.cause, h.Source = causeComputing, e.id
	case r.doing == saving && works:
		h.cause, h.Source = causeSaving, e.id
	case r.doing == ending && m.activity != ending, !behind && r.doing != asking:
	case r.holder != e.id && r.holder < m.config.agents() && !m.hasSent(r.holder):
		h.Agent, h.cause, h.Source = r.holder, r.cause, e.id
	}
	return h
}

// hasSent reports whether this agent knows of another one that it does not hold up the exchange under way: it is a neighbour whose vector
// is here, or this one.
func (m *Mixer) hasSent(agent int) bool {
	e := m.edge(agent)
	return agent == m.config.Agent || e != nil && m.activity == exchanging && !e.isAwaited()
}

// watch counts how long this agent has waited, says so in the log, and returns an error where it is too long: for one that holds up all
// without a reason, after PeerTimeout, and for one that says that it computes, after ComputeTimeout. It is called once a heartbeat.
// Where there is a council, that leaves the agent out (observe), and only a member that has diverged ends the wait. What counts is the exchange under way: neither a new connection nor a sign of life begins the wait anew.
func (m *Mixer) watch() error {
	c := &m.config
	if m.activity == saving && time.Since(m.activeSince) >= c.PeerTimeout {
		err := fmt.Errorf("agent %d has been writing a file for %v: the disk does not answer", c.Agent, time.Since(m.activeSince).Round(time.Second))
		if c.OnDiskHang != nil {
			go c.OnDiskHang(err)
		}
		return err
	}
	h := m.obstacle()
	if h == nil {
		return nil
	}
	m.waitedBeats++
	if !h.Computing {
		m.stalledBeats++
	}
	stalled, waited := m.heartbeatsFor(m.stalledBeats), m.heartbeatsFor(m.waitedBeats)
	if !h.Computing && stalled >= c.SilentAfter && !m.stallLogged {
		m.stallLogged = true
		c.Log.Warn("an exchange is held up", "exchange", h.Exchange, "by agent", h.Agent, "since", h.Waiting.Round(c.Heartbeat), "reason", h.Reason, "says", h.Source)
	}
	patience := c.PeerTimeout
	if h.Source >= 0 && h.Source != h.Agent {
		patience += c.SilentAfter // who says so knows more, and ends the run before with what it knows
	}
	switch {
	case stalled < patience && waited < c.ComputeTimeout || m.activity == ending && m.allFinished():
		return nil
	case m.chamber != nil:
		return m.divergence()
	}
	err := &network.HoldupError{Process: fmt.Sprintf("agent %d", h.Agent), Holdup: h.String()}
	if e := m.edge(h.Agent); e != nil {
		err.Last = e.lastErr
	}
	return err
}

// divergence returns the failure of a member whose run has diverged, nil if there is none. Where there is a council it has been left out as it failed, or
// those that are left are no quorum: the others may have failed too, out of this agent's sight. Nobody starts it again, so that no
// patience helps.
func (m *Mixer) divergence() error {
	for _, e := range m.view.edges {
		if errors.Is(e.failure, dsbo.ErrDiverged) {
			return e.failure
		}
	}
	return nil
}

// obstacle returns what this agent waits for, or who has it go back again and again; nil if it goes on.
func (m *Mixer) obstacle() *Holdup {
	if m.setbacks > maxSetbacks { // whatever comes, it comes to nothing
		return &Holdup{Agent: m.setbackBy, Source: -1, Exchange: m.reached, Waiting: m.heartbeatsFor(m.waitedBeats), Reason: causeSetbacks.String(), cause: causeSetbacks}
	}
	return m.holdup()
}

func (m *Mixer) heartbeatsFor(n int) time.Duration { return time.Duration(n) * m.config.Heartbeat }

// maxSetbacks is how often neighbours may have this agent go back before it is further than it was. Agents whose checkpoints differ
// meet after a few; one that goes on with that keeps all others from going on.
const maxSetbacks = 16

// noteProgress begins the wait anew, as an exchange has ended.
func (m *Mixer) noteProgress() {
	if m.round > m.reached {
		m.reached, m.setbacks = m.round, 0
	}
	if m.setbacks > maxSetbacks {
		return
	}
	if m.stallLogged {
		m.config.Log.Info("the exchange goes on", "exchange", m.round, "after", time.Since(m.activeSince).Round(m.config.Heartbeat))
	}
	m.stalledBeats, m.waitedBeats, m.stallLogged = 0, 0, false
}

// Saving says that a file is being written until done is called: neighbours that wait are told, and if it takes longer than
// Config.PeerTimeout the run ends, as the disk does not answer. It belongs to the goroutine of Mix.
func (m *Mixer) Saving() (done func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.activity
	m.setActivity(saving)
	m.hasSaved = true
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.setActivity(before)
	}
}
