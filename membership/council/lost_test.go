package council_test

import (
	"slices"
	"testing"
	"time"

	"dsbo/internal/must"
	"dsbo/membership"
	"dsbo/membership/council"
)

// A diskSite is an agent's disk that has these checkpoints and keeps nothing else.
type diskSite []council.Point

func (d diskSite) Points() ([]council.Point, error)     { return d, nil }
func (d diskSite) SaveVote(council.Vote) error          { return nil }
func (d diskSite) SaveChange(_ membership.Change) error { return nil }

// TestNoCheckpointYet: members that are about to write their first checkpoint are no reason for a change, though a newcomer asks again and again that
// has only these beside it; one that has lost its checkpoint is.
func TestNoCheckpointYet(t *testing.T) {
	const n = 4
	now, draws := time.Unix(0, 0), uint64(0)
	edges, admitted := membership.Edges{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}, membership.Edges{{1, n}, {2, n}}
	var seats []*council.Seat
	for i := range n + 1 {
		var disk diskSite
		if i == 0 || i == 3 {
			disk = diskSite{{}}
		}
		draw := func() uint64 { draws++; return draws }
		seats = append(seats, must.Get(council.New(council.Settings{
			Agent: i, Founders: n, Edges: edges, Quorum: 3, Patience: patience, Absent: 20 * patience, Draw: draw, Records: disk,
		}, nil, council.Vote{})))
		seats[i].Admit(n, admitted)
	}
	take := func() (sent []council.Message) {
		for _, s := range seats {
			sent = append(sent, s.Messages()...)
		}
		return sent
	}
	steps := func() {
		for range 100 {
			now = now.Add(patience / 4)
			for i, s := range seats {
				must.OK(s.Tick(now, nil, i == n))
				for sent := take(); len(sent) > 0; sent = take() { // all is said before the next one speaks
					for _, m := range sent {
						for j, to := range seats {
							if j != m.From && (m.To == council.All || m.To == j) {
								must.OK(to.Receive(now, m))
							}
						}
					}
				}
			}
		}
	}
	steps()
	if e := seats[0].Epoch(); e.Number != 0 {
		t.Fatalf("epoch %d has begun: %s", e.Number, seats[0].Log()[0].Line())
	}
	seats[1].Lose(true)
	steps()
	if log := seats[0].Log(); len(log) == 0 || !slices.Contains(log[0].Lost, 1) {
		t.Errorf("after agent 1 has lost its checkpoint the log is %v", log)
	}
}
