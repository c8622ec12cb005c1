package train_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/network/networktest"
	"dsbo/runs"
	"dsbo/train"
	"dsbo/train/exact"
)

// ofAgents returns the configuration of a process that has some of n agents.
func ofAgents(c train.Config, team network.Team, n int, local ...int) train.Config {
	all := c.Problem
	c.Problem.Team, c.Problem.Oracles, c.Problem.Evaluate = team, make([]dsbo.Oracle, n), make([]dsbo.ValueOracle, n)
	for _, i := range local {
		c.Problem.Oracles[i], c.Problem.Evaluate[i] = all.Oracles[i], all.Evaluate[i]
	}
	return c
}

// parts returns the configurations of processes that share a run.
func parts(t *testing.T, c train.Config, locals ...[]int) (cs []train.Config) {
	t.Helper()
	teams, closeAll := networktest.Processes(c.W, locals...)
	t.Cleanup(closeAll)
	for k, local := range locals {
		cs = append(cs, ofAgents(c, teams[k], c.W.N(), local...))
	}
	return cs
}

// together runs f for each configuration at the same time.
func collective(cs []train.Config, f func(k int, c train.Config) (*train.Result, error)) ([]*train.Result, []error) {
	results := make([]*train.Result, len(cs))
	return results, networktest.RunAll(len(cs), func(k int) (err error) {
		if results[k], err = f(k, cs[k]); err != nil && !errors.Is(err, train.ErrInterrupted) {
			cs[k].Problem.Team.Fail(err)
		}
		return err
	})
}

// runAll runs a process to its end.
func runAll(_ int, c train.Config) (*train.Result, error) { return train.Run(context.Background(), c) }

// TestParts: a run in several processes has the bits of one process, in its records too, wherever
// the agents are.
func TestParts(t *testing.T) {
	for _, name := range []string{"madsbo_tuned", "pdsbo_al"} {
		t.Run(name, func(t *testing.T) {
			c, _ := config(t)
			c.Method = method(t, name)
			want := run(t, c)
			for _, locals := range [][][]int{{{0, 1, 2, 3, 4}}, {{0, 1}, {2, 3, 4}}, {{0}, {1}, {2}, {3}, {4}}} {
				results, errs := collective(parts(t, c, locals...), runAll)
				testkit.OK(errors.Join(errs...))
				for _, got := range results {
					sameRun(t, want, got)
					for i, u := range got.Usage {
						if u.Calls != want.Usage[i].Calls || u.Traffic != want.Usage[i].Traffic {
							t.Errorf("agent %d spent %+v, want %+v", i, u, want.Usage[i])
						}
					}
				}
			}
		})
	}
}

// TestPartsStopTogether: one process that is interrupted stops all, after the same iteration, and
// they go on from there with the same bits.
func TestPartsStopTogether(t *testing.T) {
	c, _ := config(t)
	want := run(t, c)
	c.Dir = t.TempDir()
	locals := [][]int{{0, 1}, {2, 3, 4}}
	results, errs := collective(parts(t, c, locals...), func(k int, c train.Config) (*train.Result, error) {
		if k == 0 {
			return train.Run(context.Background(), c)
		}
		return stopAfter(c, 15)
	})
	for k, err := range errs {
		if !errors.Is(err, train.ErrInterrupted) || results[k].Iterations != 15 || results[k].X != nil {
			t.Fatalf("process %d: %v after %d iterations, want both interrupted after 15", k, err,
				results[k].Iterations)
		}
	}
	results, errs = collective(parts(t, c, locals...), func(k int, c train.Config) (*train.Result, error) {
		points, damaged, err := train.Points(runs.Folder(c.Dir), locals[k])
		if err != nil || len(damaged) != 0 || len(points) != 3 || points[0].Iteration != 15 ||
			points[2].Iteration != 6 {
			return nil, fmt.Errorf("points %+v, %v, %w: want those of iterations 15, 12 and 6", points, damaged, err)
		}
		c.Resume, c.From = true, &points[0]
		return train.Run(context.Background(), c)
	})
	testkit.OK(errors.Join(errs...))
	sameRun(t, want, results[0])
}

// TestPartsStopBetween: a process that is interrupted between two iterations takes the others with
// it all the same.
func TestPartsStopBetween(t *testing.T) {
	for name, at := range map[string]func(c *train.Config, stop func()){
		"evaluation": func(c *train.Config, stop func()) { c.OnRecord = func(runs.Record) { stop() } },
		"checkpoint": func(c *train.Config, stop func()) { c.OnCheckpoint = func(int) { stop() } },
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := config(t)
			c.Dir = t.TempDir()
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			results, errs := collective(parts(t, c, []int{0, 1}, []int{2, 3, 4}),
				func(k int, c train.Config) (*train.Result, error) {
					if k == 1 {
						at(&c, cancel)
						return train.Run(ctx, c)
					}
					return train.Run(context.Background(), c)
				})
			for k, err := range errs {
				if !errors.Is(err, train.ErrInterrupted) || results[k].Iterations != 1 {
					t.Errorf("process %d: %v after %d iterations, want both interrupted after the next one", k, err,
						results[k].Iterations)
				}
			}
		})
	}
}

