package command

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"dsbo/internal/cli"
	"dsbo/internal/files"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

// brief is a run of moments.
func brief(out string, seed int, more ...string) []string {
	return append(synthetic("-r=1 -preset=madsbo_tuned -batch=2 -K=2 -T=1 -N=1 -evaluate=off -rivals=false",
		"-checkpoint-every=1 -quiet", fmt.Sprintf("-seed=%d -out=%s", seed, out)), more...)
}

// TestRaces: of two runs that begin at once in one folder, fresh, replaced or resumed, whose
// settings differ, one has the folder: what stands there is the whole of one of them, and the other
// one is refused in one line.
func TestRaces(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no locks here")
	}
	races := testkit.Sized(1, 2, 4)
	home := t.TempDir()
	var whole [2]string
	for seed := range whole {
		whole[seed] = filepath.Join(home, fmt.Sprint("whole", seed))
		runCommand(t, brief(whole[seed], seed)...)
	}
	for _, mode := range []string{"fresh", "-force", "-resume"} {
		t.Run(mode, func(t *testing.T) {
			for race := range races {
				raceOnce(t, filepath.Join(home, fmt.Sprint(mode, race)), mode, whole)
			}
		})
	}
}

// raceOnce starts two runs in one folder.
func raceOnce(t *testing.T, out, mode string, whole [2]string) {
	t.Helper()
	var args [2][]string
	for seed := range args {
		args[seed] = brief(out, seed)
	}
	switch mode {
	case "-force":
		runCommand(t, brief(out, 7)...)
		for seed := range args {
			args[seed] = append(args[seed], mode)
		}
	case "-resume":
		stop(t, out)
		for seed := range args {
			args[seed] = []string{"synthetic", "-resume", "-report=false", "-quiet", "-out", out}
		}
	}
	var errs [2]error
	var both sync.WaitGroup
	for seed := range errs {
		both.Go(func() { errs[seed] = run(t.Context(), args[seed], io.Discard, io.Discard) })
	}
	both.Wait()
	ended := slices.IndexFunc(errs[:], func(err error) bool { return err == nil })
	if ended < 0 {
		t.Fatalf("no run ended: %v, %v", errs[0], errs[1])
	}
	config := testkit.Get(runs.Folder(out).ReadConfig())
	if other := errs[1-ended]; other != nil {
		refused := errors.Is(other, files.ErrLocked) || strings.Contains(other.Error(), "finished")
		if code := cli.Code(other); !refused || code != cli.Failure && code != cli.Usage ||
			strings.Contains(cli.OneLine(other), "\n") {
			t.Errorf("%v, want one line that another process has the folder", other)
		}
		if mode != "-resume" && int(config.Seed) != ended {
			t.Errorf("the configuration is that of the run that was refused")
		}
	} else if mode != "-force" { // one after the other, the second replaces the first
		t.Error("both runs ended")
	}
	want := whole[config.Seed]
	for _, name := range []string{runs.LambdaFile, runs.OmegaFile} {
		if !bytes.Equal(testkit.Get(os.ReadFile(filepath.Join(out, name))),
			testkit.Get(os.ReadFile(filepath.Join(want, name)))) {
			t.Errorf("%s is not that of the run in %s", name, runs.ConfigFile)
		}
	}
}

// stop leaves an unfinished run of seed 0.
func stop(t *testing.T, out string) {
	t.Helper()
	runCommand(t, brief(out, 0)...)
	testkit.OK(os.Remove(filepath.Join(out, runs.SummaryFile)))
}

// TestForceOnARun: -force on a run that is under way is refused, and removes nothing; so is a
// second one that would resume it.
func TestForceOnARun(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no locks here")
	}
	home := t.TempDir()
	out, whole, file := filepath.Join(home, "run"), filepath.Join(home, "whole"), writeCluster(t, home, 2, nil)
	runCommand(t, brief(whole, 1)...)
	var once sync.Once
	log := lineWriter(func(line string) {
		if !strings.Contains(line, "iteration 1 ") {
			return
		}
		once.Do(func() {
			before := testkit.Get(os.ReadDir(out))
			for _, args := range [][]string{brief(out, 2, "-force"), brief(out, 2),
				{"synthetic", "-resume", "-out", out, "-quiet"}, {"run", "-force", "-cluster=" + file, "-out=" + out}} {
				err := run(t.Context(), args, io.Discard, io.Discard)
				if !errors.Is(err, files.ErrLocked) || cli.Code(err) != cli.Failure {
					t.Errorf("%v: %v, want that the folder is locked", args, err)
				}
			}
			if after := testkit.Get(os.ReadDir(out)); fmt.Sprint(after) != fmt.Sprint(before) {
				t.Errorf("the folder holds %v, and held %v", after, before)
			}
		})
	})
	args := append(brief(out, 1), "-quiet=false", "-eval-every=1")
	testkit.OK(run(t.Context(), args, io.Discard, log))
	runCommand(t, append(brief(whole, 1, "-force"), "-eval-every=1")...)
	once.Do(func() { t.Error("there was no line of iteration 1") })
	if a, b := testkit.Get(os.ReadFile(filepath.Join(out, runs.LambdaFile))),
		testkit.Get(os.ReadFile(filepath.Join(whole, runs.LambdaFile))); !bytes.Equal(a, b) {
		t.Error("the run under way was changed")
	}
}

// TestRefusedRunLeavesNothing: a folder that was locked before its run was refused is not
// there afterwards.
func TestRefusedRunLeavesNothing(t *testing.T) {
	home := t.TempDir()
	for _, args := range [][]string{brief(filepath.Join(home, "a", "b"), 1, "-set=nosuch=1"),
		{"synthetic", "-resume", "-out", filepath.Join(home, "c")}} {
		if err := run(t.Context(), args, io.Discard, io.Discard); cli.Code(err) != cli.Usage {
			t.Errorf("%v, want that the command line is refused", err)
		}
	}
	if left := testkit.Get(os.ReadDir(home)); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
}
