package train_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsbo"
	"dsbo/algo/algotest"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/runs"
	"dsbo/train"
)

// records reads what a run has written.
func records(t *testing.T, dir string) []runs.Record {
	t.Helper()
	return testkit.Get(runs.Folder(dir).Records())
}

// interruptAt runs c and interrupts it after an iteration.
func interruptAt(t *testing.T, c train.Config, k int) {
	t.Helper()
	r, err := stopAfter(c, k)
	if !errors.Is(err, train.ErrInterrupted) || !errors.Is(err, context.Canceled) {
		t.Fatalf("%v, want that it was interrupted", err)
	}
	if r.Iterations < k || r.Iterations >= k+c.W.N() { // agents are no further apart than the graph's diameter
		t.Errorf("ended after %d iterations, want %d or one that some agent had begun", r.Iterations, k)
	}
	if len(r.Y) == 0 || len(r.Usage) < c.W.N() {
		t.Errorf("an interrupted run has y = %v, and the usage of %d agents", r.Y, len(r.Usage))
	}
}

// TestResume: a run that was interrupted, several times and at boundaries of all kinds, ends with
// the same bits as one that was not, on disk too. Where there is no checkpoint yet it starts anew.
// TestMembersChangeWithTheSameBits resumes the other methods.
func TestResume(t *testing.T) {
	c, _ := config(t)
	c.Method, c.Settings = starting(t, "madsbo_tuned"), "of a task"
	whole := c
	whole.Dir = t.TempDir()
	want := run(t, whole)
	c.Dir = t.TempDir()
	c.Resume = true
	for _, k := range []int{3, 8, 12, 15, 24, 37} {
		interruptAt(t, c, k)
	}
	sameRun(t, want, run(t, c))
	onDisk := records(t, c.Dir)
	for i, r := range records(t, whole.Dir) {
		if diff := cmp.Diff(r.Timeless(), onDisk[i].Timeless(), nanEqual); diff != "" {
			t.Errorf("line %d differs:\n%s", i+1, diff)
		}
	}
	resumed := -1
	c.OnResume = func(done int) { resumed = done }
	again := run(t, c) // once more, with nothing left to do
	sameRun(t, want, again)
	if spent := onDisk[len(onDisk)-1].Seconds; again.Seconds != spent || !(spent > 0) {
		t.Errorf("%g seconds of a run that was resumed, %g at its last record", again.Seconds, spent)
	}
	if k, settings := train.Began(runs.Folder(c.Dir)); k != c.K || string(settings) != `"of a task"` {
		t.Errorf("the run began with K = %d and settings %s", k, settings)
	}
	if resumed != c.K {
		t.Errorf("a run of which all is done says that it goes on after iteration %d of %d", resumed, c.K)
	}
}

// TestResumeKeepsScales: on a wire whose averages are tried under the scales of the ones before,
// the method's and the evaluation's go on from the checkpoint, each from its own: a run that was
// interrupted has the same bits as one that was not, and sends the same messages. Vectors are so
// long that their averages have scales.
func TestResumeKeepsScales(t *testing.T) {
	for _, wire := range []network.Wire{network.Float64, network.Float32} {
		c, _ := config(t)
		for i, o := range algotest.NewQuadratics(agents, p, 20, 1) {
			c.Problem.Oracles[i], c.Problem.Evaluate[i] = o, o
		}
		c.Method, c.K, c.EvalEvery, c.CheckpointEvery = method(t, "newtoncg"), 8, 4, 3
		c.Problem.Average.Wire, c.ExactEach, c.Tol, c.AdjointTol = wire, true, 1e-5, 1e-5
		want := run(t, c)
		for _, from := range []int{2, 4, 7} { // between two evaluations, at one and after one
			c.Dir, c.Resume = t.TempDir(), false
			interruptAt(t, c, from)
			c.Resume = true
			sameRun(t, want, run(t, c))
		}
	}
}

// TestResumeAfterCrash: what was written after the checkpoint is dropped, half a line included.
func TestResumeAfterCrash(t *testing.T) {
	c, _ := config(t)
	want := run(t, c)
	c.Dir = t.TempDir()
	interruptAt(t, c, 20)
	path := filepath.Join(c.Dir, "metrics.jsonl")
	data := testkit.Get(os.ReadFile(path))
	testkit.OK(os.WriteFile(path, append(data, `{"iteration":24,"phi":1}`+"\n"+`{"iterat`...), 0o644))
	c.Resume = true
	sameRun(t, want, run(t, c))
	if got := records(t, c.Dir); len(got) != len(want.Records) {
		t.Errorf("%d lines, want %d", len(got), len(want.Records))
	}
}

