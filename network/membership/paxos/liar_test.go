package paxos_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"dsbo/internal/testkit"
	"dsbo/network/membership"
	"dsbo/network/membership/paxos"
)

// answersTo hands what an agent signs to all others, and returns what they answer it.
func (r *room) answersTo(quorum int, m paxos.Message) (answers []paxos.Message) {
	m.To = paxos.All
	r.hand(signedIn(membership.Council{Quorum: quorum}, m))
	for _, a := range r.drain() {
		if a.To == m.From {
			answers = append(answers, a)
		}
	}
	return answers
}

// promisesTo has agent 3 propose, and returns the promises of the others and of itself.
func (r *room) promisesTo(quorum int, b paxos.Ballot) []paxos.Message {
	promises := r.answersTo(quorum, paxos.Message{Kind: paxos.Prepare, From: b.Agent, Epoch: 1, Ballot: b})
	own := promise(b.Agent, b, 1, paxos.Point{Iteration: 4, Round: 40})
	return append(promises, signedIn(membership.Council{Quorum: quorum}, own))
}

// TestLyingProposer: a member that proposes what it likes gets no votes for it, whatever is wrong.
func TestLyingProposer(t *testing.T) {
	const n, quorum, liar = 4, 3, 3
	council := membership.Council{Quorum: quorum}
	b := paxos.Ballot{Number: 5, Agent: liar}
	for name, tt := range map[string]struct {
		absent []int // whom the others do not hear
		lie    func(m *paxos.Message)
		votes  int
	}{
		"it tells the truth": {absent: []int{2}, votes: 2},
		"one that is there is left out": {lie: func(m *paxos.Message) {
			m.Promises = slices.DeleteFunc(m.Promises, func(p paxos.Message) bool { return p.From == 2 })
		}},
		"a quorum has not promised": {absent: []int{2}, lie: func(m *paxos.Message) { m.Promises = m.Promises[:2] }},
		"a promise twice": {absent: []int{2}, lie: func(m *paxos.Message) {
			m.Promises = append(m.Promises, m.Promises[0])
		}},
		"a promise is changed": {absent: []int{2}, lie: func(m *paxos.Message) {
			m.Promises[0].Points = []paxos.Point{{Iteration: 2}}
		}},
		"of another ballot": {absent: []int{2}, lie: func(m *paxos.Message) { m.Ballot.Number++ }},
		"another iteration": {absent: []int{2}, lie: func(m *paxos.Message) { m.Change.Iteration = 1 << 40 }},
		"an iteration before": {absent: []int{2},
			lie: func(m *paxos.Message) { m.Change.Iteration, m.Change.Round = 0, 0 }},
		"other reasons": {absent: []int{2}, lie: func(m *paxos.Message) { m.Change.Why = []string{"<script>"} }},
		"a liar without proof": {absent: []int{2}, lie: func(m *paxos.Message) {
			m.Change.Liars = []membership.Lie{{Agent: 2, Epoch: 1, Votes: make([]membership.Cast, 2)}}
		}},
		"another's ballot": {absent: []int{2}, lie: func(m *paxos.Message) { m.Ballot.Agent = 1 }},
	} {
		r := fullRoom(n, quorum)
		r.away = map[int]bool{}
		for i := range n {
			r.seen[i].Down = tt.absent
		}
		for _, i := range tt.absent {
			r.away[i] = true
		}
		for i, s := range r.seats[:liar] {
			if !r.away[i] {
				testkit.OK(s.Tick(r.now, r.seen[i]))
			}
		}
		r.drain()
		promises := r.promisesTo(quorum, b)
		chosen := paxos.Message{Promises: slices.Clone(promises)}
		if tt.lie != nil && tt.absent == nil {
			tt.lie(&chosen)
		}
		change := r.seats[0].Compose(r.now, chosen.Promises...)
		change.Proposer = liar
		m := accepting(b, change, chosen.Promises...)
		if tt.lie != nil {
			tt.lie(&m)
		}
		v := testkit.Get(seal(liar).Sign(council.VoteText(membership.FirstVote, m.Ballot, 1, m.Change.Digest())))
		m.Vote = &v
		votes := 0
		for _, a := range r.answersTo(quorum, m) {
			if a.Kind == paxos.Accepted {
				votes++
			}
		}
		if votes != tt.votes {
			t.Errorf("%s: %d votes; there must be %d", name, votes, tt.votes)
		}
	}
}

