package train_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsbo/algo/algotest"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/runs"
	"dsbo/train"
)

// scaled is config on a wire whose averages have scales, with vectors that are long enough for them
// and exact values in each record.
func scaled(t *testing.T) train.Config {
	c, _ := config(t)
	for i, o := range algotest.NewQuadratics(agents, p, 20, 1) {
		c.Problem.Oracles[i], c.Problem.Evaluate[i] = o, o
	}
	c.Method, c.K, c.EvalEvery, c.CheckpointEvery = method(t, "newtoncg"), 8, 4, 3
	c.Problem.Average.Wire, c.ExactEach, c.Tol, c.AdjointTol = network.Float32, true, 1e-5, 1e-5
	return c
}

// timeless returns the checkpoints of a folder behind their times, without the digests at the ends.
func timeless(t *testing.T, dir string) []string {
	all := contents(t, dir, "checkpoint*")
	for i, c := range all {
		_, c, _ = strings.Cut(c, `"metrics_bytes"`)
		all[i] = c[:len(c)-sha256.Size]
	}
	return all
}

// TestResumeRestoresTheCheckpoint: a run that is stopped again before its first iteration writes
// the checkpoint from which it was resumed, but for the time that has passed: the method's scales
// are the method's, and the evaluation's the evaluation's.
func TestResumeRestoresTheCheckpoint(t *testing.T) {
	for _, from := range []int{2, 4, 7} {
		c := scaled(t)
		c.Dir = t.TempDir()
		interruptAt(t, c, from)
		want := timeless(t, c.Dir)
		ctx, cancel := context.WithCancel(t.Context())
		c.Resume, c.OnResume = true, func(int) { cancel() }
		if _, err := train.Run(ctx, c); !errors.Is(err, train.ErrInterrupted) {
			t.Fatalf("%v, want that it was interrupted", err)
		}
		if diff := cmp.Diff(want, timeless(t, c.Dir)); len(want) == 0 || diff != "" {
			t.Errorf("after %d iterations %d checkpoints have become others (-want +got):\n%s", from, len(want), diff)
		}
	}
}

// TestInterruptDuringSolve: a run that is interrupted at any product of an exact solution writes
// the exact solutions, scales and counts that its evaluation began with: resumed, it has the bits
// of a run that was not, and has sent as much.
func TestInterruptDuringSolve(t *testing.T) {
	whole := scaled(t)
	want := run(t, whole)
	for calls := 1; ; calls += 8 {
		c := scaled(t)
		c.Dir = t.TempDir()
		stopping := c
		ctx, cancel := context.WithCancel(t.Context())
		left := calls
		stopping.Problem.Evaluate = slices.Clone(c.Problem.Evaluate)
		stopping.Problem.Evaluate[0] = &hooked{c.Problem.Evaluate[0], func() error {
			if left--; left < 0 {
				cancel()
			}
			return ctx.Err()
		}, nil}
		_, err := train.Run(ctx, stopping)
		cancel()
		if err == nil && calls > 1 { // it has fewer products
			return
		}
		if !errors.Is(err, train.ErrInterrupted) {
			t.Fatalf("%v, want that it was interrupted", err)
		}
		c.Resume = true
		sameRun(t, want, run(t, c))
	}
}

// TestEpochsFirstCheckpointAgain: a run that is resumed at the beginning of an epoch writes that
// epoch's first checkpoint again, as other processes may have had no time to write theirs.
func TestEpochsFirstCheckpointAgain(t *testing.T) {
	c, _ := changing(t)
	c.Dir = t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c.OnCheckpoint = func(done int) {
		if done == changes[0].Iteration {
			cancel()
		}
	}
	if _, err := train.Run(ctx, c); !errors.Is(err, train.ErrInterrupted) {
		t.Fatalf("%v, want that it was interrupted", err)
	}
	var written []int
	c.Resume, c.OnCheckpoint = true, func(done int) { written = append(written, done) }
	testkit.Get(train.Run(t.Context(), c))
	if len(written) == 0 || written[0] != changes[0].Iteration {
		t.Errorf("checkpoints after %v iterations were written; the first must be after %d", written,
			changes[0].Iteration)
	}
}

// TestShrink: of a run that has finished the newest checkpoint stays, without the pairs of the
// exact solver, whose arrays are of agent -2.
func TestShrink(t *testing.T) {
	const pairs = `"agent":-2`
	c := scaled(t)
	c.Dir = t.TempDir()
	run(t, c)
	all := contents(t, c.Dir, "checkpoint*")
	testkit.OK(train.Shrink(runs.Folder(c.Dir)))
	left := contents(t, c.Dir, "checkpoint*")
	edit(t, runs.Folder(c.Dir).CheckpointPath(nil, c.K), func(b []byte) []byte { return b[1:] })
	testkit.OK(train.Shrink(runs.Folder(c.Dir))) // a damaged one stays
	if got := contents(t, c.Dir, "checkpoint*"); len(got) != 1 || got[0] != left[0][1:] {
		t.Errorf("%d checkpoints are left of a damaged one", len(got))
	}
	if len(left) != 1 || !strings.Contains(all[len(all)-1], pairs) || strings.Contains(left[0], pairs) {
		t.Errorf("%d of %d checkpoints are left, of %d bytes, and of %d before", len(left), len(all), len(left[0]),
			len(all[len(all)-1]))
	}
}
