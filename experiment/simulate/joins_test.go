package simulate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/network/membership"
	"dsbo/runs"
)

// changing is the case of six agents of which four decide who takes part, with a method.
func changing(method ...string) Case {
	return Case{
		Seed: 7, task: &quadratic, Agents: 6,
		Latency: 20 * time.Millisecond, Step: 5 * time.Second, Sync: 10 * time.Millisecond, Second: time.Second,
		Flags: slices.Concat([]string{"-agents=6", "-graph=exponential", "-evaluate=off", "-checkpoint-every=2",
			"-eval-every=4"}, method),
		Heartbeat: time.Second, SilentAfter: 5 * time.Second, Patience: 10 * time.Minute, KeepFrames: 1024,
		Quorum: 4, AbsentAfter: 2 * time.Minute,
		Calm: time.Minute, Pause: 1e6 * time.Hour, Limit: 30 * time.Minute,
	}
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

// script runs a case to its end while act does to it what it does, and has check look at what
// is left.
func script(t *testing.T, c Case, act func(w *world), check func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w, closeAll := testkit.Get2(c.world())
		defer closeAll()
		var acts sync.WaitGroup
		acts.Go(func() { act(w) })
		err := w.run()
		acts.Wait()
		if err != nil {
			for _, l := range w.trace.sorted() {
				t.Logf("%v", l)
			}
			t.Fatal(err)
		}
		check(t, w)
	})
}

// runCase runs a case to its end while act does to it what it does, and returns the log of members,
// which must be the same at all agents, and of which the replay in one process must find what each
// agent has found.
func runCase(t *testing.T, c Case, act func(w *world)) (log membership.Log) {
	t.Helper()
	var ends []*reference
	script(t, c, act, func(t *testing.T, w *world) {
		for i, m := range w.machines {
			ends = append(ends, testkit.Get(read(runs.Folder(m.dir))))
			own := testkit.Get(runs.Folder(m.dir).ReadChanges())
			if i == 0 {
				log = own
			}
			if !bytes.Equal(own.Unsigned().Bytes(), log.Unsigned().Bytes()) {
				t.Errorf("agent %d has the log\n%s, agent 0\n%s", i, own.Bytes(), log.Bytes())
			}
		}
	})
	t.Logf("%s", log.Bytes())
	want := testkit.Get(c.reference(log))
	for i, end := range ends {
		for name, data := range want.files {
			if !bytes.Equal(end.files[name], data) {
				t.Errorf("%s of agent %d has other bytes than the replay", name, i)
			}
		}
	}
	return log
}

// TestJoin: two of six leave, lost at different moments and one with what was on its disk, a
// seventh agent that the authority admits comes in, and the two return; all that are there in
// the end find the bits of the log's replay in one process, with the data of the seventh, and
// with the default method the optimum of all seven.
func TestJoin(t *testing.T) {
	testkit.Long(t, "many exchanges")
	newtoncg := []string{"-algorithm=newtoncg", "-K=40", "-x0=0", "-set=mem=3"} // as many pairs as y has entries
	for _, method := range [][]string{{"-algorithm=dsoba", "-K=20", "-alpha=0.1", "-beta=0.1", "-gamma=0.1"},
		newtoncg} {
		t.Run(method[0], func(t *testing.T) {
			exact := method[0] == newtoncg[0]
			c := changing(method...)
			c.AbsentAfter = 48 * time.Second
			c.Newcomers = []newcomer{{at: 48 * time.Second, neighbours: []int{0, 3}, lost: -1}}
			log := runCase(t, c, func(w *world) {
				time.Sleep(24 * time.Second)
				w.machines[3].crash(true, 80*time.Second)
				w.machines[3].drive.erase()
				time.Sleep(8 * time.Second)
				w.machines[5].crash(false, 60*time.Second)
			})
			if e := log.Last(c.Agents); len(log) < 2 || len(e.Members) != 7 ||
				!slices.Equal(e.Edges, membership.Edges{{0, 6}, {3, 6}}) {
				t.Errorf(
					"the seventh agent must come in beside agents 0 and 3, and two return; there are %v with edges %v",
					e.Members, e.Edges)
			}
			if !exact {
				return
			}
			c.Flags = append(method, "-agents=6", "-graph=exponential", "-evaluate=exact", "-eval-every=60")
			records := testkit.Get(c.reference(log)).records
			if g := float64(records[len(records)-1].GradNorm); !(g <= 1e-6) {
				t.Errorf("‖∇Φ‖ of all seven is %g in the end; it must be at most 1e-6", g)
			}
		})
	}
}