// TestTwoVotes: a member that votes for two changes in one ballot is proved to have lied by that:
// it is named, left out for good, and the log keeps the proof.
func TestTwoVotes(t *testing.T) {
	const n, quorum, liar = 4, 3, 3
	council := membership.Council{Quorum: quorum}
	r := fullRoom(n, quorum)
	b := paxos.Ballot{Number: 5, Agent: liar}
	for _, iteration := range []int{0, 4} {
		change := membership.Change{Epoch: 1, Iteration: iteration, Members: []int{0, 1, liar}}
		m := accepting(b, &change)
		v := testkit.Get(seal(liar).Sign(council.VoteText(membership.FirstVote, b, 1, change.Digest())))
		m.Vote = &v
		r.answersTo(quorum, m)
	}
	r.seen[liar].Ready = true // it asks to come in again
	r.wait()
	r.seats = r.seats[:liar]
	log := r.log(t)
	if len(log) != 1 || !slices.Equal(log[0].Members, []int{0, 1, 2}) || !slices.Equal(log.Liars(), []int{liar}) ||
		!strings.HasPrefix(log[0].Why[0], "agent 3 left for good") {
		t.Fatalf("agent %d must be left out for good; the log is\n%s", liar, log.Bytes())
	}
	lie := log[0].Liars[0]
	if err := lie.Verify(council, seal(0).Verify, time.Time{}); err != nil {
		t.Error(err)
	}
	lie.Votes = slices.Clone(lie.Votes)
	lie.Votes[0].Change = lie.Votes[1].Change
	if err := lie.Verify(council, seal(0).Verify, time.Time{}); err == nil {
		t.Error("two votes for one change are no lie")
	}
	if err := log.VerifyVotes(seal(0).Verify); err != nil {
		t.Error(err)
	}
	log[0].Why = nil
	if err := log.VerifyVotes(seal(0).Verify); err == nil {
		t.Error("a change that was changed has its votes")
	}
}

// TestBallotsHaveABudget: a member whose ballots come to nothing has the others stand still for at
// most half of the time.
func TestBallotsHaveABudget(t *testing.T) {
	const n, quorum, liar = 4, 3, 3
	r := fullRoom(n, quorum)
	held, steps := 0, 4000
	for k := range steps {
		r.now = r.now.Add(patience / 4)
		r.answersTo(quorum, paxos.Message{Kind: paxos.Prepare, From: liar, Epoch: 1, ID: uint64(k),
			Ballot: paxos.Ballot{Number: k + 1, Agent: liar}})
		if k > steps/2 && r.seats[1].Held(r.now) {
			held++
		}
	}
	if share := float64(held) / float64(steps/2); share > 0.55 {
		t.Errorf("agent 1 stands still for %.0f %% of the time; it must be half at most", 100*share)
	}
	high := paxos.Message{Kind: paxos.Prepare, From: liar, Epoch: 1, Ballot: paxos.Ballot{Number: 1 << 60, Agent: liar}}
	r.now = r.now.Add(time.Hour)
	if answers := r.answersTo(quorum, high); len(answers) > 0 {
		t.Errorf("the highest ballot has %d answers; after it there would be none", len(answers))
	}
}

// TestForgedMessages: what an agent has not signed is not verified.
func TestForgedMessages(t *testing.T) {
	r := fullRoom(4, 3)
	m := signed(paxos.Message{Kind: paxos.Report, From: 2, To: paxos.All, Epoch: 1, ID: 7, Hops: 3})
	m.Hops--
	testkit.OK(r.seats[0].Verify(r.now, m))
	for name, change := range map[string]func(m *paxos.Message){
		"no signature":   func(m *paxos.Message) { m.Signature = nil },
		"another sender": func(m *paxos.Message) { m.From = 1 },
		"another signer": func(m *paxos.Message) { m.Signature.Agent = 1 },
		"another number": func(m *paxos.Message) { m.ID++ },
		"other contents": func(m *paxos.Message) { m.Down = []int{3} },
	} {
		forged, s := m, *m.Signature
		forged.Signature = &s
		change(&forged)
		if err := r.seats[0].Verify(r.now, forged); err == nil {
			t.Errorf("%s: it is verified", name)
		}
	}
	elsewhere := signedIn(membership.Council{Run: "another run", Quorum: 3}, m)
	if err := r.seats[0].Verify(r.now, elsewhere); err == nil {
		t.Error("what is signed for another run is verified")
	}
}

// TestLiars: whatever fewer liars than any two quorums have in common sign, drop, repeat and make
// up, at most one change is decided for an epoch; and when they are silent, the others go on, or
// say for whom they wait.
func TestLiars(t *testing.T) { search(t, 8, 30, silenceLiars) }

