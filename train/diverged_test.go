package train_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/networktest"
	"dsbo/runs"
	"dsbo/train"
)

// sessionID is the name of a session.
var sessionID = strings.Repeat("0123456789abcdef", 4)

// A saver is the team of a session, whose agents wait for each other after they have saved.
type saver struct {
	network.Team
	members int
}

func (s saver) Save(ctx context.Context, write func() error) error {
	if err := write(); err != nil {
		return err
	}
	return s.Gather(ctx, make([][]float64, s.members))
}

// inSession returns the configurations of agents that are in a session, each with a folder.
func inSession(t *testing.T, c train.Config) []train.Config {
	cs := parts(t, c, []int{0}, []int{1}, []int{2}, []int{3}, []int{4})
	for i := range cs {
		cs[i].Problem.Team, cs[i].Dir = saver{cs[i].Problem.Team, agents}, t.TempDir()
	}
	return cs
}

// TestOneDiverges: that an agent diverges alone, between two checkpoints, all agents of a session
// learn, whichever it is.
func TestOneDiverges(t *testing.T) {
	c, _ := config(t)
	cs := inSession(t, c)
	cs[2].MaxNorm = 1e-6
	_, errs := collective(cs, runAll)
	for i, err := range errs {
		if d := (*dsbo.DivergedError)(nil); !errors.As(err, &d) || d.Agent != 2 || d.Iteration != 0 {
			t.Errorf("agent %d: %v, want that agent 2 has diverged in iteration 0", i, err)
		}
	}
}

// TestOneStops: an agent of a session that is stopped ends at once, with the checkpoint before, and
// all go on from the newest that they have, with the bits of a run that nothing disturbed.
func TestOneStops(t *testing.T) {
	c, _ := config(t)
	c.CheckpointEvery = 4
	want := run(t, c)
	cs := inSession(t, c)
	results, errs := collective(cs, func(i int, c train.Config) (*train.Result, error) {
		ctx, cancel := context.WithCancel(networktest.Context(t))
		defer cancel()
		c.OnIteration = func(done int) {
			if done == 15 && i == 3 {
				cancel()
				c.Problem.Team.Fail(network.ErrClosed) // which ends the session
			}
		}
		return train.Run(ctx, c)
	})
	if !errors.Is(errs[3], train.ErrInterrupted) || results[3].Iterations > 15 ||
		errors.Is(errs[1], train.ErrInterrupted) {
		t.Errorf("after %d iterations: %v; agent 3 alone must be interrupted", results[3].Iterations, errs)
	}
	again := inSession(t, c)
	results, errs = collective(again, func(i int, c train.Config) (*train.Result, error) {
		c.Dir, c.Resume = cs[i].Dir, true
		points, _, err := train.Points(runs.Folder(c.Dir), []int{i})
		if err != nil || len(points) != 2 || points[0].Iteration != 12 || points[0].Digest == "" {
			t.Errorf("agent %d has checkpoints %+v, %v; there must be those after 12 and 8 iterations", i, points, err)
		}
		c.From = &points[0]
		return train.Run(t.Context(), c)
	})
	testkit.OK(errors.Join(errs...))
	for _, r := range results {
		sameRun(t, want, r)
	}
}
