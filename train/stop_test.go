package train_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"dsbo"
	"dsbo/train"
)

// TestStopInALongIteration: a run whose iterations take minutes stops seconds after it is told to,
// and goes on from its last checkpoint with the same bits.
func TestStopInALongIteration(t *testing.T) {
	c, _ := config(t)
	want := run(t, c)
	c.Dir = t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		slow := c
		slow.Problem.Oracles = nil
		for _, o := range c.Problem.Oracles {
			wait := func() error { time.Sleep(2 * time.Second); return nil } // of the bubble's clock
			slow.Problem.Oracles = append(slow.Problem.Oracles, &hooked{o.(dsbo.ValueOracle), wait, wait})
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var told time.Time
		time.AfterFunc(10*time.Minute, func() { told = time.Now(); cancel() })
		if _, err := train.Run(ctx, slow); !errors.Is(err, train.ErrInterrupted) {
			t.Errorf("%v, want that it was interrupted", err)
		}
		if took := time.Since(told); took > 5*time.Second {
			t.Errorf("it stopped after %v, want 5s at most", took)
		}
	})
	c.Resume = true
	sameRun(t, want, run(t, c))
}
