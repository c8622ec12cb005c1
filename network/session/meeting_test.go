package session

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/network/register"
)

// TestTurns: the lowest agent that is here proposes once every agent of the roster is here or has
// been away for long enough, and each edge between agents that are here is up or has been down as
// long.
func TestTurns(t *testing.T) {
	const beat, absent = time.Second, time.Minute
	begin := time.Unix(0, 0)
	four := roster{agents: []int{0, 1, 2, 3}, edges: [][2]int{{0, 1}, {1, 2}, {2, 3}, {0, 3}}, quorum: 3}
	all := map[int][]int{0: {1, 3}, 1: {0, 2}, 2: {1, 3}, 3: {0, 2}}
	without := func(links map[int][]int, agents ...int) map[int][]int {
		left := map[int][]int{}
		for i, l := range links {
			if !slices.Contains(agents, i) {
				left[i] = l
			}
		}
		return left
	}
	for _, c := range []struct {
		name   string
		agent  int
		absent time.Duration
		here   map[int][]int // links of those that are here
		after  time.Duration
		roster roster
		mine   bool
		wait   string
	}{
		{"all", 0, absent, all, 3 * beat, four, true, ""},
		{"not the lowest", 1, absent, all, 3 * beat, four, false, ""},
		{"too early", 0, absent, all, beat, four, false, ""},
		{"one away", 0, absent, without(all, 2), 3 * beat, four, false, "waits for agent 2"},
		{"one away for long", 0, absent, without(all, 2), absent, four, true, ""},
		{"the lowest away for long", 1, absent, without(all, 0), absent, four, true, ""},
		{"all must be here", 0, 0, without(all, 2), 100 * absent, four, false, "waits for agent 2"},
		{"too few", 0, absent, without(all, 2, 3), absent, four, false, "3 agents must be here"},
		{"an edge down", 0, absent, map[int][]int{0: {3}, 1: {0, 2}, 2: {1, 3}, 3: {0, 2}}, 3 * beat, four, false,
			"a connection between agents 0 and 1"},
		{"an edge down for long", 0, absent, map[int][]int{0: {1, 3}, 1: {0}, 2: {1, 3}, 3: {0, 2}}, absent + beat,
			four, true, ""},
	} {
		council := newCouncil(c.agent, beat, c.absent, begin)
		council.begin(begin, four.agents)
		var present []int
		for now := begin; !now.After(begin.Add(c.after)); now = now.Add(beat) {
			for i, links := range c.here {
				council.heard[i], council.here[i] = now, presence{at: now, links: links}
			}
			present = council.electors(now, c.here[c.agent], c.roster)
		}
		wait := council.waitsFor()
		if (present != nil) != c.mine || c.wait == "" != (wait == "") || !strings.Contains(wait, c.wait) {
			t.Errorf("%s: proposes to %v, %q; want %t, %q", c.name, present, wait, c.mine, c.wait)
		}
	}
}

// TestPostponed: an agent that is left out of a session proposes none before those in it, who tell
// no more that they are here, no longer count as here. Its proposal would end their session.
func TestPostponed(t *testing.T) {
	const beat = time.Second
	now := time.Unix(0, 0)
	three := roster{agents: []int{0, 1, 2}, edges: [][2]int{{0, 1}, {1, 2}, {0, 2}}, quorum: 2}
	c := newCouncil(0, beat, time.Minute, now)
	c.begin(now, three.agents)
	now = now.Add(3 * beat)
	c.receive(message{Subject: isHere, From: 1, Links: []int{0, 2}}, now)
	c.receive(message{Subject: isHere, From: 2, Links: []int{0, 1}}, now)
	if present := c.electors(now, []int{1, 2}, three); len(present) != 3 {
		t.Fatalf("before, it proposes a session to %v", present)
	}
	c.postpone("left out of session 1024", now)
	for range 2 * answerBeats {
		now = now.Add(beat)
		if present := c.electors(now, []int{1, 2}, three); present != nil {
			t.Fatalf("after %v it proposes a session to %v", now.Sub(c.since), present)
		}
	}
	if c.blocked != "waits for agent 1, 2" {
		t.Errorf("it waits for %q", c.blocked)
	}
}

