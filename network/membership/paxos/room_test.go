package paxos_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"dsbo/internal/num"
	"dsbo/internal/testkit"
	"dsbo/network/membership"
	"dsbo/network/membership/paxos"
)

// A diskSite is an agent's disk that has these checkpoints and keeps nothing else.
type diskSite []paxos.Point

func (d diskSite) Points() ([]paxos.Point, error)       { return d, nil }
func (d diskSite) SaveVote(paxos.Vote) error            { return nil }
func (d diskSite) SaveChange(_ membership.Change) error { return nil }

// A room has seats that hear each other at once.
type room struct {
	seats []*paxos.Node
	seen  []paxos.Observation // what each sees
	now   time.Time
	draws uint64
	away  map[int]bool // who neither hears nor speaks
}

// newRoom returns a room of n founders, and of agents that come later, each with a disk.
func newRoom(founders, quorum int, edges membership.Edges, disks ...diskSite) *room {
	r := &room{now: time.Unix(0, 0), seen: make([]paxos.Observation, len(disks))}
	for i, d := range disks {
		draw := func() uint64 { r.draws++; return num.SplitMix(r.draws) }
		r.seats = append(r.seats, testkit.Get(paxos.New(paxos.Settings{
			Agent: i, Founders: founders, Edges: edges, Quorum: quorum, Patience: patience, Absent: 20 * patience,
			Draw: draw, Records: d, Notary: seal(i),
		}, nil, paxos.Vote{})))
	}
	return r
}

// fullRoom returns a room of n agents, each beside all others, with a checkpoint.
func fullRoom(n, quorum int) *room { return newRoom(n, quorum, complete(n), saved(n)...) }

// complete is a graph in which all are neighbours.
func complete(n int) (edges membership.Edges) {
	for i := range n {
		for j := i + 1; j < n; j++ {
			edges = append(edges, [2]int{i, j})
		}
	}
	return edges
}

// wheel is a graph that survives the loss of any two agents.
func wheel(n int) (edges membership.Edges) {
	for i := range n {
		for _, d := range []int{1, 2} {
			e := [2]int{min(i, (i+d)%n), max(i, (i+d)%n)}
			if !slices.Contains(edges, e) {
				edges = append(edges, e)
			}
		}
	}
	return edges
}

// ring is one that does not survive the loss of two.
func ring(n int) (edges membership.Edges) {
	for i := range n - 1 {
		edges = append(edges, [2]int{i, i + 1})
	}
	return append(edges, [2]int{0, n - 1})
}

// saved are disks of n agents that have a checkpoint beside the beginning.
func saved(n int) []diskSite { return slices.Repeat([]diskSite{{{Iteration: 4, Round: 40}, {}}}, n) }

// wait lets 25 patiences pass.
func (r *room) wait() { testkit.OK(errors.Join(r.waitForEnds(25)...)) }

// waitForEnds lets a number of patiences pass, and returns the errors with which seats have ended,
// nil for the others.
func (r *room) waitForEnds(patiences int) []error {
	ends := make([]error, len(r.seats))
	for range 4 * patiences {
		r.now = r.now.Add(patience / 4)
		for i, s := range r.seats {
			if ends[i] != nil || r.away[i] {
				continue
			}
			ends[i] = s.Tick(r.now, r.seen[i])
			for sent := r.drain(); len(sent) > 0; sent = r.drain() { // all is said before the next one speaks
				for _, m := range sent {
					r.hand(m)
				}
			}
		}
	}
	return ends
}

func (r *room) drain() (sent []paxos.Message) {
	for _, s := range r.seats {
		sent = append(sent, s.Messages()...)
	}
	return sent
}

// hand hands a message to those that it is for, as it is read.
func (r *room) hand(m paxos.Message) {
	m = testkit.Get(paxos.ParseMessage(m.Encode(), r.seats[0].Agents()))
	for j, to := range r.seats {
		if j != m.From && !r.away[j] && (m.To == paxos.All || m.To == j) {
			testkit.OK(to.Verify(r.now, m))
			testkit.OK(to.Receive(r.now, m))
		}
	}
}

// log returns the log, which all must have.
func (r *room) log(t *testing.T) membership.Log {
	t.Helper()
	log := r.seats[0].Log()
	for i, s := range r.seats {
		if string(s.Log().Unsigned().Bytes()) != string(log.Unsigned().Bytes()) {
			t.Errorf("agent %d has the log\n%sand agent 0\n%s", i, s.Log().Bytes(), log.Bytes())
		}
	}
	return log
}

