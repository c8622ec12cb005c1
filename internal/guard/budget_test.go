package guard

import (
	"testing"
	"time"
)

// TestBudget: each may spend so much at once, and gets it back in a period.
func TestBudget(t *testing.T) {
	b := Budget{Most: 10 * time.Minute, Period: time.Hour}
	now := time.Unix(0, 0)
	for k, step := range []struct {
		after time.Duration // since the step before
		who   int
		cost  time.Duration
		has   bool
		spent time.Duration // then
	}{
		{0, 1, 6 * time.Minute, true, 6 * time.Minute},
		{0, 1, 5 * time.Minute, false, 6 * time.Minute},
		{0, 2, 10 * time.Minute, true, 10 * time.Minute},
		{6 * time.Minute, 1, 5 * time.Minute, true, 10 * time.Minute},
		{30 * time.Minute, 1, 0, true, 5 * time.Minute},
		{24 * time.Hour, 1, 10 * time.Minute, true, 10 * time.Minute},
		{-time.Hour, 1, time.Second, false, 10 * time.Minute}, // a clock that goes back
	} {
		now = now.Add(step.after)
		if has := b.Spend(step.who, now, step.cost); has != step.has {
			t.Errorf("step %d: it has so much left: %v; it must be %v", k, has, step.has)
		}
		if spent := b.Spent(step.who, now); spent != step.spent {
			t.Errorf("step %d: %v are spent; it must be %v", k, spent, step.spent)
		}
	}
}
