package paxos_test

import (
	"slices"
	"testing"
	"time"

	"dsbo/internal/testkit"
	"dsbo/network/membership"
	"dsbo/network/membership/paxos"
)

// A voter is a member that others ask for its vote, and its disk.
type voter struct {
	t    *testing.T
	seat *paxos.Node
	now  time.Time
	// On the disk:
	vote   paxos.Vote
	points []paxos.Point // nil: the checkpoint of iteration 0
}

func (v *voter) Points() ([]paxos.Point, error) {
	if v.points == nil {
		return []paxos.Point{{}}, nil
	}
	return v.points, nil
}

func (v *voter) SaveVote(vote paxos.Vote) error       { v.vote = vote; return nil }
func (v *voter) SaveChange(_ membership.Change) error { return nil }

// start starts agent 4 of five, of which agents 0 to 3 propose, from its disk and a log.
func (v *voter) start(log ...membership.Change) {
	v.seat = testkit.Get(paxos.New(paxos.Settings{
		Agent: 4, Founders: 5, Edges: membership.Edges{{0, 4}, {1, 4}, {2, 4}, {3, 4}}, Quorum: 3, Patience: patience,
		Draw: func() uint64 { return 1 }, Records: v,
	}, log, v.vote))
}

// members returns a change to these.
func members(epoch int, agents ...int) *membership.Change {
	return &membership.Change{Epoch: epoch, Members: agents, Why: []string{"a test"}}
}

// asked hands the voter a message and returns its answer. What it promises and votes for must be on
// its disk as it says so.
func (v *voter) asked(m paxos.Message) paxos.Kind {
	v.t.Helper()
	m.To, m.Epoch = 4, v.seat.Epoch().Number+1
	testkit.OK(v.seat.Receive(v.now, m))
	answers := v.seat.Messages()
	if len(answers) != 1 {
		v.t.Fatalf("%d answers to %+v; there must be one", len(answers), m)
	}
	a := answers[0]
	switch {
	case a.Kind == paxos.Promise && v.vote.Promised != m.Ballot:
		v.t.Errorf("ballot %+v has a promise; on disk is that of %+v", m.Ballot, v.vote.Promised)
	case a.Kind == paxos.Accepted && (v.vote.Accepted != m.Ballot || v.vote.Change == nil):
		v.t.Errorf("ballot %+v has a vote; on disk is that for %+v", m.Ballot, v.vote.Accepted)
	}
	return a.Kind
}

// TestVotes: who has promised a ballot votes for none before it, and what it has promised and voted
// for is on its disk before anybody hears of it: with a new process after each answer, and without,
// the answers are the same.
func TestVotes(t *testing.T) {
	first, second, third := paxos.Ballot{Number: 1, Agent: 1}, paxos.Ballot{Number: 2, Agent: 2},
		paxos.Ballot{Number: 3}
	for _, restarts := range []bool{false, true} {
		v := &voter{t: t, now: time.Unix(0, 0)}
		v.start()
		for _, step := range []struct {
			what string
			ask  paxos.Message
			want paxos.Kind
		}{
			{"a ballot", paxos.Message{Kind: paxos.Prepare, From: 2, Ballot: second}, paxos.Promise},
			{"an older ballot", paxos.Message{Kind: paxos.Prepare, From: 1, Ballot: first}, paxos.Refuse},
			{"the change of an older ballot",
				paxos.Message{Kind: paxos.Accept, From: 1, Ballot: first, Change: members(1, 1, 2, 3, 4)},
				paxos.Refuse},
			{"the change of the ballot",
				paxos.Message{Kind: paxos.Accept, From: 2, Ballot: second, Change: members(1, 0, 2, 3, 4)},
				paxos.Accepted},
			{"a later ballot", paxos.Message{Kind: paxos.Prepare, From: 0, Ballot: third}, paxos.Promise},
			{"the ballot before again",
				paxos.Message{Kind: paxos.Accept, From: 2, Ballot: second, Change: members(1, 0, 2, 3, 4)},
				paxos.Refuse},
		} {
			if restarts {
				v.start()
			}
			if got := v.asked(step.ask); got != step.want {
				t.Errorf("restarts %v: %s: the answer is of kind %d; it must be %d", restarts,
					step.what, got, step.want)
			}
		}
	}
}