// TestStragglers: a member is left out as slow when all its neighbours have waited too long for it,
// but for those that do not hear it or are slow too, and if the others are a quorum, of which one
// would vote for it; else all wait. One that has lost its state is not slow: it begins with a
// neighbour's, before anybody is left out.
func TestStragglers(t *testing.T) {
	star := membership.Edges{{0, 1}, {0, 2}, {0, 3}}
	for _, c := range []struct {
		name  string
		edges membership.Edges // nil: a ring of five
		slow  map[int][]int    // whom agents find slow
		down  map[int][]int    // whom they do not hear
		blank map[int][]int    // who has come back without a state, as they say
		none  []int            // who has no checkpoint
		asks  []int            // who says so of itself
		left  []int            // who is left out as slow
		lost  []int            // who begins with the state of another one
		waits string           // part of what agents say that wait; "" if they do not
	}{
		{name: "both neighbours", slow: map[int][]int{1: {2}, 3: {2}}, left: []int{2}},
		{name: "one of two neighbours", slow: map[int][]int{1: {2}}},
		{name: "no neighbour", slow: map[int][]int{0: {2}, 4: {2}}},
		{name: "one does not hear it", slow: map[int][]int{1: {2}}, down: map[int][]int{3: {2}}, left: []int{2}},
		{name: "two beside each other", slow: map[int][]int{1: {2}, 4: {3}}, left: []int{2, 3}},
		{name: "too many", slow: map[int][]int{0: {1, 4}, 3: {2, 4}},
			waits: "agents 1, 2, 4 are slow, and are waited for"},
		{name: "by the word of agent 4 alone, as the others wait for each other", edges: complete(5),
			slow: map[int][]int{4: {2}, 0: {1}, 1: {3}, 3: {0}}},
		{name: "both neighbours, of one that has lost its state", slow: map[int][]int{0: {1}, 2: {1}}, none: []int{1},
			asks: []int{1}, lost: []int{1}},
		{name: "too many, beside one that has lost its state", slow: map[int][]int{0: {1, 4}, 3: {2, 4}},
			none: []int{1}, asks: []int{1}, lost: []int{1}},
		{name: "blank", blank: map[int][]int{2: {1}}, none: []int{1}, lost: []int{1}},
		{name: "blank, by the word of one that is wrong", blank: map[int][]int{2: {1}}},
		{name: "the only state is at the tip of a star, and crosses the hub, which asks too", edges: star,
			none: []int{0, 1, 3}, asks: []int{0, 1, 3}, lost: []int{0, 1, 3}},
		{name: "the hub is about to write its checkpoint, and passes none on", edges: star,
			none: []int{0, 1, 3}, asks: []int{1, 3}},
	} {
		n := 5
		if c.edges == nil {
			c.edges = ring(n)
		}
		if len(c.edges) < n { // the star
			n = 4
		}
		disks := saved(n)
		for _, i := range c.none {
			disks[i] = nil
		}
		r := newRoom(n, 3, c.edges, disks...)
		for _, i := range c.asks {
			r.seats[i].SetLost(true)
		}
		for i := range r.seen {
			r.seen[i] = paxos.Observation{Slow: c.slow[i], Down: c.down[i], Blank: c.blank[i]}
		}
		r.wait()
		log := r.log(t)
		switch {
		case len(c.left)+len(c.lost) == 0:
			if len(log) > 0 {
				t.Errorf("%s: no epoch must begin; the log is\n%s", c.name, log.Bytes())
			}
		case len(log) == 0 || len(log) > 1 && len(c.lost) == 0 || !slices.Equal(log[0].Slow, c.left) ||
			!slices.Equal(log[0].Lost, c.lost) || len(log[0].Members) != n-len(c.left) || log[0].Iteration != 4 ||
			len(c.left) > 0 && !strings.HasPrefix(log[0].Why[0], fmt.Sprintf("agent %d left: slow", c.left[0])):
			t.Errorf("%s: agents %v must be left out as slow, and %v begin with another's state; the log is\n%s",
				c.name, c.left, c.lost, log.Bytes())
		}
		waiting := ""
		for _, s := range r.seats {
			waiting += s.Waiting()
		}
		if len(c.none) == 0 && (!strings.Contains(waiting, c.waits) || c.waits == "" && waiting != "") {
			t.Errorf("%s: agents say %q; it must be %q", c.name, waiting, c.waits)
		}
	}
}

