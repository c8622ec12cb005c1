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

	promise paxos.Message // its last one
}

// proposal returns what proposes the change that the promises of these agents and the voter ask
// for, where the others begin with a checkpoint.
func (v *voter) proposal(b paxos.Ballot, begins paxos.Point, agents ...int) paxos.Message {
	promises := []paxos.Message{v.promise}
	for _, i := range agents {
		promises = append(promises, promise(i, b, v.promise.Epoch, begins))
	}
	change := v.seat.Compose(v.now, promises...)
	change.Proposer = b.Agent
	return accepting(b, change, promises...)
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
		Agent: 4, Founders: 5, Edges: wheel(5), Quorum: 3, Patience: patience,
		Draw: func() uint64 { return 1 }, Records: v, Notary: seal(4),
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
	m = signed(m)
	testkit.OK(v.seat.Verify(v.now, m))
	testkit.OK(v.seat.Receive(v.now, m))
	answers := slices.DeleteFunc(v.seat.Messages(), func(a paxos.Message) bool { return a.To != m.From })
	if len(answers) > 1 {
		v.t.Fatalf("%d answers to %+v; there must be one", len(answers), m)
	}
	if len(answers) == 0 {
		return 0
	}
	a := answers[0]
	if a.Kind == paxos.Promise {
		v.promise = a
	}
	switch {
	case a.Kind == paxos.Promise && (v.vote.Promised != m.Ballot || !slices.Equal(v.vote.Points, a.Points)):
		v.t.Errorf("ballot %+v has a promise of %v; on disk is that of %+v, of %v", m.Ballot, a.Points, v.vote.Promised,
			v.vote.Points)
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
			{"the change of an older ballot", accepting(first, members(1, 1, 2, 3, 4)), paxos.Refuse},
			{"the change of the ballot", paxos.Message{}, paxos.Accepted},
			{"the votes for it",
				paxos.Message{Kind: paxos.Confirm, From: 2, Ballot: second, Change: &membership.Change{}},
				paxos.Confirmed},
			{"a later ballot", paxos.Message{Kind: paxos.Prepare, From: 0, Ballot: third}, paxos.Promise},
			{"the ballot before again", accepting(second, members(1, 0, 2, 3, 4)), paxos.Refuse},
		} {
			switch step.want {
			case paxos.Accepted:
				step.ask = v.proposal(second, paxos.Point{}, 0, 2, 3)
			case paxos.Confirmed:
				step.ask.Change = proved(membership.FirstVote, second, *v.vote.Change, 0, 2, 4)
			}
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

// TestVotedCheckpointsStay: with a promise the checkpoints stay that it names (see asked), and with
// a vote those with which its change begins, or one of an earlier ballot that may still be decided.
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
		v.asked(v.proposal(ballots[k], step.begins, append([]int{0}, 1+k%3, 1+(k+1)%3)...))
		if !slices.Equal(v.vote.Points, step.stay) {
			t.Errorf("ballot %d: checkpoints %v stay; it must be %v", k+1, v.vote.Points, step.stay)
		}
	}
}

