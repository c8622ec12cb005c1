package simulate

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"dsbo/runs"
)

// TestErrorOfOne: in a run of eight an error of one agent's own ends nothing but that agent's part:
// the others leave it out, and it comes back when it is started again.
func TestErrorOfOne(t *testing.T) {
	if testing.Short() {
		t.Skip("like TestJoin")
	}
	c := changing("-algorithm=dsoba", "-K=40", "-alpha=0.1", "-beta=0.1", "-gamma=0.1")
	log, ends := runCase(t, c, func(w *world) {
		time.Sleep(time.Minute)
		w.machines[5].mu.Lock()
		w.machines[5].down = time.Now().Add(90 * time.Second) // who starts it again has to be called
		w.machines[5].mu.Unlock()
		w.machines[5].exchange().Fail(errors.New("out of memory"))
	})
	if len(log) != 2 || slices.Contains(log[0].Members, 5) || !slices.Contains(log[1].Members, 5) {
		t.Errorf("agent 5 must leave once and return")
	}
	replayed(t, c, log, ends)
}

// exchange returns the machine's end of the exchange.
func (m *machine) exchange() interface{ Fail(error) } {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now.mixer
}

// TestSixMinutes: in a run of hours one site is cut off for six minutes, more than the others wait
// for it: they go on without it, and it comes in again.
func TestSixMinutes(t *testing.T) {
	if testing.Short() {
		t.Skip("hours of heartbeats")
	}
	c := changing("-algorithm=dsoba", "-K=20", "-alpha=0.1", "-beta=0.1", "-gamma=0.1")
	c.Heartbeat, c.SilentAfter, c.AbsentAfter, c.Patience = 20*time.Second, time.Minute, 5*time.Minute, 10*time.Minute
	c.Step, c.Limit = 5*time.Minute, 12*time.Hour
	var ended time.Duration
	log, ends := runCase(t, c, func(w *world) {
		time.Sleep(30 * time.Minute)
		vpn := w.partition(1 << 4)
		vpn.begin()
		time.Sleep(6 * time.Minute)
		vpn.end()
		ended = time.Since(begin)
	})
	if len(log) != 2 || !slices.Equal(log[0].Members, []int{0, 1, 2, 3, 5, 6, 7}) ||
		!strings.Contains(log[1].Why[0], "agent 4 returned") {
		t.Errorf("agent 4 must leave and return")
	}
	took, err := time.Parse(time.RFC3339, log[1].Time)
	if back := took.Sub(begin) - ended; err != nil || back > 10*time.Minute {
		t.Errorf("agent 4 is back %v after it can be reached again; %v", back, err)
	}
	replayed(t, c, log, ends)
}

// TestLostAtTheEnd: all agents are lost at the moment at which the first of them knows that all
// have finished. Those that know come back to tell the others, which wait for nobody in vain, also
// where members change.
func TestLostAtTheEnd(t *testing.T) {
	for _, quorum := range []int{0, 2} {
		c := changing("-algorithm=dsoba", "-K=4", "-alpha=0.1", "-beta=0.1", "-gamma=0.1")
		c.Agents, c.Quorum, c.Latency, c.Patience = 3, quorum, time.Second, c.Limit // nobody's silence ends a wait
		c.Flags[0], c.Flags[1] = "-agents=3", "-graph=path"
		runCase(t, c, func(w *world) {
			known := func(m *machine) bool {
				_, err := runs.Folder(m.dir).ReadMembership()
				return err == nil
			}
			for !slices.ContainsFunc(w.machines, known) {
				time.Sleep(20 * time.Millisecond)
			}
			if !slices.ContainsFunc(w.machines, func(m *machine) bool { return !known(m) }) {
				t.Error("all know at once that all have finished: nobody is left to be told")
			}
			for i, m := range w.machines {
				m.crash(quorum > 0, time.Duration(1+i)*time.Second)
			}
		})
	}
}
