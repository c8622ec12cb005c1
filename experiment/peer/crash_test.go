package peer

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dsbo/internal/num"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

var crashes = flag.Int("crashes", 6, "`number` of states that TestCrashStates resumes from; 0: all")

// A crash is a loss of power right after an operation of an agent's disk.
type crash struct {
	agent, operation int
	what             string
	state            int  // which of those that may be left then
	all              bool // all other agents lose their power too, and each finds one of its states, as it is drawn
}

// TestCrashStates: a run of three goes on without one of them, which comes back. From each state
// that a crash may leave on an agent's disk meanwhile, of promises, the membership log, checkpoints
// and all else, and where all agents crash at once, it goes on to the same end.
func TestCrashStates(t *testing.T) {
	testkit.Long(t, "looks at thousands of states")
	c := dsoba(10).few(3, 2, "complete")
	c.Latency, c.Step = 5*time.Millisecond, 4*time.Second
	c.Heartbeat, c.SilentAfter, c.AbsentAfter = 500*time.Millisecond, 2*time.Second, 8*time.Second
	c.Faults = []Fault{{Unpowered, 15 * time.Second, 20 * time.Second, 2, 0}}
	var all []crash
	var mu sync.Mutex
	c.crash(t, "none", func(m *machine) func(*testkit.Memory, string) {
		seen, operations := map[string]bool{}, 0
		return func(files *testkit.Memory, operation string) {
			mu.Lock()
			defer mu.Unlock()
			state := 0
			for s := range files.States() {
				if d := s.Digest(); !seen[d] {
					seen[d] = true
					at := crash{m.agent, operations, operation, state, false}
					together := at
					together.all = true
					all = append(all, at, together)
				}
				state++
			}
			operations++
		}
	})
	stride := 1
	if *crashes > 0 {
		stride = max(1, len(all) / *crashes | 1) // odd: both kinds
	}
	for k := 0; k < len(all); k += stride {
		c.crash(t, fmt.Sprintf("%+v", all[k]), all[k].strike)
	}
	t.Logf("%d states, of which every %d. was resumed from", len(all), stride)
	if len(all) < 200 {
		t.Errorf("%d states alone", len(all))
	}
}

// crash runs the case while agent 2 is away for a while. watch returns what looks at the changes of
// an agent's disk.
func (c Case) crash(t *testing.T, what string, watch func(m *machine) func(files *testkit.Memory, operation string)) {
	t.Helper()
	c.script(t, func(w *world) {
		for _, m := range w.machines {
			m.changed = watch(m)
		}
	}, func(*world) {}, func(w *world, err error) {
		if err != nil {
			t.Errorf("%s: %v\n%s", what, err, &w.text)
		}
	})
}

// script runs a case, which ready readies, while act does to it what it does, and has check look at
// what is left.
func (c Case) script(t *testing.T, ready, act func(w *world), check func(w *world, err error)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := c.world()
		defer w.close()
		ready(w)
		var acts sync.WaitGroup
		acts.Go(func() { act(w) })
		err := w.run()
		acts.Wait()
		if err == nil && c.task.Name == quadratic.Name { // others have noise
			err = w.verify()
		}
		check(w, err)
	})
}

// strike looks at the changes of a machine's disk until the crash comes, if it is that machine's.
func (c crash) strike(m *machine) func(files *testkit.Memory, operation string) {
	if m.agent != c.agent {
		return nil
	}
	var operations atomic.Int64 // of several goroutines of the agent
	return func(files *testkit.Memory, _ string) {
		if operations.Add(1) != int64(c.operation)+1 {
			return
		}
		state, left := 0, (*testkit.Memory)(nil)
		for s := range files.States() {
			if left = s; state == c.state {
				break
			}
			state++
		}
		for _, other := range m.machines {
			if c.all || other == m {
				other.crash(Unpowered, time.Second)
			}
		}
		m.mu.Lock()
		m.files = left
		m.mu.Unlock()
	}
}

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
	}[testkit.Sized(4, 3, 0):] {
		c := changing(method...).few(3, 0, "path")
		c.AbsentAfter, c.Flags[3] = 0, "-checkpoint-every=1"
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
	counts := make([]atomic.Int64, c.Agents)
	c.script(t, func(w *world) {
		for i, m := range w.machines {
			m.changed = func(*testkit.Memory, string) {
				if counts[i].Add(1) == int64(at[i]) {
					m.crash(Killed, time.Second)
				}
			}
		}
	}, func(*world) {}, func(w *world, err error) {
		folders := make([]runs.Folder, c.Agents)
		for i, m := range w.machines {
			operations[i], folders[i] = int(counts[i].Load()), runs.Folder(m.dir)
		}
		if err == nil {
			_, err = runs.Merge(folders)
		}
		if err != nil || strings.Contains(w.text.String(), "a process fails") {
			t.Errorf("%v, killed after operations %d: error %v, or a process ends otherwise\n%s", c.Flags, at, err,
				&w.text)
			return
		}
		for _, m := range w.machines {
			p := m.start(context.Background())
			err := p.run()
			if m.end(p, err); err != nil {
				t.Errorf("%v: agent %d, when it is started again: %v", c.Flags, m.agent, err)
			}
		}
	})
}
