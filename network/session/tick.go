package session

import (
	"fmt"
	"slices"
	"time"

	"dsbo"
	"dsbo/network"
	"dsbo/network/register"
)

// entrySaves is how many times a session saves, at least, between two that end so that agents may
// come in: one that comes and goes does not stop the run.
const entrySaves = 3

// ticker has a heartbeat every so often until the agent is closed.
func (a *Agent) ticker() {
	t := time.NewTicker(a.config.Heartbeat)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			a.heartbeat(time.Now())
		case <-a.closing.Done():
			return
		}
	}
}

// heartbeat tells neighbours and others what this agent is about, and looks at all that may have
// taken too long.
func (a *Agent) heartbeat(now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.route.beat()
	a.tellAlive()
	for _, l := range a.lines {
		a.checkSilence(l, now)
	}
	a.checkDisk(now)
	switch s := a.current; {
	case a.err != nil:
	case a.state.Final:
		a.floodLocked(message{Subject: final})
	case s != nil:
		a.checkSession(s, now)
	default:
		a.meet(now)
	}
}

// tellAlive sends all neighbours a heartbeat.
func (a *Agent) tellAlive() {
	f := frame{kind: kindAlive, purpose: uint64(meeting)}
	if s := a.current; s != nil {
		s.x.mu.Lock()
		f.purpose, f.exchange, f.session = uint64(s.x.activity), s.x.round, s.x.id
		s.x.handover.asked = time.Time{} // what was asked for has not come for a heartbeat
		s.x.notify()
		s.x.mu.Unlock()
	}
	data := newFrame(f, 0)
	for _, l := range a.lines {
		l.send(data)
	}
}

// checkSilence gives up a connection over which nothing comes.
func (a *Agent) checkSilence(l *line, now time.Time) {
	silence := now.Sub(l.heard)
	if silence < a.config.SilentAfter {
		return
	}
	if !l.silent {
		l.silent = true
		a.config.Log.Warn("a neighbour is silent", "neighbour", l.agent, "silent", silence, "connected", l.conn != nil,
			"reason", l.lastErr)
	}
	if l.conn != nil {
		l.conn.drop(fmt.Errorf("nothing heard for %v", silence))
	}
}

// checkDisk reports a disk that does not answer.
func (a *Agent) checkDisk(now time.Time) {
	if a.diskBusy.IsZero() || now.Sub(a.diskBusy) < a.config.PeerTimeout || a.err != nil {
		return
	}
	err := dsbo.Errorf(dsbo.ErrPeer, "the disk of agent %d has not answered for %v", a.config.Agent,
		now.Sub(a.diskBusy).Round(time.Second))
	a.faultLocked(err)
	if hang := a.config.OnDiskHang; hang != nil {
		go hang(err)
	}
}

// checkSession ends a session in which a neighbour is away, or holds up the exchange, for too long.
func (a *Agent) checkSession(s *Session, now time.Time) {
	for _, p := range s.x.ties {
		if l := a.lines[p.agent]; l == nil || l.conn == nil && now.Sub(l.since) >= a.config.Grace {
			a.endLocked(&Over{Session: s.Number, Agent: p.agent, Why: fmt.Sprintf("agent %d is away", p.agent)}, true)
			return
		}
	}
	for _, d := range s.x.delays() {
		l := a.lines[d.agent]
		took := now.Sub(d.since)
		switch {
		case took >= a.config.ComputeTimeout:
		case l.conn == nil || l.activity == waiting: // it is away for the time of grace, or waits itself
			continue
		case l.computes() && took < a.patience(d.agent):
			continue
		case !l.computes() && took < a.timeout():
			continue
		}
		a.endLocked(&Over{Session: s.Number, Agent: d.agent, Slow: l.computes(),
			Why: fmt.Sprintf("agent %d has kept exchange %d waiting for %v, and %s", d.agent, s.x.number(),
				took.Round(time.Second), l.activity)}, true)
		return
	}
}

// computes reports whether the neighbour tells that it is at work.
func (l *line) computes() bool {
	return l.conn != nil && (l.activity == computing || l.activity == saving || l.activity == joining)
}

