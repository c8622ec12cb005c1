package session

import (
	"fmt"
	"time"

	"dsbo/network"
	"dsbo/network/register"
)

// handle implements host.
func (a *Agent) handle(c *conn, f frame) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	l := a.lines[c.to]
	if l == nil || l.conn != c {
		return nil // only the end of the stream is of interest
	}
	l.heard = time.Now()
	if l.silent {
		a.config.Log.Info("a neighbour is back", "neighbour", l.agent)
		l.silent = false
	}
	l.stats.FramesReceived++
	l.stats.BytesReceived += int64(f.size)
	s := a.current
	switch f.kind {
	case kindAlive:
		l.activity, l.round = activity(f.purpose), f.exchange
		return nil
	case kindFlood:
		m, err := parseMessage(f.payload)
		if err != nil {
			return badFramef("%w", err)
		}
		a.receive(m, c.to)
		return nil
	case kindVector, kindState:
		if s == nil || f.session != s.x.id {
			return nil // of a session that is over
		}
		var err error
		if f.kind == kindState {
			err = s.x.takeState(c, f)
		} else {
			err = s.x.take(c.to, f)
		}
		if err != nil {
			fault := &network.PeerError{Process: fmt.Sprintf("agent %d", c.to), Exchange: f.exchange, Reason: err}
			a.endLocked(&Over{Session: s.Number, Agent: a.config.Agent, Why: bounded(fault.Error()), Cause: fault}, true)
		}
		return err
	}
	return badFramef("a frame of kind %d must not come after the hellos", f.kind)
}

// receive takes in a message that has come from a neighbour, and passes it on. The lock is held.
func (a *Agent) receive(m message, from int) {
	if m.From == a.config.Agent {
		if m.Instance > a.config.Instance {
			a.fenceLocked(from)
		}
		return
	}
	if !a.route.take(m) {
		return
	}
	if !a.roll.has(m.From) && a.admitLocked(m.From, m.Admission) != nil || a.roll.isRemoved(m.From) {
		return
	}
	a.council.heard[m.From] = time.Now()
	if m.Number > a.council.highest {
		a.council.highest = m.Number
	}
	switch m.Subject {
	case isHere:
		now := time.Now()
		a.council.here[m.From] = presence{now, m.Links, m.Busy}
		a.learnRemovals(m.Removals)
		if a.isMeeting() {
			defer a.lookRound(now)
		}
	case proposes:
		a.asked(m.Number)
	case answers:
		a.collect(*m.Answer)
	case begins:
		a.decided(m)
	case ends:
		a.endLocked(&Over{Session: m.Number, Agent: max(m.Agent-1, 0), Why: m.Why, Slow: m.Slow}, false)
	case final:
		a.finals[m.From] = true
		a.hearFinal(m)
	case fails:
		a.pass(m, from) // before the end of the session, which follows from it
		a.faultLocked(&network.EndedError{Process: fmt.Sprintf("agent %d", m.From), Number: m.From, Reason: m.Why,
			Kind: m.Kind})
		return
	}
	a.pass(m, from)
}

// hearFinal has this agent, if it has the result, know that it is final. The lock is held.
func (a *Agent) hearFinal(m message) {
	a.notify()
	if a.state.Final || a.current != nil || a.looking || a.err != nil {
		return
	}
	a.looking = true
	a.work.Go(func() {
		has, err := a.hasResult()
		if err == nil && has {
			err = a.seal(m.Number)
		}
		if err != nil {
			a.fault(err)
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		a.looking = false
	})
}

// hasResult reports whether the folder has the result.
func (a *Agent) hasResult() (bool, error) {
	defer a.writing()()
	points, err := a.config.Store.Points()
	for _, p := range points {
		if p.Iteration == register.Result {
			return true, err
		}
	}
	return false, err
}

// floodLocked sends a message of this agent to all. The lock is held.
func (a *Agent) floodLocked(m message) {
	a.route.count++
	m.From, m.Instance, m.Count = a.config.Agent, a.config.Instance, a.route.count
	a.pass(m, -1)
}

// pass sends a message to all neighbours but one. The lock is held.
func (a *Agent) pass(m message, but int) {
	frame := m.frame()
	for _, l := range a.lines {
		if l.agent != but {
			l.send(frame)
		}
	}
}

// send sends a frame over the connection that there is.
func (l *line) send(frame []byte) {
	if l.conn == nil {
		return
	}
	l.stats.FramesSent++
	l.stats.BytesSent += int64(len(frame))
	if !l.conn.send(frame) {
		l.conn.drop(errStuck)
	}
}

// end implements desk.
func (a *Agent) end(o *Over) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.endLocked(o, true)
}

// endLocked ends a session if it is under way; tell says whether the others are told. The lock
// is held.
func (a *Agent) endLocked(o *Over, tell bool) {
	s := a.current
	if s == nil || s.Number != o.Session || !s.x.end(o) {
		return
	}
	a.current = nil
	now := time.Now()
	for _, d := range s.x.delays() {
		if l := a.lines[d.agent]; o.Slow && l != nil && l.computes() && now.Sub(d.since) >= a.patience(d.agent)/2 {
			a.slow[d.agent] = struct{}{}
		}
	}
	if a.begun == s {
		a.begun = nil
	}
	a.council.begin(now, s.Epoch.Members)
	a.since, a.over = now, now
	a.config.Log.Info("a session is over", "session", o.Session, "by", o.Agent, "reason", o.Why)
	if tell {
		a.floodLocked(message{Subject: ends, Number: o.Session, Why: bounded(o.Why), Agent: o.Agent + 1, Slow: o.Slow})
	}
	a.notify()
}
