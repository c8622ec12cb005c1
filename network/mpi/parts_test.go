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
	"dsbo/internal/testkit"
	"dsbo/network"

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
