package peer

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/network/membership"
	"dsbo/network/session"
	"dsbo/runs"
)

// changing is the case of six agents of which four decide who takes part, with a method.
func changing(method ...string) Case {
	c := Case{
		Seed: 7, task: quadratic, Agents: 6,
		Latency: 20 * time.Millisecond, Step: 5 * time.Second, Sync: 10 * time.Millisecond,
		Flags: slices.Concat([]string{"-agents=6", "-graph=exponential", "-evaluate=off", "-checkpoint-every=2",
			"-eval-every=4"}, method),
		Calm: time.Minute, Limit: 30 * time.Minute,
	}
	c.Heartbeat, c.SilentAfter, c.Grace, c.PeerTimeout = time.Second, 5*time.Second, 10*time.Second, 10*time.Minute
	c.Quorum, c.AbsentAfter = 4, 2*time.Minute
	return c
}

// dsoba is changing with a method of many exchanges.
func dsoba(iterations int) Case {
	return changing("-algorithm=dsoba", fmt.Sprint("-K=", iterations), "-alpha=0.1", "-beta=0.1", "-gamma=0.1")
}

// few returns the case with fewer agents, on another graph.
func (c Case) few(agents, quorum int, graph string) Case {
	c.Agents, c.Quorum, c.Flags[0], c.Flags[1] = agents, quorum, fmt.Sprint("-agents=", agents), "-graph="+graph
	return c
}

// play runs a case to its end while act does to it what it does. All agents must finish as they
// must. It returns the log of members.
func (c Case) play(t *testing.T, act func(w *world)) (log membership.Log) {
	t.Helper()
	c.script(t, func(*world) {}, act, func(w *world, err error) {
		if late := w.late(); late > 0 {
			err = errors.Join(err, fmt.Errorf("%d of %d agents have not finished", late, len(w.machines)))
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, &w.text)
		}
		log = testkit.Get(w.machines[0].left()).log
	})
	if len(log) > 0 {
		t.Logf("%s", log.Bytes())
	}
	return log
}

// leaves reports whether an agent is no member after a change.
func leaves(c membership.Change, agent int) bool { return !slices.Contains(c.Members, agent) }

// TestMembersInTheEnd: agents are lost in one way or another; all are there in the end, with the
// bits of the log's replay, and the log has what happened.
func TestMembersInTheEnd(t *testing.T) {
	testkit.Long(t, "many exchanges")
	for _, tt := range []struct {
		name string
		c    func() Case
		act  func(w *world)
		good func(log membership.Log) bool
	}{
		{"one is back before it is left out, without its disk", func() Case { return dsoba(40) }, func(w *world) {
			time.Sleep(time.Minute)
			w.machines[3].crash(Emptied, 10*time.Second)
		}, func(log membership.Log) bool {
			return len(log) == 1 && fmt.Sprint(log[0].Lost) == "[3]" && log[0].Iteration >= 4
		}},
		{"members that stay, of which one loses its disk", func() Case {
			c := dsoba(40)
			c.Quorum, c.AbsentAfter = 0, 0
			return c
		}, func(w *world) {
			time.Sleep(time.Minute)
			w.machines[3].crash(Emptied, 10*time.Second)
		}, func(log membership.Log) bool { return len(log) == 1 && fmt.Sprint(log[0].Lost) == "[3]" }},
		{"one loses its disk that the quorum needs", func() Case {
			c := dsoba(60)
			c.Quorum, c.AbsentAfter = 5, 40*time.Second
			return c
		}, func(w *world) {
			time.Sleep(30 * time.Second)
			w.machines[3].crash(Unpowered, 2*time.Minute)
			time.Sleep(time.Minute)
			w.machines[5].crash(Emptied, time.Second)
		}, func(log membership.Log) bool {
			return len(log) >= 2 &&
				slices.ContainsFunc(log, func(c membership.Change) bool { return slices.Equal(c.Lost, []int{5}) })
		}},
		{"six minutes without a network", func() Case {
			c := dsoba(12).few(4, 3, "complete")
			c.Heartbeat, c.SilentAfter, c.Grace, c.AbsentAfter = 20*time.Second, time.Minute, time.Minute, 3*time.Minute
			c.Step, c.Limit = 5*time.Minute, 12*time.Hour
			c.Faults = []Fault{{Cut, 20 * time.Minute, 6 * time.Minute, 8, 7},
				{Cut, 20 * time.Minute, 6 * time.Minute, 7, 8}}
			return c
		}, func(*world) {}, func(log membership.Log) bool {
			return len(log) == 2 && leaves(log[0], 3) && strings.Contains(log[1].Why[0], "agent 3 returned")
		}},
		// They wait for 40 seconds, twice as long after each time, and so at last for as long as it
		// takes.
		{"one that is always slow", func() Case {
			c := dsoba(10).few(4, 3, "complete")
			c.StragglerDeadline, c.Step, c.Limit = 40*time.Second, time.Minute, 12*time.Hour
			c.Heartbeat, c.SilentAfter, c.Grace = 10*time.Second, 30*time.Second, 30*time.Second
			for k := range time.Duration(100) {
				c.Faults = append(c.Faults, Fault{Busy, 2*time.Minute + k*151*time.Second, 150 * time.Second, 3, 0})
			}
			return c
		}, func(*world) {}, func(log membership.Log) bool {
			times := log.SlowDepartures(3)
			return times <= 3 && len(log.LeftAsSlow()) == 0 && log.Last(4).Session < 20*membership.MaxAgents
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if log := tt.c().play(t, tt.act); !tt.good(log) {
				t.Errorf("the log is another one than it must be")
			}
		})
	}
}

