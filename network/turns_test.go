package network_test

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/networktest"
)

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
