package simulate

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// TestSlowSite: in a run of eight one site computes for four minutes while the others wait, which
// they do for no longer than the deadline: they go on without it. It asks to come in when it is
// through with that, and not before.
func TestSlowSite(t *testing.T) {
	if testing.Short() {
		t.Skip("like TestJoin")
	}
	c := changing("-algorithm=dsoba", "-K=40", "-alpha=0.1", "-beta=0.1", "-gamma=0.1")
	c.StragglerDeadline, c.Step = time.Minute, 20*time.Second
	const began, lasted = time.Minute, 4 * time.Minute
	log, ends := runCase(t, c, func(w *world) {
		time.Sleep(began)
		w.machines[4].slow(true)
		time.Sleep(lasted)
		w.machines[4].slow(false)
	})
	if len(log) != 2 || !slices.Equal(log[0].Slow, []int{4}) ||
		!strings.HasPrefix(log[0].Why[0], "agent 4 left: slow") || log[1].Why[0] != "agent 4 returned" {
		t.Fatal("agent 4 must leave as slow and return")
	}
	for k, want := range []struct{ after, before time.Duration }{
		{began + c.StragglerDeadline, began + c.StragglerDeadline + time.Minute},
		{began + lasted, began + lasted + time.Minute},
	} {
		at, err := time.Parse(time.RFC3339, log[k].Time)
		if since := at.Sub(begin); err != nil || since < want.after || since > want.before {
			t.Errorf("change %d is after %v; it must be %v to %v after the start", k+1, since, want.after, want.before)
		}
	}
	replayed(t, c, log, ends)
}

// TestAlwaysSlow: a site that takes minutes for each step, where the others take seconds, is left
// out a few times, each time later than the time before, until they are as patient as it is slow.
func TestAlwaysSlow(t *testing.T) {
	if testing.Short() {
		t.Skip("hours of heartbeats")
	}
	c := changing("-algorithm=dsoba", "-K=12", "-alpha=0.1", "-beta=0.1", "-gamma=0.1")
	c.StragglerDeadline, c.Step, c.Limit = 40*time.Second, time.Minute, 12*time.Hour
	c.Heartbeat, c.SilentAfter = 10*time.Second, 30*time.Second
	c.Agents, c.Quorum = 5, 4
	c.Flags[0], c.Flags[1] = "-agents=5", "-graph=complete"
	// What it computes in the second between two of these times lasts until the next one ends.
	const takes = 150 * time.Second
	log, ends := runCase(t, c, func(w *world) {
		time.Sleep(2 * time.Minute)
		for range 100 {
			w.machines[4].slow(true)
			time.Sleep(takes)
			w.machines[4].slow(false)
			time.Sleep(time.Second)
		}
	})
	// It is left out after 40 and 80 seconds, and after 160 where it takes two of these times; next
	// would be after 320.
	if times := log.SlowDepartures(4); times < 2 || times > 3 || len(log.LeftAsSlow()) > 0 {
		t.Errorf("agent 4 was left out %d times; it must be 2 or 3 times, and be there in the end", times)
	}
	replayed(t, c, log, ends)
}