// TestInterruptDuringEvaluation: the evaluation is made when the run is resumed.
func TestInterruptDuringEvaluation(t *testing.T) {
	c, _ := config(t)
	want := run(t, c)
	c.Dir = t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stopping := c
	stopping.Problem.Score = func(int, train.Fit) (train.Scores, error) {
		cancel() // during the evaluation at 0
		return train.Scores{}, nil
	}
	if _, err := train.Run(ctx, stopping); !errors.Is(err, train.ErrInterrupted) {
		t.Fatalf("%v, want that it was interrupted", err)
	}
	c.Resume = true
	sameRun(t, want, run(t, c))
}

func TestResumeRefuses(t *testing.T) {
	good, _ := config(t)
	good.W = testkit.Get(network.New("complete", agents, network.Options{})).W
	good.Settings = map[string]any{"seed": 1, "data": map[string]any{"agents": 5}}
	good.Problem.Digests = []string{"a", "b", "c", "d", "e"}
	const checkpoint, metrics = "checkpoint.*", "metrics.jsonl"
	for _, c := range []struct {
		name, want string
		change     func(c *train.Config) // of the configuration, or
		file       string                // the file that is damaged, and how
		damage     func(b []byte) []byte
	}{
		{"another step", "-beta is 0.1 there, 0.2 here",
			func(c *train.Config) { c.Method = method(t, "madsbo", "beta=0.2") }, "", nil},
		{"another seed", "-seed is 1 there, 2 here", func(c *train.Config) {
			c.Settings = map[string]any{"seed": 2, "data": map[string]any{"agents": 5}}
		}, "", nil},
		{"a setting more", "noise is unset there, 3 here", func(c *train.Config) {
			c.Settings = map[string]any{"seed": 1, "data": map[string]any{"agents": 5}, "noise": 3}
		}, "", nil},
		{"a setting more, with another default", "noise is unset there, 3 here", func(c *train.Config) {
			c.Settings = map[string]any{"seed": 1, "data": map[string]any{"agents": 5}, "noise": 3}
			c.Defaults = map[string]string{"noise": "2"}
		}, "", nil},
		{"another seed, as by default", "-seed is 1 there, 2 here", func(c *train.Config) {
			c.Settings = map[string]any{"seed": 2, "data": map[string]any{"agents": 5}}
			c.Defaults = map[string]string{"seed": "2"}
		}, "", nil},
		{"another length", "-K is 40 there, 50 here", func(c *train.Config) { c.K = 50 }, "", nil},
		{"another method", `-algorithm is madsbo there, dsoba here`,
			func(c *train.Config) { c.Method = method(t, "dsoba") }, "", nil},
		{"another mixing", "-mix is unset there, matchings here",
			func(c *train.Config) { c.W = testkit.Get(c.W.WithMixing(network.Matchings{})) }, "", nil},
		{"other examples", "other examples at agent 2",
			func(c *train.Config) { c.Problem.Digests = []string{"a", "b", "x", "d", "e"} }, "", nil},
		{"a flipped bit", "SHA-256", nil, checkpoint, func(b []byte) []byte { b[len(b)/2] ^= 4; return b }},
		{"a cut file", "SHA-256", nil, checkpoint, func(b []byte) []byte { return b[:len(b)-100] }},
		{"an empty file", "cut off", nil, checkpoint, func([]byte) []byte { return nil }},
		{"shorter metrics", "cut off", nil, metrics, func(b []byte) []byte { return b[:len(b)-10] }},
		{"other metrics", "changed", nil, metrics, func(b []byte) []byte { b[20] ^= 1; return b }},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := good
			cfg.Dir = t.TempDir()
			interruptAt(t, cfg, 20)
			cfg.Resume = true
			if c.change != nil {
				c.change(&cfg)
			} else {
				for _, path := range testkit.Get(filepath.Glob(filepath.Join(cfg.Dir, c.file))) {
					edit(t, path, c.damage)
				}
			}
			before := contents(t, cfg.Dir, checkpoint)
			if err := cfg.Validate(); (err != nil) != (c.file != metrics) { // which does not read records
				t.Errorf("before the run: %v", err)
			}
			_, err := train.Run(context.Background(), cfg)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v, want one line with %q", err, c.want)
			}
			if !errors.Is(err, dsbo.ErrConfig) {
				t.Errorf("%v: is not ErrConfig, which no restart mends", err)
			}
			if after := contents(t, cfg.Dir, checkpoint); len(after) == 0 || !slices.Equal(after, before) {
				t.Error("a checkpoint was changed")
			}
		})
	}
}

// TestResumeWithDefaults: a checkpoint of a program that did not have a setting is resumed with its
// default.
func TestResumeWithDefaults(t *testing.T) {
	c, _ := config(t)
	c.Settings, c.Dir = map[string]any{"seed": 1}, t.TempDir()
	interruptAt(t, c, 20)
	c.Resume, c.Settings, c.Defaults = true, map[string]any{"seed": 1, "noise": 3}, map[string]string{"noise": "3"}
	testkit.OK(c.Validate())
}

