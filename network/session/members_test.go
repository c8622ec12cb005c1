package session

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/network/register"
)

// TestOtherData: an agent that comes back with other data is refused, and learns it, whether it has
// its register or only the others know; they wait for it.
func TestOtherData(t *testing.T) {
	for _, agent := range []int{0, 2} {
		for _, lost := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				w := startToys(t, 40, 0)
				time.Sleep(33 * time.Second)
				w.kill(agent)
				if lost {
					w.wipe(agent)
				}
				w.data = map[int][]byte{agent: []byte("other")}
				w.start(agent)
				time.Sleep(2 * time.Minute)
				for i, p := range w.now {
					if p.ended() != (i == agent) {
						t.Errorf("agent %d, disk lost: %t: agent %d has ended: %t, %v", agent, lost, i, p.ended(),
							p.err)
					}
				}
				if p := w.now[agent]; p.ended() && !errors.Is(p.err, dsbo.ErrConfig) {
					t.Errorf("agent %d, disk lost: %t: error %v must be one of its settings", agent, lost, p.err)
				}
			})
		}
	}
}

// TestOwnRemoval: an agent that knows its own removal does not begin.
func TestOwnRemoval(t *testing.T) {
	w := ring(5)
	c := configs(w, identities(w.N()))[1]
	c.Store = toyStore{new(toyDisk), new(bool)}
	c.Removals = []string{testkit.Get(ca().Remove(1, c.Run, c.Hash))}
	_, err := Open(c)
	testkit.WantError(t, "its own", err, dsbo.ErrConfig, "agent 1 is removed from the run")
}

// TestRemoved: an agent that the authority removes learns it from whichever neighbour it reaches,
// and is not to be started again; the others finish, with a quorum and without. Agent 0 connects to
// both neighbours, 4 to none. One that is down when it is removed learns it when it comes back.
func TestRemoved(t *testing.T) {
	for _, c := range []struct {
		removed, quorum int
		down            bool
	}{{0, 0, false}, {0, 3, true}, {4, 3, false}, {4, 0, true}} {
		synctest.Test(t, func(t *testing.T) {
			w := startToys(t, 20, c.quorum)
			time.Sleep(33 * time.Second)
			if c.down {
				w.kill(c.removed)
			}
			w.kill(1)
			w.out = map[int][]string{1: {testkit.Get(ca().Remove(c.removed, "run", "hash"))}}
			w.start(1)
			if c.down {
				w.start(c.removed)
			}
			for range 2 {
				time.Sleep(5 * time.Second)
				if !w.now[c.removed].ended() {
					t.Fatalf("%+v: the removed agent goes on", c)
				}
				testkit.WantError(t, fmt.Sprintf("%+v", c), w.now[c.removed].err, dsbo.ErrConfig,
					fmt.Sprintf("agent %d is removed from the run", c.removed))
				w.start(c.removed) // another process learns the same
			}
			w.await(time.Hour)
			w.now[c.removed].err = nil // the others must have none
			w.wantEnd("removed", 0)
		})
	}
}

// TestFenced: of two processes of an agent the later one goes on, and no supervisor starts the
// earlier one again.
func TestFenced(t *testing.T) {
	for _, agent := range []int{0, 2} { // those that connect to a neighbour
		synctest.Test(t, func(t *testing.T) {
			w := startToys(t, 40, 3)
			time.Sleep(33 * time.Second)
			first := w.now[agent]
			d := w.disks[agent]
			d.mu.Lock()
			w.disks[agent] = &toyDisk{state: d.state, states: slices.Clone(d.states)}
			d.mu.Unlock()
			w.mu.Lock()
			w.moved[machine(agent)] = "another-" + machine(agent)
			w.mu.Unlock()
			w.start(agent)
			w.await(time.Hour)
			if fenced := (*fencedError)(nil); !first.ended() || !errors.As(first.err, &fenced) ||
				!errors.Is(fenced, dsbo.ErrConfig) {
				t.Errorf("agent %d: the first process has ended: %t, %v", agent, first.ended(), first.err)
			}
			w.wantEnd("two processes", 0)
			first.stop()
			<-first.done
		})
	}
}

// TestSlowMember: a member that computes for too long is left out, and comes in when it is through
// with that, and not before.
func TestSlowMember(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newToys(t, 60, 3)
		var through time.Time
		iterations := 0 // of agent 2
		w.slow, w.pauses = 30*time.Second, func(agent int) time.Duration {
			if agent != 2 {
				return 0
			}
			if iterations++; iterations != 12 {
				return 0
			}
			through = time.Now().Add(100 * time.Second)
			return 100 * time.Second
		}
		w.startAll()
		w.await(time.Hour)
		w.wantEnd("slow", 0)
		log := w.disks[0].state.Log
		if len(log) != 2 || !slices.Equal(log[0].Slow, []int{2}) || log[1].Why[0] != "agent 2 returned" {
			t.Fatalf("agent 2 must leave as slow, and return:\n%s", log.Bytes())
		}
		if at := testkit.Get(time.Parse(time.RFC3339, log[1].Time)); at.Before(through.Add(-time.Second)) {
			t.Errorf("agent 2 is back at %v, as it computes until %v", at, through)
		}
	})
}

