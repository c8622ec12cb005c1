package network_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/networktest"
)

func newRing(n int) *network.Graph { return testkit.Get(network.Ring(n, 0.5)) }

// mixUntilError mixes src until an error comes, after which it writes to both vectors.
func mixUntilError(ctx context.Context, m network.Reducer, dst, src []float64) error {
	for {
		if err := m.Mix(ctx, dst, src); err != nil {
			clear(dst)
			clear(src)
			return err
		}
		src[0]++
	}
}

func TestLocalConforms(t *testing.T) {
	networktest.TestTeam(t, 1, 16, func(w *network.Matrix) ([]network.Team, func()) {
		l := network.NewLocal(w)
		return []network.Team{l}, l.Close
	})
}

func TestCheckRows(t *testing.T) {
	for _, c := range []struct {
		rows [][]float64
		want string
	}{
		{[][]float64{{1}, {2}}, ""},
		{[][]float64{{}, nil}, ""},
		{[][]float64{{1}}, "there must be one row for each of the 2 agents; there are 1"},
		{[][]float64{{1}, {2, 3}}, "row 0 has 1 and row 1 has 2"},
	} {
		testkit.WantError(t, c.rows, network.CheckRows(c.rows, 2), dsbo.ErrShape, c.want)
	}
}

// TestOneAgentCancelled: the others do not wait for an agent whose own context has ended, also amid
// a sum that all compute together, and nobody writes to their vectors any more.
func TestOneAgentCancelled(t *testing.T) {
	for _, length := range []int{2, 1 << 16} {
		l := network.NewLocal(newRing(6).W)
		own, cancel := context.WithCancel(t.Context())
		for i, err := range networktest.RunAll(6, func(i int) error {
			v, dst := make([]float64, length), make([]float64, length)
			switch i {
			case 0: // comes once: then 1 and 5 wait
				testkit.OK(l.Mixer(i).Mix(t.Context(), dst, v))
				cancel()
				return nil
			case 1:
				return mixUntilError(own, l.Mixer(i), dst, v)
			}
			return mixUntilError(t.Context(), l.Mixer(i), dst, v)
		}) {
			if i != 0 && (!errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "agent 1, exchange ")) {
				t.Errorf("%d numbers: agent %d ended with %v; it must be the end of agent 1's context", length, i, err)
			}
		}
	}
}

func TestLengthErrorNamesBoth(t *testing.T) {
	l := network.NewLocal(newRing(2).W)
	errs := networktest.RunAll(2, func(i int) error {
		v := make([]float64, 5+2*i)
		return l.Mixer(i).Mix(t.Context(), v, v)
	})
	got := errors.Join(errs...)
	if !errors.Is(got, dsbo.ErrShape) {
		t.Errorf("error %v is not dsbo.ErrShape", got)
	}
	a, b := "agent 0 sends 5 and agent 1 sends 7", "agent 1 sends 7 and agent 0 sends 5"
	if s := got.Error(); !strings.Contains(s, a) && !strings.Contains(s, b) {
		t.Errorf("error %q; it must be %q or %q in it", s, a, b)
	}
}

// TestLongVectors: vectors of any length give the sums of the formula, in place or not.
func TestLongVectors(t *testing.T) {
	for _, w := range []*network.Matrix{newRing(1).W, newRing(5).W,
		testkit.Get(network.New("star", 4, network.Options{})).W,
		testkit.Get(network.NewMatrix([][]float64{{0, 2, 0}, {0, 1, 0}, {3, 0, -1}}))} {
		l := network.NewLocal(w)
		n := w.N()
		for _, length := range []int{1 << 16, 7, 1<<16 - 1, 1<<16 + 3} {
			x := drawn(n, length, 1, 9)
			want, out := networktest.Product(w, x), zeros(n, length)
			testkit.OK(errors.Join(networktest.RunAll(n,
				func(i int) error { return l.Mixer(i).Mix(t.Context(), out[i], x[i]) })...))
			testkit.OK(errors.Join(networktest.RunAll(n,
				func(i int) error { return l.Mixer(i).Mix(t.Context(), x[i], x[i]) })...))
			for i := range want {
				if !slices.Equal(out[i], want[i]) || !slices.Equal(x[i], want[i]) {
					t.Errorf("%d agents, agent %d, %d numbers: other sums than those of the formula", n, i, length)
				}
			}
		}
	}
}