// TestProposals: a proposal is made again after four heartbeats and then after eight, or as soon as
// one that was asked is not here any more; answers count once and only from those that were asked,
// and all are returned once they are here.
func TestProposals(t *testing.T) {
	const beat = time.Second
	begin := time.Unix(0, 0)
	c := newCouncil(0, beat, 0, begin)
	two := roster{agents: []int{0, 1}, edges: [][2]int{{0, 1}}, quorum: 2}
	look := func(now time.Time) bool {
		c.here[1] = presence{at: now, links: []int{0}}
		return c.electors(now, []int{1}, two) != nil
	}
	if !look(begin) {
		t.Fatal("no proposal is due at once")
	}
	c.propose(7, []int{0, 1}, begin)
	if look(begin.Add(3*beat)) || !look(begin.Add(4*beat)) {
		t.Error("a proposal must be made again after four heartbeats")
	}
	c.propose(7, []int{0, 1}, begin)
	if look(begin.Add(7*beat)) || !look(begin.Add(8*beat)) {
		t.Error("the second proposal must be made again after eight heartbeats")
	}
	c.propose(7, []int{0, 1, 2}, begin)
	if !look(begin.Add(beat)) {
		t.Error("a proposal must be made again without agent 2, which is not here")
	}
	c.propose(7, []int{0, 1}, begin)
	for _, a := range []register.Answer{{Agent: 0, Number: 7}, {Agent: 0, Number: 7}, {Agent: 2, Number: 7},
		{Agent: 1, Number: 6}} {
		if all := c.collect(a); all != nil {
			t.Errorf("%+v completes %v", a, all)
		}
	}
	if all := c.collect(register.Answer{Agent: 1, Number: 7}); len(all) != 2 {
		t.Errorf("all answers are %v", all)
	}
	c.begin(begin, []int{0, 1})
	if look(begin.Add(beat)) || !look(begin.Add(2*beat)) {
		t.Error("a meeting must last two heartbeats at least")
	}
}

// TestAllKnow: agents that have finished wait for each member's word, and for whoever is here, in
// the session or not: it may lack the result.
func TestAllKnow(t *testing.T) {
	const beat = time.Second
	now := time.Unix(0, 0)
	for _, c := range []struct {
		name        string
		finals      map[int]bool
		here        map[int]time.Time
		know, ofAll bool
	}{
		{"nobody knows", nil, nil, false, false},
		{"one does not know", map[int]bool{0: true}, nil, false, false},
		{"both know", map[int]bool{0: false, 1: false}, nil, true, false},
		{"one knows of all", map[int]bool{0: true, 1: false}, nil, true, false},
		{"both know of all", map[int]bool{0: true, 1: true}, nil, true, true},
		{"itself is here", map[int]bool{0: true, 1: true}, map[int]time.Time{0: now}, true, true},
		{"one comes back", map[int]bool{0: true, 1: true}, map[int]time.Time{1: now}, false, false},
		{"another one is here", map[int]bool{0: true, 1: true}, map[int]time.Time{2: now}, false, false},
		{"it has gone", map[int]bool{0: true, 1: true}, map[int]time.Time{2: now.Add(-presentBeats * beat)}, true,
			true},
	} {
		council := newCouncil(0, beat, time.Minute, now)
		council.finals = c.finals
		for i, at := range c.here {
			council.here[i] = presence{at: at}
		}
		if known := council.allKnow([]int{0, 1}, false, now); known != c.know {
			t.Errorf("%s: all know that the result is final: %t, want %t", c.name, known, c.know)
		}
		if known := council.allKnow([]int{0, 1}, true, now); known != c.ofAll {
			t.Errorf("%s: all know that all do: %t, want %t", c.name, known, c.ofAll)
		}
	}
}