// TestJoin: two of six leave, lost at different moments and one with what was on its disk, a
// seventh agent that the authority admits comes in, and the two return; all that are there in
// the end find the bits of the log's replay in one process, with the data of the seventh, and
// with the default method the optimum of all seven.
func TestJoin(t *testing.T) {
	testkit.Long(t, "many exchanges")
	newtoncg := []string{"-algorithm=newtoncg", "-K=60", "-x0=0", "-set=mem=3"} // as many pairs as y has entries
	for _, method := range [][]string{{"-algorithm=dsoba", "-K=30", "-alpha=0.1", "-beta=0.1", "-gamma=0.1"},
		newtoncg} {
		t.Run(method[0], func(t *testing.T) {
			c := changing(method...)
			c.AbsentAfter = 48 * time.Second
			c.Newcomers = []newcomer{{at: 48 * time.Second, neighbours: []int{0, 3}}}
			log := c.play(t, func(w *world) {
				time.Sleep(24 * time.Second)
				w.machines[3].crash(Emptied, 80*time.Second)
				time.Sleep(8 * time.Second)
				w.machines[5].crash(Killed, 60*time.Second)
			})
			if e := log.Last(c.Agents); len(log) < 2 || len(e.Members) != 7 ||
				!slices.Equal(e.Edges, membership.Edges{{0, 6}, {3, 6}}) {
				t.Errorf("the seventh must come in beside agents 0 and 3, and two return; there are %v, edges %v",
					e.Members, e.Edges)
			}
			if method[0] != newtoncg[0] {
				return
			}
			c.Flags = append(method, "-agents=6", "-graph=exponential", "-evaluate=exact", "-eval-every=60")
			last := runs.Record{Iteration: -1}
			for _, r := range testkit.Get(c.replay(log)).Records {
				if r.Iteration > last.Iteration {
					last = r
				}
			}
			if g := float64(last.GradNorm); !(g <= 1e-6) {
				t.Errorf("‖∇Φ‖ of all seven is %g in the end; it must be at most 1e-6", g)
			}
		})
	}
}

// TestStateOfAllLost: all members have lost the checkpoints of their epoch. Each of their processes
// ends with an error that tells so.
func TestStateOfAllLost(t *testing.T) {
	testkit.Long(t, "many exchanges")
	c := dsoba(80).few(3, 2, "path")
	c.AbsentAfter, c.Limit = 40*time.Second, 20*time.Minute
	c.script(t, func(*world) {}, func(w *world) {
		time.Sleep(time.Minute)
		w.machines[2].crash(Unpowered, 7*time.Minute)
		for testkit.Get(runs.Folder(w.machines[0].dir).ReadChanges()) == nil {
			time.Sleep(time.Second)
		}
		for _, m := range w.machines {
			m.crash(Unpowered, time.Second)
			m.mu.Lock()
			for _, e := range testkit.Get(m.files.ReadDir(m.dir)) {
				if strings.HasPrefix(e.Name(), "checkpoint.") {
					testkit.OK(m.files.Remove(filepath.Join(m.dir, e.Name())))
				}
			}
			testkit.OK(m.files.SyncDir(m.dir))
			m.mu.Unlock()
		}
	}, func(w *world, err error) {
		if text := w.text.String(); !errors.Is(err, errEndless) ||
			!strings.Contains(text, "nobody has a state to go on with: begin the run anew") {
			t.Errorf("%v; no process tells that the state is lost:\n%s", err, text[max(0, len(text)-3000):])
		}
	})
}

