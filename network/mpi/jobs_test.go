//go:build mpi && cgo

package mpi

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// jobTime bounds each job: one that a rank has left must end by itself. It is far longer than any
// takes, as ranks that wait keep processors busy that others may need.
const jobTime = 4 * time.Minute

// TestJobs runs the tests of ranks, in this binary again, as jobs.
func TestJobs(t *testing.T) {
	if world != nil {
		t.Skip("this is one")
	}
	for _, c := range []struct {
		test  string
		ranks []int
		fails bool // as its launcher says by its exit status, with words or without
	}{
		{test: "Conforms", ranks: []int{1, 2, 4, 8}},
		{test: "Methods", ranks: []int{2, 3}},
		{test: "Long", ranks: []int{2, 3}},
		{test: "Lengths", ranks: []int{2, 4}},
		{test: "Rounds", ranks: []int{4}},
		{test: "Silent", ranks: []int{3}},
		{test: "Signals", ranks: []int{2}},
		{test: "Killed", ranks: []int{4}, fails: true},
		{test: "Exits", ranks: []int{4}, fails: true},
		{test: "Aborts", ranks: []int{4}, fails: true},
	} {
		for _, n := range c.ranks {
			t.Run(fmt.Sprintf("%s/ranks=%d", c.test, n), func(t *testing.T) {
				out, err := runJob(t, n, "^TestRank"+c.test+"$")
				switch _, failed := errors.AsType[*exec.ExitError](err); {
				case c.fails && !failed:
					t.Errorf("%v; it must be a failure:\n%s", err, out)
				case c.fails:
				case err != nil:
					t.Errorf("%v:\n%s", err, out)
				case strings.Count(out, "PASS\n") != n:
					t.Errorf("%d ranks must say PASS:\n%s", n, out)
				}
			})
		}
	}
}

// TestAbsentRank: a job of which one process fails before it is a rank ends, with the status of
// that process or, where the launcher says so, of one which it has killed for it, with that.
func TestAbsentRank(t *testing.T) {
	if world != nil {
		t.Skip("this is a job's")
	}
	for _, rank := range []string{"0", "2"} {
		out, err := runJob(t, 3, "^TestRankRounds$", absentEnv+"="+rank)
		if exit, failed := errors.AsType[*exec.ExitError](err); !failed || exit.ExitCode() != absentStatus &&
			exit.ExitCode() != statusOfKilled {
			t.Errorf("rank %s: %v, want exit status %d:\n%s", rank, err, absentStatus, out)
		}
	}
}

// runJob runs this binary's tests of that name on n ranks.
func runJob(tb testing.TB, n int, tests string, env ...string) (string, error) {
	tb.Helper()
	return launch(tb, n, append(env, jobEnv+"=1"), os.Args[0], "-test.run="+tests,
		fmt.Sprintf("-test.timeout=%v", jobTime))
}

// launch runs a program on n ranks and returns what they wrote.
func launch(tb testing.TB, n int, env []string, program ...string) (string, error) {
	tb.Helper()
	var launcher string
	for _, name := range launchers {
		if path, err := exec.LookPath(name); launcher == "" && err == nil {
			launcher = path
		}
	}
	if launcher == "" {
		tb.Fatalf("none of %q found; there must be the launcher of the MPI that this binary was built with", launchers)
	}
	ctx, cancel := context.WithTimeout(tb.Context(), jobTime)
	defer cancel()
	args := slices.Concat([]string{"-n", fmt.Sprint(n)}, launcherFlags, program)
	cmd := exec.CommandContext(ctx, launcher, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.WaitDelay = time.Second // ranks that are left behind hold the output
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		tb.Fatalf("still there after %v:\n%s", jobTime, out)
	}
	return string(out), err
}
