package simulate

import (
	"testing"
	"time"
)

// TestLies: whatever lies members tell beside all else that happens, those that are honest end with
// the right bits, and an error of theirs that another agent is to blame for names a liar.
func TestLies(t *testing.T) {
	count := 8
	if testing.Short() {
		count = 2
	}
	for seed, done := uint64(0), 0; done < count; seed++ {
		if c := Draw(seed); len(c.Liars) > 0 && c.Agents <= 3 {
			endsAsItMust(t, c)
			done++
		}
	}
}

// TestKindsOfLies: the lies are 40 and more, each of its own name and about frames that there are.
// A run of three meets most kinds of them.
func TestKindsOfLies(t *testing.T) {
	named := map[string]bool{}
	for _, l := range lies {
		if named[l.name] || l.of > piece {
			t.Errorf("%q of frames of kind %d must be the only lie of that name, of a kind that there is", l.name, l.of)
		}
		named[l.name] = true
	}
	if len(lies) < 40 {
		t.Errorf("there are %d lies; there must be 40", len(lies))
	}
	c := changing("-algorithm=dsoba", "-K=16", "-alpha=0.1", "-beta=0.1", "-gamma=0.1")
	c.Agents, c.Quorum, c.Liars = 3, 2, []int{0}
	c.AbsentAfter, c.Flags[0], c.Flags[1] = 20*time.Second, "-agents=3", "-graph=complete"
	script(t, c, func(w *world) {
		time.Sleep(20 * time.Second)
		w.machines[2].crash(true, 40*time.Second)
	}, func(t *testing.T, w *world) {
		for _, k := range []kind{vector, alive, key, control, epoch} {
			if !w.machines[0].lying.heard[k] {
				t.Errorf("agent 0 sends no frame of kind %d", k)
			}
		}
	})
}