// TestTooLate: an agent that comes back when all others have finished does not wait for ever: its
// process ends with a line that tells so. From the folder of one of them it has the result, and
// none that another run has found.
func TestTooLate(t *testing.T) {
	testkit.Long(t, "many exchanges")
	c := dsoba(12).few(4, 3, "complete")
	c.Faults = []Fault{{Unpowered, 20 * time.Second, 10 * time.Minute, 3, 0}}
	c.script(t, func(*world) {}, func(*world) {}, func(w *world, err error) {
		if text := w.text.String(); err != nil || w.late() != 1 ||
			!strings.Contains(text, "a process ends\" agent=3 process=2 killed=false") {
			t.Fatalf("%v, %d are late:\n%s", err, w.late(), text)
		}
		late, folder, finished := w.machines[3], runs.Folder(w.machines[3].dir), runs.Folder(w.machines[0].dir)
		other := late.own()
		other.Hash = "another"
		for name, err := range map[string]error{
			"of another run":   runs.TakeResult(folder, other, "", finished),
			"of an unfinished": runs.TakeResult(folder, late.own(), "", folder),
		} {
			if !errors.Is(err, dsbo.ErrConfig) {
				t.Errorf("a result %s: %v", name, err)
			}
		}
		testkit.OK(runs.TakeResult(folder, late.own(), "", finished))
		if final, err := folder.IsFinal(late.own()); !final || err != nil {
			t.Errorf("it does not know that the result is final: %v", err)
		}
		if d := testkit.Get(runs.Diff(testkit.Get(read(finished)), testkit.Get(read(folder)))); len(d) > 0 {
			t.Error(d)
		}
		testkit.OK(folder.Verify())
	})
}

// TestLostAtTheEnd: all agents are lost at the moment at which the first of them knows that all
// have the result. Those that know come back to tell the others, which wait for nobody in vain.
func TestLostAtTheEnd(t *testing.T) {
	for quorum, kind := range map[int]Kind{0: Killed, 2: Unpowered} {
		c := dsoba(4).few(3, quorum, "path")
		c.Latency, c.PeerTimeout = time.Second, c.Limit // nobody's silence ends a wait
		if quorum == 0 {
			c.AbsentAfter = 0
		}
		c.play(t, func(w *world) {
			final := func(m *machine) bool {
				a := m.meeting()
				return a != nil && a.Status().Final
			}
			for !slices.ContainsFunc(w.machines, final) {
				time.Sleep(20 * time.Millisecond)
			}
			if !slices.ContainsFunc(w.machines, func(m *machine) bool { return !final(m) }) {
				t.Error("all know at once that the result is final: nobody is left to be told")
			}
			for i, m := range w.machines {
				m.crash(kind, time.Duration(1+i)*time.Second)
			}
		})
	}
}

// meeting returns the machine's agent, nil if it meets nobody.
func (m *machine) meeting() *session.Agent {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.now == nil {
		return nil
	}
	return m.now.opened.Load()
}

// TestErrorOfOne: in a run of four with a quorum an error of one agent's own ends that agent's
// process alone. It is started again, and all go on together.
func TestErrorOfOne(t *testing.T) {
	testkit.Long(t, "many exchanges")
	dsoba(40).few(4, 3, "complete").play(t, func(w *world) {
		time.Sleep(30 * time.Second)
		w.machines[2].meeting().Fail(errors.New("out of memory"))
		time.Sleep(time.Minute)
		for _, m := range w.machines {
			m.mu.Lock()
			if want := map[bool]int{true: 2, false: 1}[m.agent == 2]; m.lives != want {
				t.Errorf("agent %d has had %d processes, want %d", m.agent, m.lives, want)
			}
			m.mu.Unlock()
		}
	})
}