// silenceLiars has one or two agents lie, and then be silent.
func silenceLiars(t *testing.T, seed uint64) (changes int) {
	w := newWorld(t, seed, founders, 6, wheel(founders)) // any two quorums have 4 in common
	draw := rand.New(rand.NewPCG(seed, 5))
	for _, i := range draw.Perm(founders)[:1+draw.IntN(2)] {
		w.sites[i].lies = liarOf(w, i, draw)
	}
	w.fail(20)
	w.heal()
	for _, s := range w.sites {
		if s.lies != nil {
			s.seat, s.lies = nil, nil
		}
	}
	// One that goes on alone is not further ahead of its neighbour than an iteration.
	_, most := w.iterations()
	enough, late := most+founders, 200
	for k := 0; k < 1200 && (most < enough || k < late); k++ {
		w.step()
		_, most = w.iterations()
	}
	if most < enough && !w.awaitsTheSilent() {
		w.describe()
		t.Fatalf("seed %d: the others do not go on after the liars are silent", seed)
	}
	return len(w.decided)
}

// awaitsTheSilent reports whether a site says that members are silent without which there is no
// quorum: honest ones had been left out before, as they were absent.
func (w *world) awaitsTheSilent() bool {
	return slices.ContainsFunc(w.sites, func(s *site) bool {
		return s.seat != nil && strings.Contains(s.seat.Waiting(), "no answer from agents")
	})
}

// liarOf returns what an agent makes of each message that it is about to send: others, which it
// signs.
func liarOf(w *world, agent int, draw *rand.Rand) func(m paxos.Message) []paxos.Message {
	var sent []paxos.Message
	council := membership.Council{Quorum: w.quorum}
	again := func(m paxos.Message) paxos.Message {
		m.From, m.ID = agent, draw.Uint64()
		if m.Change != nil && m.Change.Proof == nil {
			text := council.VoteText(membership.FirstVote, m.Ballot, m.Epoch, m.Change.Digest())
			v := testkit.Get(seal(agent).Sign(text))
			m.Vote = &v
		}
		return signedIn(council, m)
	}
	return func(m paxos.Message) []paxos.Message {
		sent = append(sent, m)
		old := sent[draw.IntN(len(sent))]
		switch draw.IntN(14) {
		case 0:
			return nil
		case 1:
			return []paxos.Message{m, old, again(old)}
		case 2: // two changes in one ballot
			if m.Kind == paxos.Accept && len(m.Promises) > 0 {
				other := *m.Change
				other.Why = []string{"a lie"}
				lie := m
				lie.Change = &other
				return []paxos.Message{m, again(lie)}
			}
		case 3: // a quorum of other promises
			if m.Kind == paxos.Accept && len(m.Promises) > w.quorum {
				m.Promises = m.Promises[1:]
				return []paxos.Message{again(m)}
			}
		case 4:
			if m.Kind == paxos.Promise {
				m.Change = nil // it has confirmed nothing
				return []paxos.Message{again(m)}
			}
		case 5:
			if m.Kind == paxos.Promise {
				m.Points = []paxos.Point{{}}
				return []paxos.Message{again(m)}
			}
		case 6:
			m.Down = []int{draw.IntN(founders)}
			return []paxos.Message{again(m)}
		case 7:
			if m.Kind == paxos.Prepare {
				m.Ballot.Number += draw.IntN(1 << 20)
				return []paxos.Message{again(m)}
			}
		case 8:
			return []paxos.Message{m, again(paxos.Message{Kind: paxos.Refuse, To: draw.IntN(founders), Epoch: m.Epoch,
				Ballot: paxos.Ballot{Number: m.Ballot.Number + 100, Agent: agent}})}
		case 9: // what it has seen decided, for the next epoch
			if m.Kind == paxos.Decided {
				other := *m.Change
				other.Epoch++
				m.Change, m.Epoch = &other, m.Epoch+1
				return []paxos.Message{again(m)}
			}
		case 10:
			if m.Kind == paxos.Withdraw {
				return nil
			}
			return []paxos.Message{m, again(paxos.Message{Kind: paxos.Withdraw, To: paxos.All, Epoch: m.Epoch,
				Ballot: m.Ballot, Promises: old.Promises})}
		case 11:
			m.Sealed, m.Asks = !m.Sealed, !m.Asks
			return []paxos.Message{again(m)}
		case 12: // first votes for what another one has promised
			m.Epoch++
			return []paxos.Message{again(m)}
		case 13:
			return slices.Repeat([]paxos.Message{m}, 5)
		}
		return []paxos.Message{m}
	}
}