// TestLostAsItEnters: an agent is lost between two writes as it comes in: it has the state that it
// took over, and has not begun the session. It comes in with the next one.
func TestLostAsItEnters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := startToys(t, 40, 3)
		time.Sleep(33 * time.Second)
		w.kill(2)
		d := w.disks[2]
		d.states = append(d.states, toyState{Point: register.Point{Epoch: d.state.Last + 1, Iteration: 10}})
		w.start(2)
		w.await(time.Hour)
		w.wantEnd("lost as it enters", 0)
	})
}

// TestLostAsAllLeave: an agent that is killed as the result becomes final ends soon after it is
// started again, also where the others have ended meanwhile. If its disk is lost it takes the
// result over, as far as the others still wait for its word.
func TestLostAsAllLeave(t *testing.T) {
	for _, agent := range []int{0, 2} {
		step := testkit.Sized[time.Duration](150, 60, 20) * time.Millisecond
		for delay := time.Duration(0); delay <= 300*time.Millisecond; delay += step {
			for _, disk := range []bool{false, true} {
				synctest.Test(t, func(t *testing.T) { killAtTheEnd(t, agent, delay, disk) })
			}
		}
	}
}

// TestUndisturbedEnd: all end within a few hops of the result's last vector, and wait for no
// heartbeat.
func TestUndisturbedEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := startToys(t, 4, 0)
		for _, p := range w.now {
			<-p.done
		}
		// Four hops of the last gather's and the barrier's frames, and two of each of two messages;
		// the server of a connection then waits for its client, there and back.
		const hops = 4 + 4 + 2 + 2 + 4
		if took := time.Since(w.last) - w.compute; took > hops*20*time.Millisecond { // it computes after w.last
			t.Errorf("all have ended %v after the last iteration", took)
		}
		w.wantEnd("undisturbed", 0)
	})
}

// TestReached: nobody lacks the last message who was connected throughout, or has gone in good
// order.
func TestReached(t *testing.T) {
	sealed := time.Now()
	here, gone := line{conn: new(conn), since: sealed.Add(-time.Second)}, line{since: sealed, lastErr: io.EOF}
	for name, c := range map[string]struct {
		line line
		want bool
	}{
		"connected throughout": {here, true}, "gone in good order": {gone, true},
		"connected again": {line{conn: new(conn), since: sealed.Add(time.Millisecond)}, false},
		"lost":            {line{since: sealed, lastErr: io.ErrUnexpectedEOF}, false},
		"never there":     {line{}, false},
	} {
		n := neighbourhood{lines: map[int]*line{1: &here, 2: &c.line}}
		if got := n.reached(sealed); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// killAtTheEnd has an agent killed, a while after its disk has the result, and perhaps without that
// disk.
func killAtTheEnd(t *testing.T, agent int, delay time.Duration, lost bool) {
	w := startToys(t, 4, 0)
	has := func() bool {
		w.disks[agent].mu.Lock()
		defer w.disks[agent].mu.Unlock()
		return w.disks[agent].result != nil
	}
	for !has() {
		time.Sleep(10 * time.Millisecond)
	}
	time.Sleep(delay)
	w.kill(agent)
	if lost {
		w.wipe(agent)
	}
	time.Sleep(10 * time.Second)
	gone := !slices.ContainsFunc(w.now, func(p *toyProcess) bool { return !p.ended() })
	if lost && gone { // it comes too late
		return
	}
	w.start(agent)
	back := time.Now()
	w.await(time.Hour)
	name := fmt.Sprintf("agent %d, killed %v after it has the result, disk lost: %t", agent, delay, lost)
	if took := time.Since(back); took > 30*time.Second {
		t.Errorf("%s: %v until all have ended", name, took)
	}
	w.wantEnd(name, 0)
}

// TestBrokenEdge: an edge that is broken for 5 s in each minute costs a run with iterations of 20 s
// less than a twentieth of its time, and ends no session.
func TestBrokenEdge(t *testing.T) {
	const iterations = 30
	took := func(broken bool) (d time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			w := newToys(t, iterations, 0)
			w.compute = 20 * time.Second
			began := time.Now()
			w.startAll()
			for broken && time.Since(began) < iterations*20*time.Second {
				time.Sleep(17 * time.Second)
				w.cut(1, 2, true)
				time.Sleep(5 * time.Second)
				w.cut(1, 2, false)
				time.Sleep(38 * time.Second)
			}
			w.await(time.Hour)
			w.wantEnd("broken edge", 0)
			if n := len(w.sessions); n != 1 {
				t.Errorf("broken: %t: the run took %d sessions", broken, n)
			}
			d = w.last.Sub(began)
		})
		return d
	}
	whole, lost := took(false), took(true)
	if t.Logf("%v without, %v with breaks", whole, lost); lost > whole*21/20 {
		t.Errorf("an edge that breaks costs %v of %v", lost-whole, whole)
	}
}
