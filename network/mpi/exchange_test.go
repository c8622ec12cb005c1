package mpi

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/networktest"
)

// mustRing returns the mixing matrix of n agents in a circle.
func mustRing(n int) *network.Matrix { return testkit.Get(network.Ring(n, 0.5)).W }

// openAll opens an exchange on all ranks.
func openAll(t *testing.T, worlds []*World, w *network.Matrix, timeout time.Duration) []*Exchange {
	t.Helper()
	xs := make([]*Exchange, len(worlds))
	errs := networktest.RunAll(len(worlds), func(r int) (err error) {
		xs[r], err = worlds[r].exchange(t.Context(), w, timeout)
		return err
	})
	testkit.OK(errors.Join(errs...))
	return xs
}

func TestConforms(t *testing.T) {
	for _, tt := range []struct{ ranks, agents int }{{1, 3}, {2, 5}, {3, 6}} { // agents at most
		t.Run(fmt.Sprintf("ranks=%d", tt.ranks), func(t *testing.T) {
			if testing.Short() && tt.ranks != 3 {
				t.Skip("some agents have a rank of their own, and some share one, on 3 ranks too")
			}
			if testing.Short() {
				tt.agents = 4
			}
			worlds := newWorlds(t, newJob(tt.ranks))
			networktest.TestTeam(t, tt.ranks, tt.agents, openTeams(t, worlds))
		})
	}
}

// openTeams is openAll for the suites of teams.
func openTeams(t *testing.T, worlds []*World) func(w *network.Matrix) (teams []network.Team, closeAll func()) {
	return func(w *network.Matrix) (teams []network.Team, closeAll func()) {
		xs := openAll(t, worlds, w, silentAfter)
		for _, x := range xs {
			teams = append(teams, x)
		}
		return teams, func() {
			networktest.RunAll(len(xs), func(r int) error { xs[r].Close(); return nil })
		}
	}
}

func TestMixerOfAnotherRank(t *testing.T) {
	xs := openAll(t, newWorlds(t, newJob(2)), mustRing(5), silentAfter)
	if got := [2][]int{xs[0].Local(), xs[1].Local()}; !slices.Equal(got[0], []int{0, 1}) ||
		!slices.Equal(got[1], []int{2, 3, 4}) {
		t.Errorf("the ranks have %v; it must be [0 1] and [2 3 4]", got)
	}
	for i := range 5 {
		home := xs[0].blocks.rank(i)
		if xs[home].Mixer(i) == nil || xs[1-home].Mixer(i) != nil {
			t.Errorf("agent %d, rank %d: mixers %v and %v; there must be one there alone", i, home,
				xs[0].Mixer(i), xs[1].Mixer(i))
		}
	}
}

func TestOtherMatrix(t *testing.T) {
	worlds := newWorlds(t, newJob(2))
	ms := []*network.Matrix{mustRing(4), mustRing(5)}
	errs := networktest.RunAll(2, func(r int) error {
		_, err := worlds[r].Exchange(t.Context(), ms[r])
		return err
	})
	const reason = "must mix over one graph"
	if !errors.Is(errs[0], dsbo.ErrConfig) || !errors.Is(errs[1], dsbo.ErrConfig) ||
		!strings.Contains(fmt.Sprint(errs), reason) {
		t.Errorf("%v; both must match dsbo.ErrConfig, and the reason must be %q", errs, reason)
	}
}

// TestOtherRounds: what a rank that leaves has completed the others complete too.
func TestOtherRounds(t *testing.T) {
	const rounds, leaver = 10, 2
	for range 6 { // as the ranks find out in one order or another
		xs := openAll(t, newWorlds(t, newJob(4)), mustRing(8), silentAfter)
		done := make(chan struct{})
		for i, err := range networktest.RunAll(8, func(i int) error {
			x := xs[xs[0].blocks.rank(i)]
			if err := mixZeros(t.Context(), x.Mixer(i), rounds, 3); err != nil {
				return fmt.Errorf("before the end: %w", err)
			}
			switch i {
			case 4:
				close(done)
				return nil
			case 5: // of the same rank
				<-done
				x.Close()
				return nil
			}
			return mixZeros(t.Context(), x.Mixer(i), math.MaxInt, 3)
		}) {
			if xs[0].blocks.rank(i) == leaver {
				if err != nil {
					t.Errorf("agent %d: %v", i, err)
				}
				continue
			}
			ended, ok := errors.AsType[*network.EndedError](err)
			if !ok || ended.Number != leaver ||
				!strings.HasSuffix(ended.Process, fmt.Sprintf(" after %d exchanges", rounds)) ||
				!errors.Is(err, network.ErrClosed) || strings.Contains(err.Error(), "before the end") {
				t.Errorf("agent %d ended with %v; it must be the end of rank %d after %d exchanges", i,
					err, leaver, rounds)
			}
		}
	}
}

// inBubble has a test see virtual time, in which nobody is slow: a rank is silent only if it has
// nothing to say.
func inBubble(t *testing.T, size int, test func(t *testing.T, worlds []*World)) {
	synctest.Test(t, func(t *testing.T) { test(t, newWorlds(t, newJob(size))) })
}

