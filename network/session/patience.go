package session

import (
	"fmt"
	"time"

	"dsbo/network/register"
)

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
