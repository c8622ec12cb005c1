package simulate

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dsbo/internal/testkit"
	"dsbo/runs"
)

// TestLostDisk: an agent loses its disk in the first epoch, and is back before it would be left
// out. It begins the next epoch with the state of a neighbour, and the others do not go back to the
// start for it.
func TestLostDisk(t *testing.T) {
	testkit.Long(t, "many exchanges")
	c := dsoba(40)
	c.KeepFrames = 50 // else all that it has to repeat is sent to it again
	log := runCase(t, c, func(w *world) {
		time.Sleep(2 * time.Minute)
		w.machines[3].crash(true, 10*time.Second)
		w.machines[3].drive.erase()
	})
	if len(log) != 1 || fmt.Sprint(log[0].Lost) != "[3]" || log[0].Iteration < 4 {
		t.Error("agent 3 must begin epoch 1 with a neighbour's state, late in the run")
	}
}

// TestLostState: an agent that a quorum needs goes on after it has lost its disk, with the state of
// a neighbour: another one has left before.
func TestLostState(t *testing.T) {
	testkit.Long(t, "many exchanges")
	c := dsoba(60)
	c.Quorum, c.AbsentAfter = 5, 40*time.Second
	log := runCase(t, c, func(w *world) {
		time.Sleep(30 * time.Second)
		w.machines[3].crash(true, 2*time.Minute)
		time.Sleep(time.Minute)
		w.machines[5].crash(true, time.Second)
		w.machines[5].drive.erase()
	})
	if len(log) < 2 || fmt.Sprint(log[1].Lost) != "[5]" {
		t.Error("agent 5 must begin the second epoch with a neighbour's state")
	}
}

// TestStateOfAllLost: all members have lost the state with which their epoch began, and one is away
// when the other one ends for that. Started again, they find it out together, and all end.
func TestStateOfAllLost(t *testing.T) {
	testkit.Long(t, "many exchanges")
	c := dsoba(80).few(3, 2, "path")
	c.AbsentAfter, c.Limit = 40*time.Second, time.Hour
	script(t, c, func(w *world) {
		time.Sleep(time.Minute)
		w.machines[2].crash(true, 7*time.Minute)
		members := w.machines[:2] // of epoch 1
		for slices.ContainsFunc(members,
			func(m *machine) bool { return len(testkit.Get(runs.Folder(m.dir).ReadChanges())) == 0 }) {
			time.Sleep(time.Second)
		}
		for _, m := range members {
			m.crash(true, time.Second)
			removeCheckpoints(m)
		}
		time.Sleep(45 * time.Second) // they have found it out, and wait whether it stays so
		w.machines[1].crash(false, 10*time.Minute)
	}, func(t *testing.T, w *world) {
		if len(w.lost) != 2 || len(w.ended) > 0 {
			t.Errorf("the state is lost at agents %v, and %v have finished; it must be 0 and 1, and none",
				w.lost, w.ended)
		}
	})
}

// removeCheckpoints takes all checkpoints from the disk of a machine that was lost.
func removeCheckpoints(m *machine) {
	m.drive.state.Lock()
	defer m.drive.state.Unlock()
	files := m.drive.next
	for _, e := range testkit.Get(files.ReadDir(m.dir)) {
		if strings.HasPrefix(e.Name(), "checkpoint.") {
			testkit.OK(files.Remove(filepath.Join(m.dir, e.Name())))
		}
	}
	testkit.OK(files.SyncDir(m.dir))
}

