package session

import (
	"context"
	"fmt"
	"time"

	"dsbo"
	"dsbo/network/register"
)

// entrySaves is the least number of saves between two sessions that end to admit joining agents, so
// that an agent that joins and leaves repeatedly does not stop the run.
const entrySaves = 3

// every calls do once in a period until ctx is over. Calls do not overlap: a period that do takes
// longer than is left out.
func every(ctx context.Context, period time.Duration, do func(now time.Time)) {
	t := time.NewTicker(period)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			do(time.Now())
		case <-ctx.Done():
			return
		}
	}
}

// heartbeat sends this agent's state to neighbours and to all, and checks everything that may have
// taken too long.
func (a *Agent) heartbeat(now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	alive := frame{kind: kindAlive, purpose: uint64(meeting)}
	if s := a.chain.current; s != nil {
		alive.purpose = uint64(s.x.activity)
	}
	a.neighbours.beat(newFrame(alive, 0), now, a.config.SilentAfter)
	if busy := a.ledger.busy(now); busy >= a.config.PeerTimeout && a.err == nil {
		err := dsbo.Errorf(dsbo.ErrPeer, "the disk of agent %d has not answered for %v", a.config.Agent,
			busy.Round(time.Second))
		a.faultLocked(err)
		if hang := a.config.OnDiskHang; hang != nil {
			go hang(err)
		}
	}
	state := a.ledger.read()
	switch s := a.chain.current; {
	case a.err != nil:
	case s != nil:
		if o := a.config.overdue(s, state, now); o != nil {
			a.endLocked(o, true)
		}
	case state.Final:
		a.neighbours.flood(finalMessage(state))
		if !a.isThrough() {
			a.tellHere()
			a.proposeIfDue(now)
		}
		wake(a.news)
	default:
		a.convene(now)
	}
}

// convene announces this agent's presence to all, proposes a session if it is its turn, and gives
// up a meeting that leads to none. The caller has the lock.
func (a *Agent) convene(now time.Time) {
	a.tellHere()
	a.proposeIfDue(now)
	c := a.council
	if reason, isNew := c.newReason(); isNew {
		a.config.Log.Info("no session yet", "reason", reason)
	}
	if a.neighbours.goesOn() {
		c.since = now // the other agents continue meanwhile
	}
	switch met := now.Sub(c.since); {
	case c.hasMissedTheEnd(now) && met >= a.config.SilentAfter:
		a.faultLocked(dsbo.Errorf(dsbo.ErrPeer, "the others have finished without agent %d: their result is final "+
			"(-result takes it from a folder of one of them)", a.config.Agent))
	case met >= a.config.PeerTimeout:
		a.faultLocked(c.silence(now, a.warrants.agents(), a.neighbours.lines))
	}
}

// timeout is the time that an exchange waits for a neighbour that does not compute.
func (c *Config) timeout() time.Duration {
	if c.AbsentAfter > 0 {
		return c.AbsentAfter
	}
	return c.PeerTimeout
}

// patience is the time that an exchange waits for an agent's computation. It doubles after each
// time that the agent was left out for that. It also doubles after each session that began at the
// same point: if nobody can be left out, the next session would end the same way.
func (c *Config) patience(agent int, state register.State) time.Duration {
	deadline := min(c.StragglerDeadline, c.ComputeTimeout)
	for range state.Log.SlowDepartures(agent) + max(0, state.Attempts.Count-1) {
		deadline = min(2*deadline, c.ComputeTimeout)
	}
	return deadline
}

// overdue returns the reason to end a session because a neighbour is away, or delays the exchange,
// for too long; nil: none is.
func (c *Config) overdue(s *Session, state register.State, now time.Time) *register.Over {
	for _, p := range s.x.edges {
		if p.line.conn == nil && now.Sub(p.line.since) >= c.Grace {
			return &register.Over{Session: s.Number, Agent: p.agent, Why: fmt.Sprintf("agent %d is away", p.agent)}
		}
	}
	took := now.Sub(s.x.since)
	for _, p := range s.x.late() {
		l, limit := p.line, c.timeout()
		switch {
		case l.conn == nil || l.activity == waiting: // it may still come back in time, or waits for another one
			limit = c.ComputeTimeout
		case l.computes():
			limit = c.patience(p.agent, state)
		}
		if took >= min(limit, c.ComputeTimeout) {
			return &register.Over{Session: s.Number, Agent: p.agent, Slow: l.computes(),
				Why: fmt.Sprintf("agent %d has kept exchange %d waiting for %v, and %s", p.agent, s.x.round,
					took.Round(time.Second), l.activity)}
		}
	}
	return nil
}

// slow returns the neighbours for which a session waits, and which still compute, after half of the
// patience that there is with each; ascending.
func (c *Config) slow(s *Session, state register.State, now time.Time) (all []int) {
	for _, p := range s.x.late() {
		if p.line.computes() && now.Sub(s.x.since) >= c.patience(p.agent, state)/2 {
			all = append(all, p.agent)
		}
	}
	return all
}
