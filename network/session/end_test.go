package session

import (
	"fmt"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"dsbo/internal/testkit"
)

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
		w := newToyNetwork(t, toy{matrix: ring(5), k: 4, every: 5, length: 16, compute: time.Second}, 0)
		defer w.close()
		for i := range w.now {
			w.start(i)
		}
		for _, p := range w.now {
			<-p.done
		}
		// Four hops of the last gather's and the barrier's frames, and two of each of two messages;
		// the server of a connection then waits for its client, there and back.
		const hops = 4 + 4 + 2 + 2 + 4
		if took := time.Since(w.last) - time.Second; took > hops*20*time.Millisecond { // it computes after w.last
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
	w := newToyNetwork(t, toy{matrix: ring(5), k: 4, every: 5, length: 16, compute: time.Second}, 0)
	defer w.close()
	for i := range w.now {
		w.start(i)
	}
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
