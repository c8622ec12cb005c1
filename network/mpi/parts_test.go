package mpi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"dsbo"
	"dsbo/algo"
	"dsbo/algo/algotest"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/networktest"

	"pgregory.net/rapid"
)

// TestBlocks: every agent is on one rank, in order, evenly, and what one rank sends another
// one receives.
func TestBlocks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := blocks{rapid.IntRange(1, 40).Draw(t, "agents"), rapid.IntRange(1, 50).Draw(t, "ranks")}
		next := 0
		for r := range b.ranks {
			lo, hi := b.agentsOf(r)
			if lo != next || hi-lo < b.agents/b.ranks || hi-lo > b.agents/b.ranks+1 {
				t.Fatalf("rank %d has agents %d to %d; they must be from %d on, as many as others", r, lo, hi-1, next)
			}
			for i := lo; i < hi; i++ {
				if b.rank(i) != r {
					t.Fatalf("agent %d: rank %d; it must be %d", i, b.rank(i), r)
				}
			}
			next = hi
		}
		if next != b.agents {
			t.Fatalf("%d agents dealt; they must be %d", next, b.agents)
		}
		checkRoutes(t, b, testkit.Get(
			network.New("erdos-renyi", b.agents, network.Options{Seed: rapid.Uint64().Draw(t, "seed")})).W)
	})
}

func checkRoutes(t *rapid.T, b blocks, w *network.Matrix) {
	type leg struct{ agent, from, to int }
	var sent, received, want []leg
	for r := range b.ranks {
		in, out := b.routes(w, r)
		for _, p := range in {
			received = append(received, leg{p.agent, p.peer, r})
		}
		for _, p := range out {
			sent = append(sent, leg{p.agent, r, p.peer})
		}
		for i := range b.agents {
			if b.rank(i) != r && slices.ContainsFunc(w.Neighbours(i), func(j int) bool { return b.rank(j) == r }) {
				want = append(want, leg{i, b.rank(i), r})
			}
		}
	}
	// By the two ranks, and not otherwise: there MPI keeps the order.
	byRanks := func(a, b leg) int {
		return 100*(a.from-b.from) + a.to - b.to
	}
	for _, legs := range [][]leg{sent, received, want} {
		slices.SortStableFunc(legs, byRanks)
	}
	if !slices.Equal(sent, want) || !slices.Equal(received, want) {
		t.Fatalf("sent     %v\nreceived %v\nwant     %v", sent, received, want)
	}
}

// TestNotice: a rank's end becomes an error of its kind on another one, with as much of the reason
// as there is room for.
func TestNotice(t *testing.T) {
	long := strings.Repeat("ç", 200)
	for _, c := range []struct {
		err    error
		kind   error
		reason string
	}{
		{fmt.Errorf("agent 1: %w", context.Canceled), context.Canceled, "agent 1: context canceled"},
		{fmt.Errorf("agent 1: %w: 3", dsbo.ErrShape), dsbo.ErrShape, "agent 1: shape mismatch: 3"},
		{errors.New("disk full"), nil, "disk full"},
		{errors.New(""), nil, ""},
		{errors.New("a" + long), nil, "a" + long[:230]},
	} {
		n := notice{rank: 1, mixed: 5, kind: int64(network.Kind(c.err))}
		n.setReason(c.err.Error())
		want := network.EndedError{Process: "rank 1 (agents 2 to 3) after 5 exchanges", Number: 1, Reason: c.reason,
			Kind: network.Kind(c.err)}
		if got, ok := n.error(blocks{4, 2}).(*network.EndedError); !ok || *got != want || got.Unwrap() != c.kind {
			t.Errorf("%v became %+v; it must be %+v", c.err, got, want)
		}
	}
	if size := unsafe.Sizeof(notice{}); size != 256 {
		t.Errorf("a notice has %d bytes; it must have the 256 of library_mpi.h", size)
	}
}

// testMethods checks that all methods for several agents come to the bits of one process over
// teams that open opens: each on a graph of three agents that its traits ask for, with compressed
// vectors too if it knows a parameter compress.
func testMethods(t *testing.T, open func(*network.Matrix) (teams []network.Team, closeAll func())) {
	half := 0.5 // of a circle in one direction
	circle := [][][]float64{{{half, 0, half}, {half, half, 0}, {0, half, half}}}
	for _, c := range []struct {
		graph string
		w     *network.Matrix
		takes func(algo.Traits) bool
	}{
		{"ring", testkit.Get(network.Ring(3, 0.4)).W,
			func(t algo.Traits) bool { return !t.OneAgent && !t.ExactAverage }},
		{"server", testkit.Get(network.Server(3)).W, func(t algo.Traits) bool { return t.ExactAverage }},
		{"directed", testkit.Get(network.NewDirected(circle, circle)),
			func(t algo.Traits) bool { return t.Directed }},
	} {
		t.Run(c.graph, func(t *testing.T) {
			teams, closeAll := open(c.w)
			defer closeAll()
			for _, name := range algo.NamesWhere(c.takes) {
				for _, object := range []string{`{}`, `{"compress":{"kind":"round","bits":4}}`} {
					if algo.Decode(testkit.Get(algo.New(name)), []byte(object)) != nil {
						continue // it does not know the parameter
					}
					want := states(t, name, object, c.w, []network.Team{network.NewLocal(c.w)})
					for i, got := range states(t, name, object, c.w, teams) {
						if got != nil && !slices.EqualFunc(got, want[i], slices.Equal[[]float64]) {
							t.Errorf("%s%s, agent %d: %v, in one process %v", name, object, i, got, want[i])
						}
					}
				}
			}
		})
	}
}

// states runs a method over teams, and returns the state of each agent that is here.
func states(t *testing.T, name, object string, w *network.Matrix, teams []network.Team) [][][]float64 {
	const p, q, iterations = 3, 4, 3
	oracles, all := algotest.NewQuadratics(w.N(), p, q, 7), make([][][]float64, w.N())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ends := make([]*network.Averager, w.N())
	for _, team := range teams {
		averages := testkit.Get(network.NewAverages(team, w, network.AverageOptions{}))
		for _, i := range team.Local() {
			ends[i] = averages.Agent(i)
		}
	}
	err := errors.Join(networktest.RunAll(w.N(), func(i int) (err error) {
		if ends[i] == nil {
			return nil
		}
		m, o := testkit.Get(algo.New(name)), dsbo.Oracle(oracles[i])
		if slices.Contains(algo.Parameters(m), "lg") {
			testkit.OK(algo.Decode(m, []byte(`{"lg":5}`)))
		}
		testkit.OK(algo.Decode(m, []byte(object)))
		err = m.Init(p, q, iterations)
		for k := 0; k < iterations && err == nil; k++ {
			ends[i].Begin(2 * uint64(k))
			err = m.Step(ctx, k, o, ends[i])
		}
		for _, part := range m.State() {
			all[i] = append(all[i], part.Value)
		}
		if err != nil {
			cancel()
		}
		return err
	})...)
	if err != nil {
		t.Fatalf("%s%s: %v", name, object, err)
	}
	return all
}