// TestPartsDiverge: every process learns which agent diverged.
func TestPartsDiverge(t *testing.T) {
	c, _ := config(t)
	c.Method = method(t, "madsbo", "beta=5")
	c.MaxNorm = 1e6
	c.Start.Curvature = 1
	_, want := train.Run(context.Background(), c)
	_, errs := collective(parts(t, c, []int{0, 1}, []int{2, 3, 4}), runAll)
	for k, err := range errs {
		if err == nil || err.Error() != want.Error() || !errors.Is(err, dsbo.ErrDiverged) {
			t.Errorf("process %d: %v, want %v", k, err, want)
		}
	}
}

// TestPartsSolve: what comes after a run is shared as the run is.
func TestPartsSolve(t *testing.T) {
	c, _ := config(t)
	solve := func(c train.Config) (sol exact.Solution, err error) {
		e := c.Problem.Solver()
		for _, x := range [][]float64{{0.5, -1, 2}, {0.5, -1, 1}} {
			if sol, err = e.Solve(context.Background(), x); err != nil {
				return sol, err
			}
		}
		return sol, nil
	}
	want := testkit.Get(solve(c))
	if !want.Converged {
		t.Errorf("%+v, want that it converged", want)
	}
	cs := parts(t, c, []int{0, 1}, []int{2, 3, 4})
	got := make([]exact.Solution, len(cs))
	_, errs := collective(cs, func(k int, c train.Config) (_ *train.Result, err error) {
		got[k], err = solve(c)
		return nil, err
	})
	testkit.OK(errors.Join(errs...))
	for k := range cs {
		if diff := cmp.Diff(want, got[k]); diff != "" {
			t.Errorf("process %d:\n%s", k, diff)
		}
	}
}

// TestPointsAhead: a run that has gone back keeps the points that it had come to before, which are
// good to go on from.
func TestPointsAhead(t *testing.T) {
	c, _ := config(t)
	want := run(t, c)
	c.Dir = t.TempDir()
	locals := [][]int{{0, 1}, {2, 3, 4}}
	c.Resume = true
	_, errs := collective(parts(t, c, locals...), runAll)
	testkit.OK(errors.Join(errs...))
	if _, errs := collective(parts(t, c, locals...), func(_ int, c train.Config) (*train.Result, error) {
		c.From = &train.Point{Iteration: 30}
		return stopAfter(c, 31)
	}); !errors.Is(errs[0], train.ErrInterrupted) {
		t.Fatal(errs)
	}
	results, errs := collective(parts(t, c, locals...), func(k int, c train.Config) (*train.Result, error) {
		points, _, err := train.Points(runs.Folder(c.Dir), locals[k])
		var iterations []int
		for _, p := range points {
			iterations = append(iterations, p.Iteration)
		}
		if err != nil || !slices.Equal(iterations, []int{40, 36, 31, 30}) {
			return nil, fmt.Errorf("points of iterations %v, %w: want those after 31 and 30 too", iterations, err)
		}
		c.From = &points[1]
		return train.Run(context.Background(), c)
	})
	testkit.OK(errors.Join(errs...))
	sameRun(t, want, results[0])
}

// TestPointsDamaged: what was not written whole is left out, and said.
func TestPointsDamaged(t *testing.T) {
	c, _ := config(t)
	c.Dir = t.TempDir()
	_, errs := collective(parts(t, c, []int{0, 1}, []int{2, 3, 4}), runAll)
	testkit.OK(errors.Join(errs...))
	paths, err := filepath.Glob(filepath.Join(c.Dir, "checkpoint.agent2-4.*"))
	if err != nil || len(paths) != 3 {
		t.Fatalf("%q, %v: want three", paths, err)
	}
	edit(t, paths[2], func(b []byte) []byte { b[len(b)/2] ^= 1; return b })
	points, damaged, err := train.Points(runs.Folder(c.Dir), []int{2, 3, 4})
	if err != nil || len(points) != 2 || points[0].Iteration != 36 || len(damaged) != 1 ||
		!strings.Contains(damaged[0].Error(), paths[2]) {
		t.Errorf("points %+v, damaged %v, %v: want those before the damaged one", points, damaged, err)
	}
	if points, _, err := train.Points(runs.Folder(filepath.Join(c.Dir, "none")), []int{0}); err != nil ||
		points != nil {
		t.Errorf("%v, %v: a folder that is not there has no points", points, err)
	}
	f := runs.Folder(c.Dir)
	testkit.OK(errors.Join(f.WriteConfig(map[string]any{"build": runs.ThisBuild()}), f.Open(runs.Replace)))
	if points, damaged, err := train.Points(f, []int{2, 3, 4}); points != nil || damaged != nil || err != nil {
		t.Errorf("%v, %v, %v after the run was replaced: want nothing", points, damaged, err)
	}
}