// timeout is for how long an exchange waits for a neighbour that does not compute.
func (a *Agent) timeout() time.Duration {
	if a.config.AbsentAfter > 0 {
		return a.config.AbsentAfter
	}
	return a.config.PeerTimeout
}

// patience is for how long an exchange waits for what an agent computes: twice as long after each
// time that it was left out for that, and after each session that began at the same point, as where
// none can be left out the next one would end so too.
func (a *Agent) patience(agent int) time.Duration {
	deadline := a.config.ComputeTimeout
	if a.config.StragglerDeadline > 0 {
		deadline = a.config.StragglerDeadline
	}
	for range a.state.Log.SlowDepartures(agent) + max(0, a.state.Attempts.Count-1) {
		deadline = min(2*deadline, a.config.ComputeTimeout)
	}
	return deadline
}

// String names an activity, as in "agent 3 computes".
func (a activity) String() string {
	names := []string{"is in no session", "computes", "waits", "saves", "begins the session"}
	return names[min(int(a), len(names)-1)]
}

// meet tells all that this agent is here, and proposes a session where that is its turn.
func (a *Agent) meet(now time.Time) {
	a.tellHere()
	a.lookRound(now)
	if a.wait != a.logged {
		if a.logged = a.wait; a.wait != "" {
			a.config.Log.Info("no session yet", "reason", a.wait)
		}
	}
	for _, l := range a.lines {
		if l.conn != nil && l.activity != meeting {
			a.since = now // others go on meanwhile
		}
	}
	switch finished := len(a.finals) > 0 && !a.council.hearsAnyone(now); {
	case finished && now.Sub(a.since) >= a.config.SilentAfter:
		a.faultLocked(dsbo.Errorf(dsbo.ErrPeer, "the others have finished without agent %d: their result is final "+
			"(-result takes it from a folder of one of them)", a.config.Agent))
	case now.Sub(a.since) >= a.config.PeerTimeout:
		a.faultLocked(a.nobody(now))
	}
}

// tellHere tells all that this agent is here, and to whom it is connected. The lock is held.
func (a *Agent) tellHere() {
	a.floodLocked(message{Subject: isHere, Number: a.state.Promised, Links: a.connected(), Busy: !a.idle,
		Admission: a.config.Admission,
		Removals:  a.roll.removals()})
}

// lookRound proposes a session where that is this agent's turn. The lock is held.
func (a *Agent) lookRound(now time.Time) {
	t := a.council.look(now, a.connected(), a.roll.roster(&a.config))
	a.away = t.away
	if t.wait != "" {
		a.wait = t.wait
	}
	if t.mine {
		a.propose(t.present)
	}
}

// isMeeting reports whether there is no session at this agent, and one may begin.
func (a *Agent) isMeeting() bool { return a.err == nil && a.current == nil && !a.state.Final }

// nobody is the error of a meeting that has led to no session.
func (a *Agent) nobody(now time.Time) error {
	e := &network.SilentError{Silent: now.Sub(a.since).Round(time.Second)}
	for _, i := range a.roll.agents(a.config.Matrix.N()) {
		if i != a.config.Agent && !a.council.isHere(i, now) {
			e.Processes = append(e.Processes, fmt.Sprintf("agent %d", i))
		}
		if l := a.lines[i]; l != nil && l.lastErr != nil {
			e.Last = l.lastErr
		}
	}
	if e.Processes == nil {
		return dsbo.Errorf(dsbo.ErrPeer, "no session for %v: %s", e.Silent, a.wait)
	}
	return e
}

// awaitsEntry implements desk.
func (a *Agent) awaitsEntry(s register.Session) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.saves++; a.saves < entrySaves {
		return false
	}
	now := time.Now()
	guest := slices.ContainsFunc(a.roll.agents(a.config.Matrix.N()), func(i int) bool {
		_, member := s.Epoch.Position(i)
		return !member && a.council.isHere(i, now) && !a.council.here[i].busy
	})
	again := slices.ContainsFunc(s.Epoch.Cut, func(e [2]int) bool {
		l := a.lines[e[0]+e[1]-a.config.Agent]
		return (e[0] == a.config.Agent || e[1] == a.config.Agent) && l != nil && l.conn != nil
	})
	if guest || again {
		a.saves = 0
	}
	return guest || again
}
