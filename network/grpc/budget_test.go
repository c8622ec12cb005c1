package grpc

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"dsbo/internal/testkit"
	"dsbo/network/grpc/holdup"
	"dsbo/network/membership"
)

// TestDelaysHaveABudget: what a neighbour does that brings nothing counts against it, whatever it
// is, and when its budget is spent it counts as failed, until another process of it comes. Before,
// what makes all go back by a change of the members cost nothing, and who had others go back to the
// beginning of an epoch began its count anew each time.
func TestDelaysHaveABudget(t *testing.T) {
	const budget = 5 * time.Minute
	for name, c := range map[string]struct {
		once func(m *Mixer, e *edge) // what it does again and again
		most int                     // how often it may
	}{
		"it has others go back": {func(m *Mixer, e *edge) { m.flow.rollBack(e.id, 0); testkit.OK(m.Rewind(0)) },
			holdup.MaxSetbacks},
		"it has others go back to the beginning": {func(m *Mixer, e *edge) {
			m.flow.rollBack(e.id, 0)
			testkit.OK(m.Reform(m.view.epoch, 0))
		}, holdup.MaxSetbacks},
		"it has others do a minute's work again": {func(m *Mixer, e *edge) {
			time.Sleep(time.Minute) // in which it gets back five of the thirty seconds that a setback may cost
			m.flow.advance()
			m.flow.rollback = nil
			m.flow.rollBack(e.id, 0)
		}, 1 + int((budget-budget/departures)/(25*time.Second))},
		"it connects again": {func(m *Mixer, e *edge) { e.attach(newSession(e, nil, time.Time{}), hello{instance: 1}) },
			int(budget / wasteConnect)},
		"it repeats itself": {func(m *Mixer, e *edge) { e.conduct.spend(wasteRepeat, "a vector") },
			int(budget / wasteRepeat)},
		"it leaves again and again": {func(m *Mixer, _ *edge) {
			m.chamber.spendChange(membership.Log{{Epoch: 1, Members: []int{1, 2}}})
		}, departures},
		"it sends nothing": {func(m *Mixer, e *edge) {
			m.spendWait(&Holdup{Agent: e.id, Source: -1, Cause: holdup.ByWithholding, Waiting: time.Minute})
		}, int(budget / time.Second)},
	} {
		synctest.Test(t, func(t *testing.T) {
			m, _ := pathAgent(func(c *Config) {
				inSeconds(c)
				c.DelayBudget = budget
			})
			withCouncil(m, 2)
			e := m.neighbours.edges[0]
			e.instance, m.budget = 1, m.config.newBudget()
			for range c.most {
				c.once(m, e)
			}
			if e.failure != nil {
				t.Errorf("%s: after %d times it has failed: %v", name, c.most, e.failure)
			}
			c.once(m, e)
			testkit.WantError(t, fmt.Sprintf("%s: after %d times", name, c.most+1), e.failure, nil, "agent 0 ")
			e.attach(newSession(e, nil, time.Time{}), hello{instance: 2})
			if e.failure != nil {
				t.Errorf("%s: another process of it has failed", name)
			}
			m.spendWait(&Holdup{Agent: e.id, Source: -1, Cause: holdup.ByComputing, Waiting: time.Minute})
		})
	}
}
