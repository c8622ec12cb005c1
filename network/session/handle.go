package session

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"dsbo"
	"dsbo/network"
	"dsbo/network/register"
)

// greeting implements host.
func (a *Agent) greeting(to int) (session uint64, due int, removal string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	removal = a.warrants.removed[to]
	if s := a.chain.current; s != nil {
		return s.x.id, s.x.due(to), removal
	}
	return 0, 0, removal
}

// admit implements host: an agent of an admission that is good becomes known first.
func (a *Agent) admit(h hello) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if h.Admission != "" {
		if err := a.welcome(h.From, h.Admission); err != nil {
			return err
		}
	}
	_, err := a.neighbours.lineOf(h, &a.warrants, a.config.SilentAfter)
	return err
}

// welcome records an agent that shows an admission. The caller has the lock.
func (a *Agent) welcome(agent int, admission string) error {
	neighbours, err := a.warrants.admit(&a.config, a.links.identity(), agent, admission)
	if err == nil && slices.Contains(neighbours, a.config.Agent) && a.neighbours.lines[agent] == nil {
		a.neighbours.lines[agent] = &line{agent: agent} // which connects to this one
	}
	return err
}

// attach implements host. A new process of the neighbour, or one that is in another session, ends
// the session under way; else the neighbour gets the vectors that it lacks.
func (a *Agent) attach(c *conn, h hello) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if h.Removal != "" {
		if err := a.remove(h.Removal); err != nil {
			return err
		}
	}
	l, err := a.neighbours.lineOf(h, &a.warrants, a.config.SilentAfter)
	if err != nil {
		return err
	}
	if old := l.conn; old != nil {
		reason := errReplaced
		if h.Instance != l.instance {
			reason = errFenced
		}
		a.disconnect(l, reason)
		old.drop(reason)
	}
	anew := l.attach(c, h.Instance, time.Now()) // after disconnect, which would take c off
	a.config.Log.Info("connected to a neighbour", "neighbour", l.agent, "key", c.key, "program",
		h.Program.Version)
	if a.isMeeting() {
		a.tellHere() // so that no agent waits for a heartbeat
	}
	s := a.chain.current
	switch {
	case s == nil || s.x.edgeOf(l.agent) == nil:
	case anew:
		a.endCurrent(l.agent, "its process began anew", nil)
	case h.Session != s.x.id:
		a.endCurrent(l.agent, "it is not in this session", nil)
	default:
		s.x.repeat(l.agent, h.Due)
	}
	return nil
}

// detach implements host. A frame that must not be ends the session; without one it may go on over
// another connection.
func (a *Agent) detach(c *conn, why error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	l := a.neighbours.lines[c.to]
	if l == nil || l.conn != c {
		return
	}
	s := a.chain.current
	if _, bad := errors.AsType[*badFrame](why); bad && s != nil && s.x.edgeOf(c.to) != nil {
		// at once: a connection that was only lost may be made again
		a.endLocked(s.faultOf(c.to, s.x.round, why), true)
	}
	a.disconnect(l, why)
}

// disconnect records the end of a neighbour's connection, which is no error once the result is
// final. The caller has the lock.
func (a *Agent) disconnect(l *line, why error) {
	if l.detach(why, time.Now()); a.err == nil && !a.ledger.read().Final {
		a.config.Log.Warn("lost the connection to a neighbour", "neighbour", l.agent, "reason", why)
	}
}

// refused implements host. It ends this agent's part if a later process of this agent is there, or
// all neighbours refuse its settings: no wait would help.
func (a *Agent) refused(agent int, why error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	l := a.neighbours.lines[agent]
	if l == nil || l.conn != nil {
		return
	}
	_, l.strange = errors.AsType[*settingsError](why)
	l.lastErr = why
	if fenced := (*fencedError)(nil); errors.As(why, &fenced) {
		a.faultLocked(fenced)
	}
	if a.neighbours.isStrange() {
		a.faultLocked(dsbo.ConfigErrorf("%w", why))
	}
}

// handle implements host. What comes over a connection that was replaced, and vectors of other
// sessions, are passed over.
func (a *Agent) handle(c *conn, f frame) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	l := a.neighbours.receive(c, f.size, time.Now())
	if l == nil {
		return nil // only the end of the stream is of interest
	}
	switch f.kind {
	case kindAlive:
		if f.purpose > uint64(joining) {
			return badFramef("a heartbeat must have an activity, 0 to %d; it has %d", joining, f.purpose)
		}
		l.activity = activity(f.purpose)
		return nil
	case kindFlood:
		if a.neighbours.isKnown(f.payload) {
			return nil
		}
		m, err := parseMessage(f.payload)
		if err != nil {
			return badFramef("%w", err)
		}
		a.receive(m, c.to)
		return nil
	case kindVector:
		s := a.chain.current
		if s == nil || f.session != s.x.id {
			return nil // of a session that is over
		}
		err := s.x.accept(c.to, f)
		if err != nil {
			a.endLocked(s.faultOf(c.to, f.exchange, err), true)
		}
		return err
	}
	return badFramef("a frame of kind %d must not come after the hellos", f.kind)
}