// contents returns the contents of the files of a folder that a pattern names.
func contents(t *testing.T, dir, pattern string) (all []string) {
	t.Helper()
	for _, path := range testkit.Get(filepath.Glob(filepath.Join(dir, pattern))) {
		all = append(all, string(testkit.Get(os.ReadFile(path))))
	}
	return all
}

// TestDamagedCheckpoint: a run goes on from its newest whole checkpoint, ends with the same bits,
// and says what it has left out. It keeps three.
func TestDamagedCheckpoint(t *testing.T) {
	c, _ := config(t)
	c.CheckpointEvery = 4
	want := run(t, c)
	for damaged := range 3 {
		c := c
		c.Dir = t.TempDir()
		interruptAt(t, c, 20)
		paths := testkit.Get(runs.Folder(c.Dir).Checkpoints(nil))
		if len(paths) != 3 {
			t.Fatalf("%d checkpoints are kept, want 3", len(paths))
		}
		for _, path := range paths[len(paths)-damaged:] {
			edit(t, path, func(b []byte) []byte { b[len(b)/2] ^= 4; return b })
		}
		left := 0
		c.Resume, c.OnDamage = true, func(err error) { left++ }
		sameRun(t, want, run(t, c))
		if left != damaged {
			t.Errorf("%d checkpoints were left out, want %d", left, damaged)
		}
	}
}

func edit(t *testing.T, path string, change func([]byte) []byte) {
	t.Helper()
	data := testkit.Get(os.ReadFile(path))
	testkit.OK(os.WriteFile(path, change(data), 0o644))
}

// TestDivergenceKeepsTheCheckpoint: the last good state stays.
func TestDivergenceKeepsTheCheckpoint(t *testing.T) {
	c, _ := config(t)
	c.Dir = t.TempDir()
	c.Method = method(t, "madsbo", "beta=[0.1,0.1,0.1,0.1,0.1,0.1,0.1,5]")
	c.MaxNorm = 1e6
	if _, err := train.Run(context.Background(), c); !errors.Is(err, dsbo.ErrDiverged) {
		t.Fatalf("%v, want divergence", err)
	}
	if file, err := os.ReadFile(runs.Folder(c.Dir).CheckpointPath(nil, 6)); err != nil ||
		!bytes.Contains(file, []byte(`"iteration":6,`)) {
		t.Errorf("%v, want a checkpoint after 6 iterations", err)
	}
}

// TestCheckpointsThatStay: where a run goes back its later checkpoints stay; a run that is not
// resumed removes all.
func TestCheckpointsThatStay(t *testing.T) {
	for _, resume := range []bool{true, false} {
		cfg, _ := config(t)
		cfg.Dir = t.TempDir()
		interruptAt(t, cfg, 20)
		kept := func() (list []int) {
			for k := range cfg.K + 1 {
				if _, err := os.Stat(runs.Folder(cfg.Dir).CheckpointPath(nil, k)); err == nil {
					list = append(list, k)
				}
			}
			return list
		}
		// The last one is of the iteration at the interrupt, or of one that some agent had begun.
		want := kept()
		if len(want) != 3 || want[0] != 12 || want[1] != 18 {
			t.Fatalf("the interrupted run has checkpoints after %v iterations, want 12, 18 and a later one", want)
		}
		if cfg.Resume = resume; resume {
			cfg.From = &train.Point{Iteration: 12}
		} else {
			testkit.OK(os.WriteFile(runs.Folder(cfg.Dir).CheckpointPath(nil, 0), nil, 0o666))
			want = nil
		}
		var got []int
		seen := false
		cfg.OnRecord = func(runs.Record) {
			if !seen {
				got, seen = kept(), true
			}
		}
		if run(t, cfg); !slices.Equal(got, want) {
			t.Errorf("resumed %t: checkpoints after %v iterations are there, want %v", resume, got, want)
		}
	}
}

// TestTwoRunsInOneFolder: the second does not touch what the first writes.
func TestTwoRunsInOneFolder(t *testing.T) {
	c, _ := config(t)
	c.Dir = t.TempDir()
	second := c
	c.OnRecord = func(runs.Record) {
		if runtime.GOOS == "windows" || t.Failed() {
			return
		}
		if _, err := train.Run(context.Background(), second); err == nil ||
			!strings.Contains(err.Error(), "another process") {
			t.Errorf("%v, want that the folder is in use", err)
		}
	}
	want := run(t, c)
	if got := records(t, c.Dir); len(got) != len(want.Records) {
		t.Errorf("%d records are left of %d", len(got), len(want.Records))
	}
}
