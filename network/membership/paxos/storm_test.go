package paxos_test

import (
	"cmp"
	"flag"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"dsbo/internal/testkit"
	"dsbo/network/membership"
	"dsbo/network/membership/paxos"
)

// A stormy site crashes as often as not when it writes.
type stormySite struct {
	seat *paxos.Node
	draw *rand.Rand
	log  membership.Log
	vote paxos.Vote
}

func (s *stormySite) Points() ([]paxos.Point, error) { return []paxos.Point{{}}, nil }

func (s *stormySite) SaveVote(v paxos.Vote) error {
	return s.write(func() { s.vote = v })
}

func (s *stormySite) SaveChange(c membership.Change) error {
	return s.write(func() { s.log = append(s.log[:len(s.log):len(s.log)], c) })
}

func (s *stormySite) write(do func()) error {
	kind := s.draw.IntN(20)
	if kind != 0 {
		do()
	}
	if kind < 2 {
		return errCrash
	}
	return nil
}

// storm has five agents, or three, vote while messages come late, in any order, twice or never, and
// while agents crash as they write and come back at once. Each has reasons of its own to propose,
// so that the changes that they propose differ.
func storm(t *testing.T, seed uint64) (changes int) {
	// Of three the messages are fewer that are under way, so that a lost change shows sooner.
	n, quorum, steps, most := 5, 3, 5000, 300
	if seed%2 == 1 {
		n, quorum, steps, most = 3, 2, 2500, 30
	}
	draw := rand.New(rand.NewPCG(seed, 26))
	now := time.Unix(0, 0)
	sites := make([]*stormySite, n)
	decided := map[int]membership.Digest{}
	var sky []paxos.Message
	start := func(i int) {
		s := sites[i]
		s.seat = testkit.Get(paxos.New(paxos.Settings{
			Agent: i, Founders: n, Edges: complete(n), Quorum: quorum, Patience: patience, Draw: draw.Uint64,
			Records: s, Notary: seal(i),
		}, s.log, s.vote))
	}
	after := func(i int, err error) {
		s := sites[i]
		for _, c := range s.seat.Changes() {
			if before, known := decided[c.Epoch]; known && before != c.Digest() {
				t.Fatalf("seed %d: epoch %d begins with\n%s at agent %d, and with\n%x elsewhere", seed, c.Epoch,
					c.Line(), i, before)
			}
			decided[c.Epoch] = c.Digest()
		}
		if err != nil { // what it was about to say is lost
			start(i)
			return
		}
		for _, m := range s.seat.Messages() {
			// Most have to find out by votes, and few neighbours hear of a promise.
			if often := m.Kind != paxos.Decided && (m.Kind != paxos.Promise || m.To == m.Ballot.Agent); often ||
				draw.IntN(10) == 0 {
				sky = append(sky, m)
			}
		}
	}
	for i := range n {
		sites[i] = &stormySite{draw: draw}
		start(i)
	}
	for range steps {
		if len(sky) == 0 || draw.IntN(8) == 0 {
			i := draw.IntN(n)
			if draw.IntN(15) == 0 {
				start(i)
			}
			now = now.Add(time.Duration(draw.IntN(3)) * tick)
			after(i, sites[i].seat.Tick(now, paxos.Observation{Down: []int{(i + 1 + draw.IntN(n-1)) % n}, Ready: true}))
			continue
		}
		k := draw.IntN(len(sky))
		m := sky[k]
		if draw.IntN(4) > 0 { // else it comes again
			sky = slices.Delete(sky, k, k+1)
		}
		to := m.To
		if to == paxos.All {
			to = draw.IntN(n)
		}
		after(to, sites[to].seat.Receive(now, m))
		if len(sky) > most {
			sky = slices.Delete(sky, 0, 2*most/3)
		}
	}
	return len(decided)
}

// TestStorm: at most one change is decided for an epoch.
func TestStorm(t *testing.T) { search(t, 20, 80, storm) }

var seeds = flag.Int("seeds", 0, "`number` of seeds of TestAgreement, TestLiars and TestStorm; 0: few")

// search runs what seeds draw: few of them, or very few where tests are short.
func search(t *testing.T, veryFew, few int, run func(t *testing.T, seed uint64) (changes int)) {
	n, changes := cmp.Or(*seeds, few), 0
	if testing.Short() {
		n = min(n, veryFew)
	}
	for seed := range n {
		changes += run(t, uint64(seed))
	}
	if t.Logf("%d seeds, %d changes", n, changes); changes < n/2 {
		t.Error("in most of the runs nothing was decided: they find nothing")
	}
}
