package paxos_test

import (
	"errors"
	"slices"
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