// TestMixAdd: what is mixed and a multiple of a vector are one after the other added, also where
// vectors are long, where the wire rounds, in place, and where the vector is the end of that to
// which it is added.
func TestMixAdd(t *testing.T) {
	const n, factor = 5, -0.3
	w := newRing(n).W
	for _, length := range []int{7, 1<<16 + 3} {
		from, to, more := drawn(n, length, 1, 9), drawn(n, length, 3, 9), drawn(n, length, 2, 9)
		for _, wire := range []network.Wire{network.Float64, network.Float32} {
			plain, adding := averagers(w, network.AverageOptions{Wire: wire}),
				averagers(w, network.AverageOptions{Wire: wire})
			check := func(added int, inPlace, inEnd bool) {
				t.Helper()
				x, dst, v, want := cloned(from), cloned(to), cloned(more), zeros(n, length)
				if inPlace {
					dst = x
				}
				for i := range v {
					if v[i] = v[i][:added]; inEnd {
						v[i] = dst[i][length-added:]
					}
				}
				testkit.OK(errors.Join(networktest.RunAll(n,
					func(i int) error { return plain[i].Mix(t.Context(), want[i], x[i]) })...))
				for i := range want {
					for e := range v[i] {
						want[i][e] += float64(factor * v[i][e])
					}
				}
				testkit.OK(errors.Join(networktest.RunAll(n,
					func(i int) error { return adding[i].MixAdd(t.Context(), dst[i], x[i], factor, v[i]) })...))
				for i := range want {
					if !slices.Equal(dst[i], want[i]) {
						t.Errorf("agent %d, %d numbers on %v, %d added, in place %v, from the end %v: other sums than "+
							"those of Mix and the multiple", i, length, wire, added, inPlace, inEnd)
					}
				}
			}
			for _, inPlace := range []bool{false, true} {
				for _, added := range []int{0, length / 2, length} {
					check(added, inPlace, false)
				}
				check(length/2, inPlace, true)
			}
		}
	}
}

func TestMixAllocatesNothing(t *testing.T) {
	const n = 5
	l := network.NewLocal(newRing(n).W)
	var wg sync.WaitGroup
	for i := 1; i < n; i++ {
		wg.Go(func() {
			v := make([]float64, 2)
			if err := mixUntilError(t.Context(), l.Mixer(i), v, v); !errors.Is(err, network.ErrClosed) {
				t.Error(err)
			}
		})
	}
	v := make([]float64, 2)
	m := l.Mixer(0)
	// The run before the count of AllocsPerRun grows one slot, this one the other.
	testkit.OK(m.Mix(t.Context(), v, v))
	if got := testing.AllocsPerRun(500, func() { testkit.OK(m.Mix(t.Context(), v, v)) }); got != 0 {
		t.Errorf("%v allocations an exchange; there must be none", got)
	}
	l.Close()
	wg.Wait()
}

// TestTurns: on one processor agents that take turns compute one at a time, a reduction or not,
// and on a ring mostly soon after their last turns.
func TestTurns(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const n, exchanges = 100, 40
	l := network.NewLocal(newRing(n).W)
	turns, far, last := 0, 0, make([]int, n) // without a lock: nobody else has a turn
	testkit.OK(errors.Join(networktest.RunAll(n, func(i int) error {
		l.BeginTurns(t.Context(), i)
		defer l.EndTurns()
		v := []float64{1}
		for k := range exchanges {
			turns++
			now := turns
			if now-last[i] > n/2 {
				far++
			}
			last[i] = now
			if runtime.Gosched(); now != turns {
				t.Errorf("agent %d is not the only one that computes", i)
			}
			if err := l.Mixer(i).Mix(t.Context(), v, v); err != nil {
				return err
			}
			if k == exchanges/2 {
				err := l.Mixer(i).Reduce(t.Context(), network.Reduction{Op: network.Sum, Bits: 8, Words: []uint64{1}})
				if err != nil {
					return err
				}
			}
		}
		return nil
	})...))
	if most := n * exchanges / 10; far > most {
		t.Errorf("%d of %d turns come after %d others; they must be at most %d", far, turns, n/2, most)
	}
}

// TestTurnsEnd: an agent whose context ends before its first turn ends the exchange for all.
func TestTurnsEnd(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	l := network.NewLocal(newRing(3).W)
	l.BeginTurns(t.Context(), 0) // takes the only processor
	ended, end := context.WithCancel(t.Context())
	end()
	l.BeginTurns(ended, 1)
	if err := l.Mixer(0).Mix(t.Context(), []float64{1}, []float64{1}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that the exchange has ended", err)
	}
}
