package simulate

import (
	"flag"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dsbo/internal/num"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

var killed = flag.Int("killed", 1, "`number` of runs of each method of TestKilledAgents, with a kill of each agent")

// TestKilledAgents: each agent of a run is killed once, right after an operation of its disk that
// is drawn from all that it has, and comes back. No process ends otherwise but well, all agents
// have the bits of one process and summaries alike, their folders are put together, and an agent
// that is started again finds that its run has finished.
func TestKilledAgents(t *testing.T) {
	curved := []string{"-alpha=0.1", "-beta=0.2/L", "-gamma=auto"} // what finds L is no exchange of an iteration
	for _, method := range [][]string{
		append([]string{"-algorithm=madsbo", "-K=4", "-T=2", "-N=2"}, curved...),
		append([]string{"-algorithm=dsoba", "-K=6"}, curved...),
		append([]string{"-algorithm=sparkle", "-K=6"}, curved...),
		{"-algorithm=adamcg", "-K=3"},
		{"-algorithm=newtoncg", "-K=3", "-x0=0"},
	} {
		c := changing(method...)
		c.Agents, c.Quorum, c.AbsentAfter, c.KeepFrames = 3, 0, 0, 20
		c.Flags[0], c.Flags[1], c.Flags[3] = "-agents=3", "-graph=path", "-checkpoint-every=1"
		operations := make([]int, c.Agents)
		c.kill(t, make([]int, c.Agents), operations)
		for n := range *killed {
			at := make([]int, c.Agents)
			for i := range at {
				at[i] = 1 + draw(num.SplitMix(uint64(n))).of(method[0], int64(i)).below(operations[i])
			}
			c.kill(t, at, make([]int, c.Agents))
		}
	}
}

// kill runs the case, kills each agent after the operation of its disk that at names, if that is
// not 0, and checks what is left. It counts the operations of all.
func (c Case) kill(t *testing.T, at, operations []int) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w, closeAll := testkit.Get2(c.world())
		defer closeAll()
		counts := make([]atomic.Int64, c.Agents)
		for i, m := range w.machines {
			m.drive.changed = func(*testkit.Memory, string) {
				if counts[i].Add(1) == int64(at[i]) {
					m.crash(false, time.Second)
				}
			}
		}
		err := w.run()
		for i := range counts {
			operations[i] = int(counts[i].Load())
		}
		if err == nil {
			err = w.verify()
		}
		folders := make([]runs.Folder, c.Agents)
		for i, m := range w.machines {
			folders[i] = runs.Folder(m.dir)
		}
		if err == nil {
			_, err = runs.Merge(folders)
		}
		failed := slices.DeleteFunc(w.trace.sorted(), func(l Line) bool {
			_, how, ends := strings.Cut(l.Text, " ends: ")
			return !ends || l.Logged || how == "<nil>" || how == "killed"
		})
		if err != nil || len(failed) > 0 {
			t.Errorf("%v, killed after operations %d: error %v, processes that end otherwise: %v\n%v", c.Flags, at, err,
				failed, Result{Trace: w.trace.sorted()})
			return
		}
		for _, m := range w.machines {
			p := m.begin(t.Context())
			if err := p.run(); err != nil {
				t.Errorf("%v: agent %d, when it is started again: %v", c.Flags, m.agent, err)
			}
			m.end(p)
		}
	})
}
