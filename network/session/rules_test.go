package session

import (
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"dsbo/internal/testkit"
	"dsbo/internal/wording"
	"dsbo/network/masks"
	"dsbo/network/register"
)

// TestReasonsAreBounded: what a message has of an error is short and printable, whatever the error
// has.
func TestReasonsAreBounded(t *testing.T) {
	for _, text := range []string{strings.Repeat("\xff", 2*maxWhy), strings.Repeat("ç", 2*maxWhy), "\x1b[2J", "fine"} {
		if got := bounded(text); len(got) > maxWhy || !wording.Printable(got) || text == "fine" && got != text {
			t.Errorf("%.20q becomes %d bytes, %.40q", text, len(got), got)
		}
	}
}

// TestLineOf: a hello is of a neighbour that is not removed, and of no process before the one that
// is connected and was just heard.
func TestLineOf(t *testing.T) {
	n := newNeighbourhood(&Config{Agent: 0})
	now := time.Now()
	for j, heard := range map[int]time.Time{1: now, 2: now.Add(-time.Minute), 3: now} {
		n.lines[j] = &line{agent: j, conn: &conn{}, instance: 5, heard: heard}
	}
	n.lines[4] = &line{agent: 4, instance: 5, heard: now}
	r := warrants{removed: map[int]string{3: "removal"}}
	for _, c := range []struct {
		from     int
		instance uint64
		want     string
	}{
		{1, 5, ""}, {1, 6, ""}, {1, 4, errFenced.Error()}, {2, 4, ""}, {3, 6, "agent 3 is removed"}, {4, 4, ""},
		{5, 5, "agent 5 is no neighbour"},
	} {
		_, err := n.lineOf(hello{From: c.from, Instance: c.instance}, &r, 10*time.Second)
		if c.want == "" != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("process %d of agent %d: error %v, want %q", c.instance, c.from, err, c.want)
		}
	}
}

// bareAgent returns an agent that has promised a number, without connections.
func bareAgent(promised uint64) *Agent {
	c := Config{Agent: 0, Matrix: ring(3), Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Store: toyStore{&toyDisk{state: register.State{Promised: promised}}, new(bool)}}.withDefaults()
	a := &Agent{config: c, ledger: testkit.Get(openLedger(c.Store)),
		news: make(chan struct{}, 1), asks: make(chan struct{}, 1), neighbours: newNeighbourhood(&c),
		council: newCouncil(0, c.Heartbeat, 0, time.Now()), warrants: warrants{founders: 3}}
	a.links = &links{config: &a.config}
	return a
}

// TestHighestNumber: a number counts as heard unless it is too far ahead to be promised: it would
// hide those that are.
func TestHighestNumber(t *testing.T) {
	a := bareAgent(5)
	for k, c := range []struct{ number, want uint64 }{{2000, 2000}, {1 << 61, 2000}, {1000, 2000}, {3000, 3000}} {
		a.receive(message{From: 1, Count: uint64(k) + 1, Subject: isHere, Number: c.number}, 1)
		if got := a.council.highest; got != c.want {
			t.Errorf("after %d the highest number is %d, want %d", c.number, got, c.want)
		}
	}
}

// TestStrangersAreNotCounted: a message of an agent that is not in the run leaves nothing behind.
func TestStrangersAreNotCounted(t *testing.T) {
	a := bareAgent(5)
	a.receive(message{From: 900, Subject: isHere, Number: 2000}, 1)
	if len(a.neighbours.senders) > 0 || len(a.council.heard) > 0 || a.council.highest != 0 {
		t.Errorf("%d senders, %d agents heard, highest %d", len(a.neighbours.senders), len(a.council.heard),
			a.council.highest)
	}
}

