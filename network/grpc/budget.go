package grpc

import (
	"fmt"
	"time"

	"dsbo/internal/guard"
	"dsbo/network/grpc/holdup"
	"dsbo/network/membership"
)

// What a neighbour does that brings an exchange no further is counted against it, in time: an agent
// has Config.DelayBudget of it in an hour, for each neighbour. Each may be as it should be, once:
// messages come twice, connections are lost, and who comes back from a checkpoint repeats itself.
// Whose budget is spent has failed, as if it had said so: where there is a council it is left out,
// until another process of it comes.
const (
	wasteSetback = 10 * time.Second       // it has this agent go back, at least: what is done again counts
	wasteConnect = time.Second            // another connection
	wasteCouncil = time.Second            // a message of the council that cannot be read, or is not signed
	wasteTwice   = 100 * time.Millisecond // a message of the council, or a question, that has come before
	wasteRepeat  = 10 * time.Millisecond  // a vector that has come before

	// departures is how often it may be left out, or begin with another's state, for a budget: all
	// go back to a checkpoint each time. A setback costs no more.
	departures = 10

	budgetPeriod = time.Hour
	leastBudget  = 30 * time.Minute // what DelayBudget is if nothing else is said, or ten absences
)

// newBudget returns what neighbours may cost this agent.
func (c *Config) newBudget() guard.Budget {
	return guard.Budget{Most: c.DelayBudget, Period: budgetPeriod}
}

// spend counts a waste of time against the neighbour.
func (e *conduct) spend(waste time.Duration, reason any) {
	if m := e.m; !m.budget.Spend(e.id, time.Now(), waste) {
		e.exceed(fmt.Errorf("agent %d has delayed this agent by %v in an hour, which is all that it may: at last, %v",
			e.id, m.config.DelayBudget, reason))
	}
}

// exceed has the neighbour's process count as one that has spent its budget.
func (e *conduct) exceed(reason error) {
	if e.exceeded != nil {
		return
	}
	e.exceeded = reason
	e.m.config.Log.Warn("a neighbour has spent its budget", "neighbour", e.id, "reason", reason)
	if e.m.chamber != nil && e.failure == nil {
		e.failure = reason
	}
}

// spendSetback counts what is done again as the neighbour has this agent go back. None has it go
// back again and again without that it gets further.
func (e *conduct) spendSetback(reason error) {
	m := e.m
	lost := max(wasteSetback, m.watch.SetBack(e.id))
	if h := m.watch.Setbacks(); h != nil {
		e.exceed(fmt.Errorf("agent %d: %s", e.id, h))
	}
	e.spend(min(lost, max(wasteSetback, m.config.DelayBudget/departures)), reason)
}

// spendWait counts a heartbeat for which the exchange under way has waited for a neighbour that
// does not say what it is about.
func (m *Mixer) spendWait(h *Holdup) {
	switch h.Cause {
	case holdup.ByComputing, holdup.BySaving:
		return
	}
	if e := m.neighbours.edge(h.Agent); e != nil && h.Source < 0 && h.Waiting >= m.config.Heartbeat {
		e.conduct.spend(m.config.Heartbeat, h)
	}
}

// spendChange counts the newest change of a log against the neighbours that it loses.
func (c *chamber) spendChange(log membership.Log) {
	for _, e := range c.m.neighbours.edges {
		if log.Loses(len(log), e.id, c.m.config.Matrix.N()) {
			e.conduct.spend(c.m.config.DelayBudget/departures, "it is left out, or has lost its state")
		}
	}
}