// TestErrorOfOne: in a run of four an error of one agent's own ends nothing but that agent's part:
// the others leave it out, and it comes back when it is started again.
func TestErrorOfOne(t *testing.T) {
	testkit.Long(t, "many exchanges")
	c := dsoba(40).few(4, 3, "complete")
	log := runCase(t, c, func(w *world) {
		time.Sleep(30 * time.Second)
		w.machines[2].mu.Lock()
		w.machines[2].down = time.Now().Add(60 * time.Second) // who starts it again has to be called
		w.machines[2].mu.Unlock()
		w.machines[2].exchange().Fail(errors.New("out of memory"))
	})
	if len(log) != 2 || slices.Contains(log[0].Members, 2) || !slices.Contains(log[1].Members, 2) {
		t.Errorf("agent 2 must leave once and return")
	}
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
	testkit.Long(t, "many exchanges")
	c := dsoba(12).few(4, 3, "complete")
	c.Heartbeat, c.SilentAfter, c.AbsentAfter, c.Patience = 20*time.Second, time.Minute, 5*time.Minute, 10*time.Minute
	c.Step, c.Limit = 5*time.Minute, 12*time.Hour
	var ended time.Duration
	log := runCase(t, c, func(w *world) {
		time.Sleep(20 * time.Minute)
		vpn := w.partition(1 << 3)
		vpn.begin()
		time.Sleep(6 * time.Minute)
		vpn.end()
		ended = time.Since(begin)
	})
	if len(log) != 2 || !slices.Equal(log[0].Members, []int{0, 1, 2}) ||
		!strings.Contains(log[1].Why[0], "agent 3 returned") {
		t.Errorf("agent 3 must leave and return")
	}
	took, err := time.Parse(time.RFC3339, log[1].Time)
	if back := took.Sub(begin) - ended; err != nil || back > 10*time.Minute {
		t.Errorf("agent 3 is back %v after it can be reached again; %v", back, err)
	}
}

// TestLostAtTheEnd: all agents are lost at the moment at which the first of them knows that all
// have finished. Those that know come back to tell the others, which wait for nobody in vain, also
// where members change.
func TestLostAtTheEnd(t *testing.T) {
	for _, quorum := range []int{0, 2} {
		c := dsoba(4).few(3, quorum, "path")
		c.Latency, c.Patience = time.Second, c.Limit // nobody's silence ends a wait
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

// TestSlowSite: in a run of four one site computes for four minutes while the others wait, which
// they do for no longer than the deadline: they go on without it. It asks to come in when it is
// through with that, and not before.
func TestSlowSite(t *testing.T) {
	testkit.Long(t, "many exchanges")
	c := dsoba(30).few(4, 3, "complete")
	c.StragglerDeadline, c.Step = time.Minute, 20*time.Second
	const began, lasted = time.Minute, 4 * time.Minute
	log := runCase(t, c, func(w *world) {
		time.Sleep(began)
		w.machines[3].slow(true)
		time.Sleep(lasted)
		w.machines[3].slow(false)
	})
	if len(log) != 2 || !slices.Equal(log[0].Slow, []int{3}) ||
		!strings.HasPrefix(log[0].Why[0], "agent 3 left: slow") || log[1].Why[0] != "agent 3 returned" {
		t.Fatal("agent 3 must leave as slow and return")
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
}

// TestAlwaysSlow: a site that takes minutes for each step, where the others take seconds, is left
// out a few times, each time later than the time before, until they are as patient as it is slow.
func TestAlwaysSlow(t *testing.T) {
	testkit.Long(t, "many exchanges")
	c := dsoba(10).few(4, 3, "complete")
	c.StragglerDeadline, c.Step, c.Limit = 40*time.Second, time.Minute, 12*time.Hour
	c.Heartbeat, c.SilentAfter = 10*time.Second, 30*time.Second
	// What it computes in the second between two of these times lasts until the next one ends.
	const takes = 150 * time.Second
	log := runCase(t, c, func(w *world) {
		time.Sleep(2 * time.Minute)
		for range 100 {
			w.machines[3].slow(true)
			time.Sleep(takes)
			w.machines[3].slow(false)
			time.Sleep(time.Second)
		}
	})
	// It is left out after 40 and 80 seconds, and after 160 where it takes two of these times; next
	// would be after 320.
	if times := log.SlowDepartures(3); times < 2 || times > 3 || len(log.LeftAsSlow()) > 0 {
		t.Errorf("agent 3 was left out %d times; it must be 2 or 3 times, and be there in the end", times)
	}
}
