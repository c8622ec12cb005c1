package network_test

import (
	"errors"
	"testing"

	"dsbo"
	"dsbo/internal/must"
	"dsbo/membership"
	"dsbo/network"
)

func epoch(members []int, edges, cut [][2]int) membership.Epoch {
	return membership.Epoch{Number: 1, Members: members, Edges: edges, Cut: cut}
}

// TestMembersHaveMetropolisWeights on what the roster's graph has between them.
func TestMembersHaveMetropolisWeights(t *testing.T) {
	ring := must.Get(network.Ring(6, 0.6)).W
	if first := must.Get(ring.Members(membership.First(6))); first != ring {
		t.Error("epoch 0 must have the roster's matrix, whatever its weights")
	}
	for _, c := range []struct {
		name  string
		epoch membership.Epoch
		edges [][2]int // of positions
	}{
		{"a path is left of a ring", epoch([]int{0, 1, 2, 4, 5}, nil, nil), [][2]int{{0, 1}, {1, 2}, {3, 4}, {0, 4}}},
		{"an edge is cut", epoch([]int{0, 1, 2, 3, 4, 5}, nil, [][2]int{{2, 3}}), [][2]int{{0, 1}, {1, 2}, {3, 4}, {4, 5}, {0, 5}}},
		{"one is admitted", epoch([]int{0, 1, 2, 4, 5, 7}, [][2]int{{2, 7}, {4, 7}}, nil), [][2]int{{0, 1}, {1, 2}, {3, 4}, {0, 4}, {2, 5}, {3, 5}}},
		{"one is alone", epoch([]int{3}, nil, nil), nil},
	} {
		got := must.Get(ring.Members(c.epoch))
		want := must.Get(network.FromEdges(len(c.epoch.Members), c.edges, 0)).W
		for i, row := range want.Dense() {
			for j, w := range row {
				if got.At(i, j) != w {
					t.Errorf("%s: W[%d][%d] is %v; it must be %v", c.name, i, j, got.At(i, j), w)
				}
			}
		}
	}
}

// TestAServerAverages over those who are there, with one message.
func TestAServerAverages(t *testing.T) {
	server := must.Get(network.Server(5)).W
	got := must.Get(server.Members(epoch([]int{0, 3, 4}, nil, nil)))
	if got.At(0, 2) != 1.0/3 || got.Sends(1) != 1 {
		t.Errorf("weight %v and %d messages; they must be 1/3 and 1", got.At(0, 2), got.Sends(1))
	}
	if _, err := server.Members(epoch([]int{0, 3, 4}, nil, [][2]int{{0, 3}})); !errors.Is(err, dsbo.ErrConfig) {
		t.Errorf("a cut edge: error %v", err)
	}
}

// TestAGraphThatFallsApart is refused, with the parts and as few edges as mend it.
func TestAGraphThatFallsApart(t *testing.T) {
	ring := must.Get(network.Ring(8, 0)).W
	star := must.Get(network.New("star", 5, network.Options{})).W
	for _, c := range []struct {
		name  string
		w     *network.Matrix
		epoch membership.Epoch
		want  string
	}{
		{"two of a ring", ring, epoch([]int{0, 1, 3, 4, 6, 7}, nil, nil),
			"the graph of the members of epoch 1 must be connected; it falls apart into agents 0, 1, 6, 7 | 3, 4; this edge joins them: 1-3"},
		{"one of a ring, and an edge", ring, epoch([]int{0, 1, 3, 4, 5, 6, 7}, nil, [][2]int{{4, 5}}),
			"the graph of the members of epoch 1 must be connected; it falls apart into agents 0, 1, 5, 6, 7 | 3, 4; this edge joins them: 4-5"},
		{"the middle of a star", star, epoch([]int{1, 2, 4}, nil, nil),
			"the graph of the members of epoch 1 must be connected; it falls apart into agents 1 | 2 | 4; these edges join them: 1-2, 1-4"},
	} {
		if _, err := c.w.Members(c.epoch); err == nil || err.Error() != c.want || !errors.Is(err, dsbo.ErrConfig) {
			t.Errorf("%s: error %v; it must be %s", c.name, err, c.want)
		}
	}
}