// TestTooLate: an agent that comes back when all others have finished does not wait for ever: its
// process ends with a line that says so. From the folder of one of them it has the result; none is
// taken that another run has found, that a council has not decided, or by a member.
func TestTooLate(t *testing.T) {
	testkit.Long(t, "many exchanges")
	c := dsoba(12).few(4, 3, "complete")
	synctest.Test(t, func(t *testing.T) {
		w, closeAll := testkit.Get2(c.world())
		defer closeAll()
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		var others, late sync.WaitGroup
		for i, m := range w.machines {
			if i == 3 {
				late.Go(func() { _ = m.supervise(ctx) })
			} else {
				others.Go(func() {
					if err := m.supervise(ctx); err != nil {
						t.Errorf("agent %d: %v", i, err)
					}
				})
			}
		}
		time.Sleep(20 * time.Second)
		w.machines[3].crash(true, 10*time.Minute)
		others.Wait()
		time.Sleep(30*time.Minute - time.Since(begin))
		cancel()
		late.Wait()
		if text := fmt.Sprint(w.trace.sorted()); !strings.Contains(text,
			"the others have finished without agent 3, whose -result can be the folder of one of them") {
			t.Errorf("no line says why agent 3 ends:\n%s", text[max(0, len(text)-2000):])
		}
		w.takeResult(t, 3, 0)
	})
}

// takeResult has an agent that was left out take the result of another one.
func (w *world) takeResult(t *testing.T, late, from int) {
	log := testkit.Get(w.machines[from].log())
	testkit.Get(w.machines[late].log()) // the drives are there
	folder, finished := runs.Folder(w.machines[late].dir), runs.Folder(w.machines[from].dir)
	own := runs.Membership{Run: simulated, Hash: w.hash(), Agent: late, Agents: w.Agents}
	council := membership.Council{Run: simulated, Settings: w.hash(), Quorum: w.Quorum}
	verify := func(text []byte, s membership.Signature, at time.Time) error {
		_, err := w.machines[late].identity.Verify(s.Agent, s.Certificate, text, s.Signature, at)
		return err
	}
	unknown := func([]byte, membership.Signature, time.Time) error { return io.EOF }
	other, member, few := own, own, council
	other.Hash, member.Agent, few.Quorum = "another", log.Last(w.Agents).Members[1], 2
	for name, err := range map[string]error{
		"of another run":     folder.TakeResult(other, council, verify, "", finished),
		"by a member":        folder.TakeResult(member, council, verify, "", finished),
		"by other votes":     folder.TakeResult(own, few, verify, "", finished),
		"of an unfinished":   folder.TakeResult(own, council, verify, "", folder),
		"by no certificates": folder.TakeResult(own, council, unknown, "", finished),
	} {
		if !errors.Is(err, dsbo.ErrConfig) {
			t.Errorf("a result %s: %v", name, err)
		}
	}
	testkit.OK(folder.TakeResult(own, council, verify, "", finished))
	if known, told, err := folder.AllFinished(own); !known || !told || err != nil {
		t.Errorf("it does not know that all have finished: %v", err)
	}
	if err := testkit.Get(read(finished)).compare(testkit.Get(read(folder)), 0); err != nil {
		t.Error(err)
	}
	testkit.OK(folder.Verify())
}
