package network_test

import (
	"errors"
	"math"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/membership"
)

func epoch(members []int, edges, cut [][2]int) membership.Epoch {
	return membership.Epoch{Number: 1, Members: members, Edges: edges, Cut: cut}
}

// TestMembersHaveMetropolisWeights on what the roster's graph has between them.
func TestMembersHaveMetropolisWeights(t *testing.T) {
	ring := testkit.Get(network.Ring(6, 0)).W
	if first := testkit.Get(ring.Members(membership.First(6))); first != ring {
		t.Error("epoch 0 must have the roster's matrix, whatever its weights")
	}
	for _, c := range []struct {
		name  string
		epoch membership.Epoch
		edges [][2]int // of positions
	}{
		{"a path is left of a ring", epoch([]int{0, 1, 2, 4, 5}, nil, nil), [][2]int{{0, 1}, {1, 2}, {3, 4}, {0, 4}}},
		{"an edge is cut", epoch([]int{0, 1, 2, 3, 4, 5}, nil, [][2]int{{2, 3}}),
			[][2]int{{0, 1}, {1, 2}, {3, 4}, {4, 5}, {0, 5}}},
		{"one is admitted", epoch([]int{0, 1, 2, 4, 5, 7}, [][2]int{{2, 7}, {4, 7}}, nil),
			[][2]int{{0, 1}, {1, 2}, {3, 4}, {0, 4}, {2, 5}, {3, 5}}},
		{"one is alone", epoch([]int{3}, nil, nil), nil},
	} {
		got := testkit.Get(ring.Members(c.epoch))
		want := testkit.Get(network.FromEdges(len(c.epoch.Members), c.edges, 0)).W
		for i, row := range want.Dense() {
			for j, w := range row {
				if got.At(i, j) != w {
					t.Errorf("%s: W[%d][%d] is %v; it must be %v", c.name, i, j, got.At(i, j), w)
				}
			}
		}
	}
}

// TestMembersAreAsLazy: no agent gives itself less weight than in the roster's matrix, whose λ_min
// steps were chosen by. What is left of a ring keeps the ring's weights.
func TestMembersAreAsLazy(t *testing.T) {
	ring := testkit.Get(network.Ring(8, 0.5)).W
	got := testkit.Get(ring.Members(epoch([]int{0, 1, 2, 3, 4, 6, 7}, nil, nil)))
	testkit.OK(got.Validate())
	for _, c := range []struct {
		i, j int
		want float64
	}{{0, 0, 0.5}, {0, 1, 0.25}, {4, 4, 0.75}, {3, 4, 0.25}, {5, 6, 0.25}} {
		if w := got.At(c.i, c.j); math.Abs(w-c.want) > 1e-15 {
			t.Errorf("W[%d][%d] is %v; it must be %v", c.i, c.j, w, c.want)
		}
	}
	if got.LambdaMin() < ring.LambdaMin()-1e-12 {
		t.Errorf("λ_min falls from %v to %v", ring.LambdaMin(), got.LambdaMin())
	}
}

// TestGiver is the first neighbour that was there, or else the first of those that come to have a
// state soonest.
func TestGiver(t *testing.T) {
	ring := testkit.Get(network.Ring(6, 0)).W
	six, five := epoch([]int{0, 1, 2, 3, 4, 5}, nil, nil), epoch([]int{0, 1, 2, 3, 4}, nil, nil)
	for _, c := range []struct {
		before, e            membership.Epoch
		agent, giver, source int
	}{
		{epoch([]int{0, 3, 4}, nil, [][2]int{{0, 4}}), six, 1, 0, 0},
		{epoch([]int{0, 3, 4}, nil, [][2]int{{0, 4}}), six, 2, 3, 3},
		{epoch([]int{0, 3, 4}, nil, [][2]int{{0, 4}}), six, 5, 0, 0},
		{epoch([]int{3, 4}, nil, nil), five, 2, 3, 3},
		{epoch([]int{3, 4}, nil, nil), five, 1, 2, 3},
		{epoch([]int{3, 4}, nil, nil), five, 0, 1, 3},
		{epoch([]int{1}, nil, nil), six, 4, 3, 1}, // as near as by 5
	} {
		if giver, source, err := ring.Giver(c.before, c.e, c.agent); err != nil || giver != c.giver ||
			source != c.source {
			t.Errorf("%v after %v: agent %d takes over from %d what %d had, %v; it must be from %d what %d had",
				c.e.Members, c.before.Members, c.agent, giver, source, err, c.giver, c.source)
		}
	}
	for _, bad := range [][2]membership.Epoch{{epoch([]int{0}, nil, nil), epoch([]int{0, 1}, nil, nil)},
		{epoch([]int{3}, nil, nil), epoch([]int{0, 1}, nil, nil)}} {
		if _, _, err := ring.Giver(bad[0], bad[1], 0); !errors.Is(err, dsbo.ErrConfig) {
			t.Errorf("%v after %v: error %v", bad[1].Members, bad[0].Members, err)
		}
	}
}

// TestAServerAverages over those who are there, with one message.
func TestAServerAverages(t *testing.T) {
	server := testkit.Get(network.Server(5)).W
	got := testkit.Get(server.Members(epoch([]int{0, 3, 4}, nil, nil)))
	if got.At(0, 2) != 1.0/3 || got.Sends(1) != 1 {
		t.Errorf("weight %v and %d messages; they must be 1/3 and 1", got.At(0, 2), got.Sends(1))
	}
	if _, err := server.Members(epoch([]int{0, 3, 4}, nil, [][2]int{{0, 3}})); !errors.Is(err, dsbo.ErrConfig) {
		t.Errorf("a cut edge: error %v", err)
	}
}

// TestAGraphThatFallsApart is refused, with the parts and edges that mend it.
func TestAGraphThatFallsApart(t *testing.T) {
	ring := testkit.Get(network.Ring(8, 0)).W
	star := testkit.Get(network.New("star", 5, network.Options{})).W
	for _, c := range []struct {
		name  string
		w     *network.Matrix
		epoch membership.Epoch
		want  string
	}{
		{"two of a ring", ring, epoch([]int{0, 1, 3, 4, 6, 7}, nil, nil),
			"the graph of the members of epoch 1 must be connected; it falls apart into agents 0, 1, 6, 7 | 3, 4; " +
				"edges such as these join them: 0-3"},
		{"one of a ring, and an edge", ring, epoch([]int{0, 1, 3, 4, 5, 6, 7}, nil, [][2]int{{4, 5}}),
			"the graph of the members of epoch 1 must be connected; it falls apart into agents 0, 1, 5, 6, 7 | 3, 4; " +
				"edges such as these join them: 0-3"},
		{"the middle of a star", star, epoch([]int{1, 2, 4}, nil, nil),
			"the graph of the members of epoch 1 must be connected; it falls apart into agents 1 | 2 | 4; " +
				"edges such as these join them: 1-2, 1-4"},
	} {
		if _, err := c.w.Members(c.epoch); err == nil || err.Error() != c.want || !errors.Is(err, dsbo.ErrConfig) {
			t.Errorf("%s: error %v; it must be %s", c.name, err, c.want)
		}
	}
}
