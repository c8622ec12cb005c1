package mpi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"dsbo"
	"dsbo/network"

	"pgregory.net/rapid"
)

// TestBlocks: every agent is on one rank, in order, evenly, and what one rank sends another one receives.
func TestBlocks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := blocks{rapid.IntRange(1, 40).Draw(t, "agents"), rapid.IntRange(1, 50).Draw(t, "ranks")}
		next := 0
		for r := range b.ranks {
			lo, hi := b.of(r)
			if lo != next || hi-lo < b.agents/b.ranks || hi-lo > b.agents/b.ranks+1 {
				t.Fatalf("rank %d has agents %d to %d, want them from %d on, as many as others", r, lo, hi-1, next)
			}
			for i := lo; i < hi; i++ {
				if b.rank(i) != r {
					t.Fatalf("agent %d: rank %d, want %d", i, b.rank(i), r)
				}
			}
			next = hi
		}
		if next != b.agents {
			t.Fatalf("%d agents dealt, want %d", next, b.agents)
		}
		g, err := network.New("erdos-renyi", b.agents, network.Options{Seed: rapid.Uint64().Draw(t, "seed")})
		if err != nil {
			t.Fatal(err)
		}
		checkRoutes(t, b, g.W)
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

func TestNotice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := notice{
			exchange: rapid.IntRange(0, 1<<20).Draw(t, "exchange"),
			rank:     rapid.IntRange(0, 1<<20).Draw(t, "rank"),
			mixed:    rapid.Int().Draw(t, "mixed"),
			gathered: rapid.Int().Draw(t, "gathered"),
			kind:     rapid.IntRange(0, 20).Draw(t, "kind"),
			reason:   rapid.String().Draw(t, "reason"),
		}
		got := decodeNotice(n.encode())
		if len(n.reason) > noticeText {
			if len(got.reason) < noticeText-3 || !strings.HasPrefix(n.reason, got.reason) {
				t.Fatalf("the reason became %q, want as much of %q as there is room for", got.reason, n.reason)
			}
			got.reason = n.reason
		}
		if got != n {
			t.Fatalf("%+v, want %+v", got, n)
		}
	})
}

func TestNoticeKeepsKind(t *testing.T) {
	for _, c := range []struct {
		err  error
		want error
	}{
		{fmt.Errorf("agent 1: %w", context.Canceled), context.Canceled},
		{fmt.Errorf("agent 1: %w: 3", dsbo.ErrShape), dsbo.ErrShape},
		{&dsbo.DivergedError{}, dsbo.ErrDiverged},
		{errors.New("disk full"), nil},
	} {
		n := notice{rank: 1}
		n.kind = network.Kind(c.err)
		n = decodeNotice(n.encode())
		if got := errors.Unwrap(n.error(blocks{4, 2})); got != c.want {
			t.Errorf("%v became %v, want %v", c.err, got, c.want)
		}
	}
}

// FuzzNotice: whatever comes, there is an error to return.
func FuzzNotice(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{7: 1, 40: 3, 47: 255})
	f.Fuzz(func(t *testing.T, data []byte) {
		var w [noticeWords]uint64
		for i, b := range data {
			if i/8 < len(w) {
				w[i/8] |= uint64(b) << (8 * (i % 8))
			}
		}
		n := decodeNotice(w)
		if n.error(blocks{4, 2}).Error() == "" {
			t.Error("no message")
		}
	})
}

func TestFrameCheck(t *testing.T) {
	const key, agent, round = 1, 2, 3
	for _, c := range []struct {
		change func(words []uint64)
		want   string
	}{
		{func(w []uint64) {}, ""},
		{func(w []uint64) { w[headKey]++ }, "rank 1 mixes over another graph or with other weights"},
		{func(w []uint64) { w[headAgent]++ }, "rank 1 sent vector 3 of agent 3, want vector 3 of agent 2"},
		{func(w []uint64) { w[headRound]++ }, "rank 1 sent vector 4 of agent 2, want vector 3 of agent 2"},
	} {
		f := frame{lib: newJob(1)[0]}
		f.resize(4)
		f.label(key, agent, round)
		c.change(f.words)
		err := f.check("rank 1", key, agent, round)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