// TestStatusOfWaiting: a session waits for those whose vectors are missing, and for what is
// computed only if all of these compute.
func TestStatusOfWaiting(t *testing.T) {
	for _, c := range []struct {
		activities [2]activity
		computing  bool
	}{
		{[2]activity{computing, saving}, true}, {[2]activity{computing, waiting}, false},
		{[2]activity{waiting, computing}, false},
	} {
		a := bareAgent(5)
		var edges []*edge
		for j, activity := range c.activities {
			l := a.neighbours.lineTo(j + 1)
			l.conn, l.activity = &conn{}, activity
			edges = append(edges, &edge{agent: j + 1, line: l})
		}
		x := newExchange(7, edges, &a.mu)
		x.activity = waiting
		a.chain.current = &Session{Session: register.Session{Number: 5}, x: x}
		if s := a.Status(); s.Computing != c.computing || !slices.Equal(s.Holdups, []int{1, 2}) {
			t.Errorf("%v: computing %t, holdups %v", c.activities, s.Computing, s.Holdups)
		}
	}
}

// beginning returns the answers of three agents, and a key that is a's, from which a session
// follows at iteration 10; change changes the answer of agent i.
func beginning(a *Agent, change func(i int, answer *register.Answer)) message {
	a.config.Quorum, a.config.Unmasked, a.ledger.state.Load().Last = 2, true, 1024
	a.chain.key = testkit.Get(masks.NewKey())
	m := message{Subject: begins, Number: 2048}
	for i := range 3 {
		answer := register.Answer{Agent: i, Number: 2048, Last: 1024, Points: []register.Point{{Iteration: 10}},
			Links: slices.DeleteFunc([]int{0, 1, 2}, func(j int) bool { return j == i }), Time: time.Now().UTC()}
		if i == a.config.Agent {
			answer.Key = a.chain.key.Public()
		}
		change(i, &answer)
		m.Answers = append(m.Answers, answer)
	}
	return m
}

// TestLeftOut: an agent that answers leave out begins no session, and proposes none as long as the
// members count as here for it: its proposal would end theirs.
func TestLeftOut(t *testing.T) {
	a, before := bareAgent(2048), time.Now()
	a.decided(beginning(a, func(i int, answer *register.Answer) {
		if i > 0 {
			answer.Slow = []int{0}
		}
	}))
	if due := before.Add(answerBeats * a.config.Heartbeat); a.chain.current != nil || a.council.notBefore.Before(due) ||
		!strings.HasPrefix(a.council.wait, "left out of session 2048") {
		t.Errorf("session %v; the next proposal is due %v before the members count as away; %s", a.chain.current != nil,
			due.Sub(a.council.notBefore), a.council.wait)
	}
}

// TestEntryIsCounted: checkpoints are counted from the session in which an agent has come in, at
// all members alike.
func TestEntryIsCounted(t *testing.T) {
	for _, c := range []struct{ last, saves int }{{0, 0}, {1024, entrySaves}} { // of agent 2
		a := bareAgent(2048)
		a.chain.saves = entrySaves
		a.decided(beginning(a, func(i int, answer *register.Answer) {
			if i == 2 && c.last == 0 {
				answer.Last, answer.Points = 0, nil
			}
		}))
		if a.chain.current == nil || a.chain.saves != c.saves {
			t.Errorf("agent 2 knows session %d: session %v, %d checkpoints, want %d; %s", c.last,
				a.chain.current != nil, a.chain.saves, c.saves, a.council.wait)
		}
	}
}

// TestFailWithAQuorum: an error of one agent's own is told to the others only where each agent is
// needed.
func TestFailWithAQuorum(t *testing.T) {
	for quorum, told := range map[int]uint64{0: 1, 2: 0} {
		a := bareAgent(5)
		a.config.Quorum = quorum
		own := errors.New("out of memory")
		if a.Fail(own); !errors.Is(a.err, own) || a.neighbours.count != told {
			t.Errorf("quorum %d: error %v, %d messages, want %d", quorum, a.err, a.neighbours.count, told)
		}
	}
}

