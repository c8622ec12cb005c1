package paxos_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"dsbo/network/membership"
	"dsbo/network/membership/paxos"
)

// TestStragglers: a member is left out as slow when all its neighbours have waited too long for it,
// but for those that do not hear it or are slow too, and if the others are a quorum, of which one
// would vote for it; else all wait.
func TestStragglers(t *testing.T) {
	const n = 5
	for _, c := range []struct {
		name  string
		edges membership.Edges // nil: a ring
		slow  map[int][]int    // whom agents find slow
		down  map[int][]int    // whom they do not hear
		left  []int            // who is left out as slow
		waits string           // part of what agents say that wait; "" if they do not
	}{
		{name: "both neighbours", slow: map[int][]int{1: {2}, 3: {2}}, left: []int{2}},
		{name: "one of two neighbours", slow: map[int][]int{1: {2}}},
		{name: "no neighbour", slow: map[int][]int{0: {2}, 4: {2}}},
		{name: "one does not hear it", slow: map[int][]int{1: {2}}, down: map[int][]int{3: {2}}, left: []int{2}},
		{name: "two beside each other", slow: map[int][]int{1: {2}, 4: {3}}, left: []int{2, 3}},
		{name: "too many", slow: map[int][]int{0: {1, 4}, 3: {2, 4}},
			waits: "agents 1, 2, 4 are slow, and are waited for"},
		{name: "by the word of agent 4 alone, as the others wait for each other", edges: complete(n),
			slow: map[int][]int{4: {2}, 0: {1}, 1: {3}, 3: {0}}},
	} {
		if c.edges == nil {
			c.edges = ring(n)
		}
		r := newRoom(n, 3, c.edges, saved(n)...)
		for i, whom := range c.slow {
			r.seen[i].Slow = whom
		}
		for i, whom := range c.down {
			r.seen[i].Down = whom
		}
		r.wait()
		log := r.log(t)
		switch {
		case len(c.left) == 0 && len(log) > 0:
			t.Errorf("%s: nobody must be left out; the log is\n%s", c.name, log.Bytes())
		case len(c.left) > 0 && (len(log) != 1 || !slices.Equal(log[0].Slow, c.left) ||
			len(log[0].Members) != n-len(c.left) || log[0].Iteration != 4 ||
			!strings.HasPrefix(log[0].Why[0], fmt.Sprintf("agent %d left: slow", c.left[0]))):
			t.Errorf("%s: agents %v must be left out as slow; the log is\n%s", c.name, c.left, log.Bytes())
		}
		waiting := ""
		for _, s := range r.seats {
			waiting += s.Waiting()
		}
		if !strings.Contains(waiting, c.waits) || c.waits == "" && waiting != "" {
			t.Errorf("%s: agents say %q; it must be %q", c.name, waiting, c.waits)
		}
	}
}

// TestSlowAndLost: a member that has lost its state is not slow, and begins with a neighbour's
// though those that are slow are too many to be left out.
func TestSlowAndLost(t *testing.T) {
	const n = 5
	for name, slow := range map[string]map[int][]int{
		"both neighbours wait":  {0: {1}, 2: {1}},
		"too many others, slow": {0: {1, 4}, 3: {2, 4}},
	} {
		disks := saved(n)
		disks[1] = nil
		r := newRoom(n, 3, ring(n), disks...)
		r.seats[1].SetLost(true)
		for i, whom := range slow {
			r.seen[i].Slow = whom
		}
		r.wait()
		if log := r.log(t); len(log) == 0 || len(log[0].Members) != n || !slices.Equal(log[0].Lost, []int{1}) {
			t.Errorf("%s: agent 1 must begin with another state, before anybody is left out; the log is\n%s",
				name, log.Bytes())
		}
	}
}

// TestStragglerReturns: one that was left out as slow comes in when it says that it can, and not
// before. The log counts how often it was left out.
func TestStragglerReturns(t *testing.T) {
	const n, slow = 4, 3
	r := newRoom(n, 3, complete(n), slices.Repeat([]diskSite{{{}}}, n)...)
	for times := 1; times <= 2; times++ {
		for i := range slow {
			r.seen[i].Slow = []int{slow}
		}
		r.wait()
		if log := r.log(t); len(log) != 2*times-1 || log.SlowDepartures(slow) != times ||
			!slices.Equal(log.LeftAsSlow(), []int{slow}) ||
			!strings.HasSuffix(log[2*times-2].Why[0], fmt.Sprintf("(time %d)", times)) {
			t.Fatalf("agent %d must be left out for the %d. time; the log is\n%s", slow, times, log.Bytes())
		}
		clear(r.seen)
		r.wait()
		if log := r.log(t); len(log) != 2*times-1 {
			t.Fatalf("agent %d must not come in yet; the log is\n%s", slow, log.Bytes())
		}
		r.seen[slow].Ready = true
		r.wait()
		if log := r.log(t); len(log) != 2*times || len(log.LeftAsSlow()) > 0 {
			t.Fatalf("agent %d must be in again; the log is\n%s", slow, log.Bytes())
		}
		clear(r.seen)
	}
}

// TestSlowMessages: what agents say of slow ones is checked as all else.
func TestSlowMessages(t *testing.T) {
	m := paxos.Message{Kind: paxos.Report, To: paxos.All, Epoch: 1, Slow: []int{5}}
	if _, err := paxos.ParseMessage(m.Encode(), 5); err == nil {
		t.Error("there is no agent 5 of 5")
	}
}