// TestSealedVote: who knows that all members have finished votes for nobody who would come in,
// unless somebody has done so before; for a member that leaves it does.
func TestSealedVote(t *testing.T) {
	before, ballot := paxos.Ballot{Number: 1, Agent: 2}, paxos.Ballot{Number: 2, Agent: 1}
	everybody := members(2, 0, 1, 2, 3, 4)
	for _, tt := range []struct {
		name  string
		asks  bool
		again bool
		want  paxos.Kind
	}{
		{name: "agent 0 asks", asks: true, want: paxos.Refuse},
		{name: "it has been voted for", asks: true, again: true, want: paxos.Accepted},
		{name: "agent 3 has left", want: paxos.Accepted},
	} {
		v := &voter{t: t, now: time.Unix(0, 0)}
		v.start(*members(1, 1, 2, 3, 4))
		testkit.OK(v.seat.Seal(true))
		v.asked(paxos.Message{Kind: paxos.Prepare, From: 1, Ballot: ballot})
		ask := v.proposal(ballot, paxos.Point{}, 1, 2)
		if tt.asks && !tt.again { // of those that do not know that all have finished
			asks := promise(0, ballot, 2, paxos.Point{})
			asks.Asks = true
			v.promise = signed(asks)
			ask = v.proposal(ballot, paxos.Point{}, 1, 2, 3)
		}
		if tt.again {
			confirmed := promise(3, ballot, 2, paxos.Point{})
			confirmed.Change = proved(membership.FirstVote, before, *everybody, 1, 2, 3)
			ask = accepting(ballot, everybody, append(ask.Promises, signed(confirmed))...)
		}
		if got := v.asked(ask); got != tt.want {
			t.Errorf("%s: the answer is of kind %d; it must be %d", tt.name, got, tt.want)
		}
	}
}

// TestDecidedChanges: what is said to be decided must be a change that can be, of the next epoch,
// with a quorum that stays, and have the second votes of a quorum in one ballot.
func TestDecidedChanges(t *testing.T) {
	b := paxos.Ballot{Number: 3, Agent: 1}
	forged := proved(membership.SecondVote, b, *members(1, 2, 3, 4), 2, 3, 4)
	forged.Proof.Votes[0].Signature = forged.Proof.Votes[1].Signature
	changed := proved(membership.SecondVote, b, *members(1, 2, 3, 4), 2, 3, 4)
	changed.Iteration = 1 << 40
	for name, tt := range map[string]struct {
		change *membership.Change
		epoch  int
	}{
		"as it must be":         {proved(membership.SecondVote, b, *members(1, 2, 3, 4), 0, 2, 3), 1},
		"too few stay":          {proved(membership.SecondVote, b, *members(1, 3, 4), 0, 2, 3), 0},
		"of a later epoch":      {proved(membership.SecondVote, b, *members(2, 2, 3, 4), 0, 2, 3), 0},
		"without votes":         {proved(membership.SecondVote, b, *members(1, 2, 3, 4)), 0},
		"votes of two":          {proved(membership.SecondVote, b, *members(1, 2, 3, 4), 0, 2), 0},
		"two of one agent":      {proved(membership.SecondVote, b, *members(1, 2, 3, 4), 0, 2, 2), 0},
		"of one that is none":   {proved(membership.SecondVote, b, *members(1, 2, 3, 4), 0, 2, 5), 0},
		"first votes":           {proved(membership.FirstVote, b, *members(1, 2, 3, 4), 0, 2, 3), 0},
		"a forged vote":         {forged, 0},
		"votes for another one": {changed, 0},
	} {
		v := &voter{t: t, now: time.Unix(0, 0)}
		v.start()
		testkit.OK(v.seat.Receive(v.now,
			paxos.Message{Kind: paxos.Decided, From: 1, To: paxos.All, Epoch: tt.change.Epoch, Change: tt.change}))
		if got := v.seat.Epoch().Number; got != tt.epoch {
			t.Errorf("%s: after a change of agents %v the epoch is %d; it must be %d", name, tt.change.Members, got,
				tt.epoch)
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
		r := newRoom(3, 2, complete(3), diskSite{{}}, diskSite{{}}, diskSite{{}})
		m := paxos.Message{Kind: paxos.Prepare, From: 0, To: paxos.All, ID: 1, Epoch: 1,
			Ballot: paxos.Ballot{Number: 1}}
		r.hand(signedIn(membership.Council{Quorum: 2}, m))
		if m.Kind = paxos.Withdraw; c.withdrawn {
			r.hand(signedIn(membership.Council{Quorum: 2}, m))
		}
		if is := r.seats[1].Held(r.now.Add(c.after)); is != c.held {
			t.Errorf("%s: it stands still: %v; it must be %v", c.name, is, c.held)
		}
	}
}