// TestNothingInCommon: members whose checkpoints all differ change nothing, and say so.
func TestNothingInCommon(t *testing.T) {
	r := newRoom(4, 3, complete(4), diskSite{{Iteration: 1, Round: 10}}, diskSite{{Iteration: 2, Round: 20}},
		diskSite{{Iteration: 3, Round: 30}}, nil)
	r.away = map[int]bool{3: true}
	for i := range 3 {
		r.seen[i].Down = []int{3}
	}
	r.wait()
	if got := r.seats[0].Waiting(); len(r.log(t)) > 0 || !strings.Contains(got, "have no checkpoint in common yet") {
		t.Errorf("agent 0 says %q; the log is\n%s", got, r.log(t).Bytes())
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

// TestNoCheckpointYet: members that are about to write their first checkpoint are no reason for a
// change, though a newcomer asks again and again that has only these beside it; one that has lost
// its checkpoint is.
func TestNoCheckpointYet(t *testing.T) {
	const n = 4
	r := newRoom(n, 3, complete(n), diskSite{{}}, nil, nil, diskSite{{}}, nil)
	for _, s := range r.seats {
		s.Admit(n, membership.Edges{{1, n}, {2, n}})
	}
	r.seen[n] = paxos.Observation{Ready: true}
	r.wait()
	if log := r.log(t); len(log) > 0 {
		t.Fatalf("epoch 1 has begun: %s", log[0].Line())
	}
	r.seats[1].SetLost(true)
	r.wait()
	if log := r.log(t); len(log) == 0 || !slices.Contains(log[0].Lost, 1) {
		t.Errorf("after agent 1 has lost its checkpoint the log is %v", log)
	}
}

// TestNobodyHasTheState: where no member has a checkpoint, and one says that it had, each ends by
// itself. It does not where one has, or is silent.
func TestNobodyHasTheState(t *testing.T) {
	const n, nobody = 4, -1
	for name, c := range map[string]struct {
		asks, has, away int // agents
		ends            bool
	}{
		"all have lost it":         {asks: 0, has: nobody, away: nobody, ends: true},
		"the last one has lost it": {asks: 3, has: nobody, away: nobody, ends: true},
		"one has it":               {asks: 0, has: 2, away: nobody},
		"one may have it":          {asks: 0, has: nobody, away: 2},
		"it is yet to come":        {asks: nobody, has: nobody, away: nobody},
	} {
		disks := make([]diskSite, n)
		if c.has >= 0 {
			disks[c.has] = diskSite{{Iteration: 4, Round: 40}}
		}
		r := newRoom(n, 3, ring(n), disks...)
		r.away = map[int]bool{c.away: true}
		if c.asks >= 0 {
			r.seats[c.asks].SetLost(true)
		}
		for i, err := range r.waitForEnds(100) {
			if ended := errors.Is(err, paxos.ErrStateLost); ended != c.ends || err != nil && !ended {
				t.Errorf("%s: agent %d: %v; that the state is lost must be %v", name, i, err, c.ends)
			}
		}
	}
}

// TestTwoThatBlameEachOther: where two members say that nothing comes over the edge between them,
// and without either of them there is no quorum, that edge is cut and all stay. It takes 15
// patiences from when a member has looked at it for the first time, and the members look one after
// the other, 6 or 7 patiences apart: 57 for 6 of them. Before, each one that had looked waited for
// longer than the others took, up to 97 for these draws.
func TestTwoThatBlameEachOther(t *testing.T) {
	const n = 6
	for draws := range uint64(5) {
		r := fullRoom(n, n)
		r.draws = 1000 * draws
		r.seen[0].Down, r.seen[3].Down = []int{3}, []int{0}
		took := 0
		for ; took < 60 && len(r.seats[0].Log()) == 0; took++ {
			r.waitForEnds(1)
		}
		log := r.log(t)
		if took > 57 || !slices.Equal(log[0].Cut, membership.Edges{{0, 3}}) || len(log[0].Members) != n {
			t.Errorf("draws %d: edge 0-3 must be cut within 57 patiences; after %d the log is\n%s", draws, took,
				log.Bytes())
		}
	}
}
