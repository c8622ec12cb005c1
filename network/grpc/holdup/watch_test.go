package holdup

import (
	"log/slog"
	"testing"
	"time"
)

// newWatch returns a watch with a heartbeat of a second.
func newWatch() *Watch {
	w := NewWatch(1, Limits{Heartbeat: time.Second, SilentAfter: 2 * time.Second, Stalled: 5 * time.Second,
		Computing: 9 * time.Second, Agents: 4},
		slog.New(slog.DiscardHandler))
	w.Begin(Exchanging)
	return &w
}

// TestExceeds: an agent that withholds is waited for as long as Stalled says, one that computes as
// long as Computing says, and one of which another agent says so for SilentAfter longer.
func TestExceeds(t *testing.T) {
	for _, c := range []struct {
		name string
		h    Holdup
		most int // heartbeats
	}{
		{"withholds", Holdup{Agent: 0, Source: -1, Cause: ByWithholding}, 5},
		{"computes", Holdup{Agent: 0, Source: 0, Cause: ByComputing, Computing: true}, 9},
		{"another says so", Holdup{Agent: 3, Source: 0, Cause: ByWithholding}, 7},
	} {
		w, n := newWatch(), 0
		for ; n < 20 && !w.Exceeds(&c.h); n++ {
			w.Beat(&c.h)
		}
		if n != c.most {
			t.Errorf("agent %s: too long after %d heartbeats; it must be %d", c.name, n, c.most)
		}
		w.Advance(1)
		if w.Exceeds(&c.h) || w.Logged() {
			t.Errorf("agent %s: too long after the exchange has ended", c.name)
		}
	}
}

// TestSetbacks: who has this agent go back more than 16 times before it gets further is named, and
// exchanges that end in between do not help.
func TestSetbacks(t *testing.T) {
	w := newWatch()
	for n := 1; n <= MaxSetbacks+1; n++ {
		if w.Setbacks() != nil {
			t.Fatalf("an obstacle after %d setbacks", n-1)
		}
		w.SetBack(2)
		w.Advance(0)
	}
	if h := w.Setbacks(); h == nil || h.Agent != 2 {
		t.Errorf("the obstacle is %+v; it must be agent 2", h)
	}
}

// TestNewsInACircle: three agents wait for each other, as one keeps back what it has sent in its
// own eyes. The news that agent 7 computes, which has long come to them, does not go round for
// ever: each comes to blame the next one.
func TestNewsInACircle(t *testing.T) {
	const n = 3
	var watches [n]*Watch
	var said [n]Report
	for i := range watches {
		w := NewWatch(i, Limits{Heartbeat: time.Second, Agents: n}, slog.New(slog.DiscardHandler))
		watches[i] = &w
		watches[i].Begin(Exchanging)
		said[i] = Report{Doing: Exchanging, Round: 5, Holder: 7, Cause: ByComputing, Hops: i}
	}
	for range n {
		for i, w := range watches {
			next := (i + 1) % n
			h := w.Judge(Neighbour{Agent: next, Reported: true, Report: said[next], Staged: true}, 5,
				func(agent int) bool { return agent == i })
			said[i] = w.Report(5, h)
		}
	}
	for i, r := range said {
		if r.Holder == 7 || r.Cause != ByWithholding {
			t.Errorf("agent %d waits for agent %d, cause %v; it must blame one of the circle", i, r.Holder, r.Cause)
		}
	}
}