// TestPause: where many sessions began at one point an agent waits since the last one before it
// promises, and then promises the highest number that is proposed by then, in whatever order they
// came: who proposes again and again is answered.
func TestPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := bareAgent(5)
		a.config.PeerTimeout = time.Minute
		a.ledger.state.Load().Attempts.Count = 20 // sessions, which pause for as long as it may be
		a.chain.over = time.Now()
		a.closing, a.close = context.WithCancel(context.Background())
		defer a.close()
		go a.keepPromising()
		for _, c := range []struct {
			after time.Duration
			asked []uint64
			want  uint64
		}{{0, []uint64{7}, 5}, {time.Minute - 1, []uint64{9, 8}, 5}, {1, nil, 9}, {0, []uint64{10}, 10}} {
			time.Sleep(c.after)
			for _, number := range c.asked {
				a.mu.Lock()
				a.asked(number)
				a.mu.Unlock()
			}
			synctest.Wait()
			if got := a.ledger.read().Promised; got != c.want {
				t.Errorf("after %v, with %v proposed, %d is promised; it must be %d", c.after, c.asked, got, c.want)
			}
		}
	})
}

// TestRoute: each message is passed on once, of the newest process of its sender alone.
func TestRoute(t *testing.T) {
	var r route
	for k, c := range []struct {
		m    message
		want bool
	}{
		{message{From: 1, Instance: 5, Count: 1}, true},
		{message{From: 1, Instance: 5, Count: 1}, false},
		{message{From: 1, Instance: 5, Count: 3}, true},
		{message{From: 1, Instance: 5, Count: 2}, true},
		{message{From: 2, Instance: 1, Count: 1}, true},
		{message{From: 1, Instance: 4, Count: 9}, false},
		{message{From: 1, Instance: 6, Count: 1}, true},
		{message{From: 1, Instance: 5, Count: 4}, false},
		{message{From: 1, Instance: 6, Count: 1 + seenMessages}, true},
		{message{From: 1, Instance: 6, Count: 1}, false},
		{message{From: 1, Instance: 6, Count: 1 + seenMessages - 1}, true},
	} {
		if got := r.isNew(c.m); got != c.want {
			t.Errorf("message %d: taken %t", k, got)
		}
	}
	taken := 0
	for count := range uint64(3 * mostMessages) {
		if r.isNew(message{From: 3, Count: count}) {
			taken++
		}
	}
	processes := 0
	for instance := range uint64(3 * mostMessages) {
		if r.isNew(message{From: 4, Instance: instance, Count: 1}) {
			processes++
		}
	}
	if processes != mostMessages {
		t.Errorf("%d messages of new processes of an agent are taken in a heartbeat, want %d", processes, mostMessages)
	}
	if r.beat(); taken != mostMessages || !r.isNew(message{From: 3, Count: 4 * mostMessages}) {
		t.Errorf("%d messages of an agent are taken in a heartbeat, want %d", taken, mostMessages)
	}
}

// TestSilence: the error of a meeting without a session names who was silent all the time; where
// all were heard, what is waited for.
func TestSilence(t *testing.T) {
	const beat = time.Second
	begin := time.Unix(0, 0)
	for _, c := range []struct {
		heard map[int]time.Duration // after the beginning
		want  string
	}{
		{map[int]time.Duration{1: 50 * beat, 2: beat}, "agent 2 has been silent for 1m0s"},
		{map[int]time.Duration{1: 50 * beat}, "agent 2 has been silent for 1m0s"},
		{map[int]time.Duration{1: 50 * beat, 2: 40 * beat}, "no session for 1m0s: waits for agent 1, 2"},
	} {
		council := newCouncil(0, beat, 0, begin)
		council.begin(begin, []int{0, 1, 2})
		for i, after := range c.heard {
			council.heard[i] = begin.Add(after)
		}
		council.wait = "waits for agent 1, 2"
		testkit.WantError(t, "a meeting", council.silence(begin.Add(time.Minute), []int{0, 1, 2}, nil), dsbo.ErrPeer,
			c.want)
	}
}