// receive handles a message from a neighbour, and forwards it, also where this agent has no use for
// it: but each once, and none of agents that are unknown or removed. The caller has the lock.
func (a *Agent) receive(m message, from int) {
	if m.From == a.config.Agent { // its own message, on a way round, or another process of this agent's
		if m.Instance > a.config.Instance {
			a.faultLocked(&fencedError{Agent: a.config.Agent, Neighbour: from})
		}
		return
	}
	isStranger := !a.warrants.has(m.From) && a.welcome(m.From, m.Admission) != nil
	if isStranger || a.warrants.isRemoved(m.From) || !a.neighbours.isNew(m) {
		return
	}
	a.neighbours.note(m.text)
	now := time.Now()
	a.council.receive(m, now)
	if state := a.ledger.read(); state.Accepts(m.Number) { // no member can use up the numbers
		a.council.highest = max(a.council.highest, m.Number)
	}
	switch m.Subject {
	case isHere:
		for agent, text := range m.Removals {
			if a.warrants.isRemoved(agent) {
				continue
			}
			if err := a.remove(text); err != nil {
				a.config.Log.Warn("a removal is refused", "agent", agent, "reason", bounded(err.Error()))
			}
		}
		if a.isMeeting() {
			defer a.proposeIfDue(now) // after the message is passed on
		}
	case proposes:
		a.asked(m.Number)
	case answers:
		a.collect(*m.Answer)
	case begins:
		a.decided(m)
	case ends:
		a.endLocked(&register.Over{Session: m.Number, Agent: m.Agent - 1, Why: m.Why, Slow: m.Slow}, false)
	case final:
		a.hearFinal()
	case fails:
		a.neighbours.pass(m, from) // before the end of the session, which follows from it
		a.faultLocked(&network.EndedError{Process: fmt.Sprintf("agent %d", m.From), Number: m.From, Reason: m.Why,
			Kind: m.Kind})
		return
	}
	a.neighbours.pass(m, from)
}

// hearFinal learns from another agent that the result is final: it marks it so if this agent has
// it, and else notes that it lacks it, which its next announcements have. Members of a session
// learn it by their own Finish. The caller has the lock.
func (a *Agent) hearFinal() {
	wake(a.news)
	if a.chain.current != nil || a.looking || a.err != nil || a.ledger.read().Final {
		return
	}
	a.looking = true
	a.work.Go(func() { // without the lock, as a disk may take long
		has, err := a.ledger.hasResult()
		if err == nil && has {
			err = a.ledger.seal(false)
		}
		switch {
		case err != nil:
			a.fault(err)
		case has:
			a.sealed()
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		a.looking, a.council.lacks = false, err == nil && !has
	})
}

// awaitsEntry implements owner, once a save. It is true, at most once in entrySaves saves, if an
// agent could join the next session or a cut edge of this agent is connected again.
func (a *Agent) awaitsEntry(s register.Session) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.chain.saves++; a.chain.saves < entrySaves {
		return false
	}
	now := time.Now()
	guest := slices.ContainsFunc(a.warrants.agents(), func(i int) bool {
		_, member := s.Epoch.Position(i)
		return !member && a.council.isHere(i, now) && !a.council.here[i].busy
	})
	again := slices.ContainsFunc(s.Epoch.Cut, func(e [2]int) bool {
		if !slices.Contains(e[:], a.config.Agent) {
			return false
		}
		l := a.neighbours.lines[e[0]+e[1]-a.config.Agent] // to the other end
		return l != nil && l.conn != nil
	})
	if guest || again {
		a.chain.saves = 0
	}
	return guest || again
}

// sealed implements owner: it ends the session here, and has all others know that the result is
// final.
func (a *Agent) sealed() {
	state := a.ledger.read()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.council.finals[a.config.Agent], a.council.lacks = state.Known, false
	clear(a.council.here)
	a.chain.sealed = time.Now()
	if s := a.chain.current; s != nil { // without endLocked: it is over at each member, and no meeting follows
		a.chain.current = nil
		s.x.end(&register.Over{Session: s.Number, Agent: a.config.Agent, Why: "the result is final"})
	}
	a.neighbours.flood(finalMessage(state))
	wake(a.news)
}

// end implements owner.
func (a *Agent) end(o *register.Over) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.endLocked(o, true)
}

// endCurrent ends the current session, if any, for all, because of an agent. The caller has the
// lock.
func (a *Agent) endCurrent(agent int, why string, cause error) {
	if s := a.chain.current; s != nil {
		a.endLocked(&register.Over{Session: s.Number, Agent: agent, Why: why, Cause: cause}, true)
	}
}

// endLocked ends a session if it is current; tell is true if the other members must be told. The
// caller has the lock.
func (a *Agent) endLocked(o *register.Over, tell bool) {
	s := a.chain.current
	if s == nil || s.Number != o.Session || !s.x.end(o) {
		return
	}
	now := time.Now()
	if o.Slow {
		a.chain.slow = a.config.slow(s, a.ledger.read(), now)
	}
	a.chain.current, a.chain.begun, a.chain.over = nil, nil, now
	a.council.begin(now, s.Epoch.Members)
	a.config.Log.Info("a session is over", "session", o.Session, "because_of", o.Agent, "reason", o.Why)
	if tell {
		a.neighbours.flood(message{Subject: ends, Number: o.Session, Why: bounded(o.Why), Agent: o.Agent + 1,
			Slow: o.Slow})
	}
	wake(a.news)
}