// A lateDisk has before called with each state, before it keeps that.
type lateDisk struct {
	register.Store
	before func(register.State) error
}

func (d lateDisk) SaveRegister(state register.State) error {
	if err := d.before(state); err != nil {
		return err
	}
	return d.Store.SaveRegister(state)
}

// TestOnTheDiskFirst: what an agent promises, and that it begins a session, is on its disk before
// anybody learns it, and nobody does where the disk fails.
func TestOnTheDiskFirst(t *testing.T) {
	for _, failure := range []error{nil, errKilled} {
		a := bareAgent(5)
		a.ledger.store = lateDisk{a.config.Store, func(next register.State) error {
			now := a.ledger.read()
			if a.neighbours.count > 0 || now.Promised == next.Promised && now.Last == next.Last {
				t.Errorf("%d messages, and the agent has %+v, before the disk has %+v", a.neighbours.count, now, next)
			}
			return failure
		}}
		if err := a.promise(2048); !errors.Is(err, failure) || a.neighbours.count > 0 != (err == nil) {
			t.Errorf("error %v: %d answers to a proposal", err, a.neighbours.count)
		}
		a.neighbours.count = 0
		begun := sessionOf(a, a.ledger.read().Promised)
		if err := begun.record(); !errors.Is(err, failure) {
			t.Errorf("error %v of a session that begins, want %v", err, failure)
		}
		disk := testkit.Get(a.config.Store.Register())
		if now := a.ledger.read(); now.Promised != disk.Promised || now.Last != disk.Last ||
			disk.Promised == 2048 != (failure == nil) || disk.Last > 0 != (failure == nil) {
			t.Errorf("error %v: the agent has %+v, its disk %+v", failure, now, disk)
		}
	}
}

// A pointStore has given points.
type pointStore struct {
	toyStore
	points []register.Point
}

func (s pointStore) Points() ([]register.Point, error) { return slices.Clone(s.points), nil }

// TestResultOfALaterEpoch: a result that was taken over is none until the session has begun in
// which it was: the log of its epoch is not on the disk.
func TestResultOfALaterEpoch(t *testing.T) {
	for _, c := range []struct {
		last uint64
		want bool
	}{{3072, false}, {4096, true}} {
		state := register.State{Promised: 4096, Last: c.last}
		l := testkit.Get(openLedger(pointStore{toyStore{&toyDisk{state: state}, new(bool)},
			[]register.Point{{Epoch: 4096, Iteration: register.Result}}}))
		if has := testkit.Get(l.hasResult()); has != c.want {
			t.Errorf("after session %d the agent has the result: %t; it must be %t", c.last, has, c.want)
		}
	}
}

// sessionOf returns a session of an agent alone, which has begun.
func sessionOf(a *Agent, number uint64) *Session {
	a.chain.current = &Session{Session: register.Session{Number: number}, config: &a.config, owner: a, ledger: a.ledger,
		x: newExchange(7, nil, &a.mu)}
	return a.chain.current
}

// TestOverWritesNothing: a session that has ended, or after which another number is promised,
// writes no file, and is not the agent's last one.
func TestOverWritesNothing(t *testing.T) {
	for _, c := range []struct {
		promised uint64
		over, is bool
	}{{5, false, true}, {5, true, false}, {2048, false, false}} {
		a := bareAgent(c.promised)
		s := sessionOf(a, 5)
		if c.over {
			a.end(&register.Over{Session: 5})
		}
		wrote := false
		err := s.Save(t.Context(), func() error { wrote = true; return errKilled })
		if over := errors.As(err, new(*register.Over)); wrote != c.is || over == c.is {
			t.Errorf("%+v: a file is written: %t, %v", c, wrote, err)
		}
		if err = s.record(); err == nil != c.is || testkit.Get(a.config.Store.Register()).Last > 0 != c.is {
			t.Errorf("%+v: the session begins with %v; the disk has %+v", c, err, a.ledger.read())
		}
	}
}
