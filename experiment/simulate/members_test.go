package simulate

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dsbo/internal/testkit"
	"dsbo/runs"
)

// TestMembers: whole agents go on without two that are lost at different moments, and let them in
// again, one of them without what was on its disk: all end with one log and with the bits of its
// replay in one process.
func TestMembers(t *testing.T) {
	if testing.Short() {
		t.Skip("like TestJoin")
	}
	c := changing("-algorithm=dsoba", "-K=20", "-alpha=0.1", "-beta=0.1", "-gamma=0.1")
	c.AbsentAfter = 48 * time.Second
	log, ends := runCase(t, c, func(w *world) {
		time.Sleep(24 * time.Second)
		w.machines[3].crash(true, 60*time.Second)
		w.machines[3].drive.erase()
		time.Sleep(8 * time.Second)
		w.machines[5].crash(false, 60*time.Second)
	})
	if len(log) < 2 || len(log.Last(c.Agents).Members) != c.Agents {
		t.Errorf("two agents must leave and return")
	}
	replayed(t, c, log, ends)
}

// TestLostDisk: an agent loses its disk in the first epoch, and is back before it would be left
// out. It begins the next epoch with the state of a neighbour, and the others do not go back to the
// start for it.
func TestLostDisk(t *testing.T) {
	if testing.Short() {
		t.Skip("like TestJoin")
	}
	c := changing("-algorithm=dsoba", "-K=40", "-alpha=0.1", "-beta=0.1", "-gamma=0.1")
	c.KeepFrames = 50 // else all that it has to repeat is sent to it again
	log, ends := runCase(t, c, func(w *world) {
		time.Sleep(2 * time.Minute)
		w.machines[3].crash(true, 10*time.Second)
		w.machines[3].drive.erase()
	})
	if len(log) != 1 || fmt.Sprint(log[0].Lost) != "[3]" || log[0].Iteration < 4 {
		t.Error("agent 3 must begin epoch 1 with a neighbour's state, late in the run")
	}
	replayed(t, c, log, ends)
}

// TestLostState: an agent that a quorum needs goes on after it has lost its disk, with the state of
// a neighbour: another one has left before.
func TestLostState(t *testing.T) {
	if testing.Short() {
		t.Skip("like TestJoin")
	}
	c := changing("-algorithm=dsoba", "-K=60", "-alpha=0.1", "-beta=0.1", "-gamma=0.1")
	c.Quorum = 7
	log, ends := runCase(t, c, func(w *world) {
		time.Sleep(time.Minute)
		w.machines[3].crash(true, 6*time.Minute)
		time.Sleep(3 * time.Minute)
		w.machines[5].crash(true, time.Second)
		w.machines[5].drive.erase()
	})
	if len(log) < 2 || fmt.Sprint(log[1].Lost) != "[5]" {
		t.Error("agent 5 must begin the second epoch with a neighbour's state")
	}
	replayed(t, c, log, ends)
}

// TestStateOfAllLost: all members have lost the state with which their epoch began, and one is away
// when the other one ends for that. Started again, they find it out together, and all end.
func TestStateOfAllLost(t *testing.T) {
	if testing.Short() {
		t.Skip("like TestJoin")
	}
	c := changing("-algorithm=dsoba", "-K=200", "-alpha=0.1", "-beta=0.1", "-gamma=0.1")
	c.Agents, c.Quorum, c.Limit = 3, 2, 3*time.Hour
	c.Flags[0], c.Flags[1] = "-agents=3", "-graph=path"
	script(t, c, func(w *world) {
		time.Sleep(time.Minute)
		w.machines[2].crash(true, 20*time.Minute)
		members := w.machines[:2] // of epoch 1
		for slices.ContainsFunc(members,
			func(m *machine) bool { return len(testkit.Get(runs.Folder(m.dir).ReadChanges())) == 0 }) {
			time.Sleep(time.Second)
		}
		for _, m := range members {
			m.crash(true, time.Second)
			removeCheckpoints(m)
		}
		time.Sleep(2 * time.Minute) // they have found it out, and wait whether it stays so
		w.machines[1].crash(false, 30*time.Minute)
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