// TestVotedCheckpointsStay: with a vote those checkpoints stay with which its change begins, or one
// of an earlier ballot that may still be decided.
func TestVotedCheckpointsStay(t *testing.T) {
	two, four, six := paxos.Point{Iteration: 2, Round: 20}, paxos.Point{Iteration: 4, Round: 40},
		paxos.Point{Iteration: 6, Round: 60}
	v := &voter{t: t, now: time.Unix(0, 0)}
	v.start()
	ballots := []paxos.Ballot{{Number: 1, Agent: 1}, {Number: 2, Agent: 2}, {Number: 3, Agent: 3}}
	for k, step := range []struct {
		there, stay []paxos.Point
		begins      paxos.Point
	}{
		{[]paxos.Point{four, two}, []paxos.Point{four}, four},
		{[]paxos.Point{six, four}, []paxos.Point{six, four}, six},
		{[]paxos.Point{six, four}, []paxos.Point{six, four}, four},
	} {
		v.points = step.there
		v.asked(paxos.Message{Kind: paxos.Prepare, From: ballots[k].Agent, Ballot: ballots[k]})
		change := members(1, 0, 1, 2, 3, 4)
		change.Iteration, change.Round = step.begins.Iteration, step.begins.Round
		v.asked(paxos.Message{Kind: paxos.Accept, From: ballots[k].Agent, Ballot: ballots[k], Change: change})
		if !slices.Equal(v.vote.Points, step.stay) {
			t.Errorf("ballot %d: checkpoints %v stay; it must be %v", k+1, v.vote.Points, step.stay)
		}
	}
}

// TestSealedVote: who knows that all members have finished votes for nobody who would come in,
// unless somebody has done so before; for a member that leaves it does.
func TestSealedVote(t *testing.T) {
	ballot := paxos.Ballot{Number: 1, Agent: 1}
	for _, tt := range []struct {
		agents []int
		again  bool
		want   paxos.Kind
	}{
		{[]int{0, 1, 2, 3, 4}, false, paxos.Refuse},
		{[]int{0, 1, 2, 3, 4}, true, paxos.Accepted},
		{[]int{1, 2, 4}, false, paxos.Accepted},
	} {
		v := &voter{t: t, now: time.Unix(0, 0)}
		v.start(*members(1, 1, 2, 3, 4))
		testkit.OK(v.seat.Seal(true))
		v.asked(paxos.Message{Kind: paxos.Prepare, From: 1, Ballot: ballot})
		if got := v.asked(paxos.Message{Kind: paxos.Accept, From: 1, Ballot: ballot, Change: members(2, tt.agents...),
			Again: tt.again}); got != tt.want {
			t.Errorf("members %v, voted for before %v: the answer is of kind %d; it must be %d", tt.agents,
				tt.again, got, tt.want)
		}
	}
}

// TestDecidedChanges: what is said to be decided must be a change that can be: one of the next
// epoch, with a quorum that stays.
func TestDecidedChanges(t *testing.T) {
	for _, tt := range []struct {
		change *membership.Change
		epoch  int
	}{
		{members(1, 2, 3, 4), 1},
		{members(1, 3, 4), 0},
		{members(2, 2, 3, 4), 0},
	} {
		v := &voter{t: t, now: time.Unix(0, 0)}
		v.start()
		testkit.OK(v.seat.Receive(v.now,
			paxos.Message{Kind: paxos.Decided, From: 1, To: paxos.All, Epoch: tt.change.Epoch, Change: tt.change}))
		if got := v.seat.Epoch().Number; got != tt.epoch {
			t.Errorf("after a change to epoch %d of agents %v the epoch is %d; it must be %d", tt.change.Epoch,
				tt.change.Members, got, tt.epoch)
		}
	}
}

// TestPromiseHolds: who has promised stands still until the proposer withdraws, or has not been
// heard of for long.
func TestPromiseHolds(t *testing.T) {
	for _, c := range []struct {
		name      string
		withdrawn bool
		after     time.Duration // since the promise
		held      bool
	}{
		{name: "at once", held: true},
		{name: "five patiences later", after: 5 * patience, held: true},
		{name: "seven patiences later", after: 7 * patience},
		{name: "withdrawn", withdrawn: true},
	} {
		r := newRoom(3, 2, membership.Edges{{0, 1}, {0, 2}, {1, 2}}, diskSite{{}}, diskSite{{}}, diskSite{{}})
		m := paxos.Message{Kind: paxos.Prepare, From: 0, To: paxos.All, ID: 1, Epoch: 1,
			Ballot: paxos.Ballot{Number: 1}}
		r.hand(m)
		if m.Kind = paxos.Withdraw; c.withdrawn {
			r.hand(m)
		}
		if is := r.seats[1].Held(r.now.Add(c.after)); is != c.held {
			t.Errorf("%s: it stands still: %v; it must be %v", c.name, is, c.held)
		}
	}
}