// TestSilent: a rank that does not mix, or reduce, is not waited for without end. What that one has
// said it does it does all the same, and then it is found left.
func TestSilent(t *testing.T) {
	for name, take := range map[string]func(context.Context, network.Reducer) error{
		"reduce": func(ctx context.Context, m network.Reducer) error {
			return m.Reduce(ctx, network.Reduction{Bits: 64, Words: make([]uint64, 3)})
		},
		"mix": func(ctx context.Context, m network.Reducer) error { return mixZeros(ctx, m, 1, 3) },
	} {
		inBubble(t, 2, func(t *testing.T, worlds []*World) {
			xs := openAll(t, worlds, mustRing(2), 50*time.Millisecond)
			do := func(m network.Reducer) error { return take(t.Context(), m) }
			err := do(xs[0].Mixer(0))
			if s, ok := errors.AsType[*network.SilentError](err); !ok || s.Silent != 50*time.Millisecond {
				t.Errorf("%s: %v; another rank must be silent", name, err)
			}
			if err := do(xs[1].Mixer(1)); err != nil {
				t.Errorf("%s: %v; the other rank has said that it would", name, err)
			}
			if err := do(xs[1].Mixer(1)); !errors.Is(err, network.ErrEnded) || !errors.Is(err, network.ErrSilent) {
				t.Errorf("%s: %v; the other rank must have ended for a silence", name, err)
			}
		})
	}
}

// TestReductionIsKept: a rank that fails when the others have heard of its words is no reason for
// them to wait, nor for MPI not to end.
func TestReductionIsKept(t *testing.T) {
	xs := openAll(t, newWorlds(t, newJob(3)), mustRing(3), silentAfter)
	ctx, cancel := context.WithCancel(t.Context())
	errs := networktest.RunAll(3, func(i int) error {
		words := make([]uint64, 3)
		for round := 0; ; round++ {
			if i == 1 && round == 5 {
				cancel()
			}
			err := xs[i].Mixer(i).Reduce(ctx, network.Reduction{Op: network.Max, Bits: 12, Words: words})
			if err != nil {
				return err
			}
		}
	})
	for i, err := range errs {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("agent %d ended with %v; it must match %q", i, err, context.Canceled)
		}
	}
}

// TestNobodyElse: not all ranks open the exchange.
func TestNobodyElse(t *testing.T) {
	inBubble(t, 2, func(t *testing.T, worlds []*World) {
		_, err := worlds[0].exchange(t.Context(), mustRing(2), time.Millisecond)
		if !errors.Is(err, network.ErrSilent) ||
			!strings.Contains(err.Error(), "another rank has been silent for 1ms") {
			t.Errorf("%v; another rank must be silent", err)
		}
		// What the first one has said it does, and then it is found left.
		x, err := worlds[1].Exchange(t.Context(), mustRing(2))
		if err == nil {
			err = mixZeros(t.Context(), x.Mixer(1), 1, 3)
		}
		if !errors.Is(err, network.ErrEnded) {
			t.Errorf("%v; it must be the end of rank 0", err)
		}
	})
}

// TestTwoAtOnce: exchanges that are under way at the same time do not block each other, whatever
// the order in which the ranks enter them.
func TestTwoAtOnce(t *testing.T) {
	worlds := newWorlds(t, newJob(2))
	xs := [][]*Exchange{openAll(t, worlds, mustRing(2), silentAfter), openAll(t, worlds, mustRing(4), silentAfter)}
	const rounds = 50
	testkit.OK(errors.Join(networktest.RunAll(6, func(k int) error {
		x, i := xs[0], k
		if k >= 2 {
			x, i = xs[1], k-2
		}
		return mixZeros(t.Context(), x[x[0].blocks.rank(i)].Mixer(i), rounds, 3)
	})...))
	// Rank 0 waits in one, and yet all complete the other.
	waiting := make(chan error, 1)
	go func() { waiting <- mixZeros(t.Context(), xs[0][0].Mixer(0), 1, 3) }()
	errs := networktest.RunAll(4, func(i int) error {
		return mixZeros(t.Context(), xs[1][xs[1][0].blocks.rank(i)].Mixer(i), rounds, 3)
	})
	testkit.OK(errors.Join(append(errs, mixZeros(t.Context(), xs[0][1].Mixer(1), 1, 3), <-waiting)...))
}

func TestAfterClose(t *testing.T) {
	worlds := newWorlds(t, newJob(2))
	xs := openAll(t, worlds, mustRing(2), silentAfter)
	for range 2 {
		testkit.OK(errors.Join(networktest.RunAll(2, func(r int) error { return worlds[r].Close(t.Context()) })...))
	}
	_, err := worlds[0].Exchange(t.Context(), mustRing(2))
	for name, err := range map[string]error{
		"Mix":      mixZeros(t.Context(), xs[0].Mixer(0), 1, 3),
		"Gather":   xs[0].Gather(t.Context(), make([][]float64, 2)),
		"Exchange": err,
	} {
		if !errors.Is(err, network.ErrClosed) {
			t.Errorf("%s: %v; it must be %v", name, err, network.ErrClosed)
		}
	}
	worlds[0].Abort(3) // MPI has ended: nothing to abort
}

func TestCloseAlone(t *testing.T) {
	ranks := newJob(2)
	worlds := newWorlds(t, ranks)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := worlds[0].Close(ctx); !errors.Is(err, context.Canceled) ||
		!strings.Contains(err.Error(), "rank 0, waiting for the other ranks' end") {
		t.Errorf("%v; it must be the end of the context", err)
	}
	worlds[0].Abort(3)
	if ranks[0].aborted != 4 {
		t.Errorf("aborted %d; it must be with status 3", ranks[0].aborted-1)
	}
}

// TestExchangeRefused: a rank without an agent.
func TestExchangeRefused(t *testing.T) {
	if _, err := newWorlds(t, newJob(3))[1].Exchange(t.Context(), mustRing(2)); !errors.Is(err,
		dsbo.ErrConfig) {
		t.Errorf("3 ranks with 2 agents: error %v", err)
	}
}
