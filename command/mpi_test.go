//go:build mpi && !mpich && cgo && linux

package command

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"dsbo/experiment/experimenttest"
	"dsbo/internal/cli"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

// jobTime bounds each job: one that a process has left must end by itself. It is far longer than
// any takes, as ranks that wait keep processors busy that others may need.
const jobTime = 4 * time.Minute

// linkedProgram returns the path by which the test program is the command.
func linkedProgram(t *testing.T) string {
	link := filepath.Join(t.TempDir(), "dsbo")
	testkit.OK(os.Symlink(testkit.Get(os.Executable()), link))
	return link
}

// job returns the command as an MPI job of n processes.
func job(t *testing.T, n int, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), jobTime)
	t.Cleanup(cancel)
	all := append(append([]string{"--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", fmt.Sprint(n),
		linkedProgram(t)}, args...), "-transport=mpi")
	c := exec.CommandContext(ctx, "mpirun.openmpi", all...)
	c.WaitDelay = time.Second // processes that are left behind hold the output
	return c
}

// TestMPI: the run of one process and runs of several find the same, also after one of several
// was lost.
func TestMPI(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	testkit.OK(testkit.WriteMNIST(dir, 200, 30))
	whole := filepath.Join(home, "whole")
	runCommand(t, longMNIST(dir, whole)...)
	for _, n := range []int{1, 2, 3} {
		out := filepath.Join(home, fmt.Sprint(n))
		if text, err := job(t, n, longMNIST(dir, out)...).CombinedOutput(); err != nil {
			t.Fatalf("%d processes: %v\n%s", n, err, text)
		}
		experimenttest.SameRun(t, out, whole)
	}

	lost := filepath.Join(home, "lost")
	c := job(t, 3, longMNIST(dir, lost)...)
	c.Env = append(os.Environ(), experimenttest.Strike(syscall.SIGKILL, "iteration 10 "))
	if text, err := c.CombinedOutput(); err == nil {
		t.Errorf("a process was killed: want that the job fails\n%s", text)
	}
	wantState(t, lost, runs.Unfinished)
	if text, err := job(t, 2, "mnist", "-out", lost, "-resume", "-data", dir).CombinedOutput(); err == nil ||
		!strings.Contains(string(text), "has its agents in 3 processes") {
		t.Errorf("%v, want that fewer processes are refused:\n%s", err, text)
	}
	text, err := job(t, 3, "mnist", "-out", lost, "-resume", "-data", dir).CombinedOutput()
	if err != nil || !strings.Contains(string(text), "going on after iteration") {
		t.Errorf("%v, want that it goes on from a checkpoint:\n%s", err, text)
	}
	experimenttest.SameRun(t, lost, whole)
	wantState(t, lost, runs.Finished)
}

// TestMPISettings: products with other matrices than the Hessian have the bits of one process, and
// so have agents that one method serves in each of two processes.
func TestMPISettings(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	testkit.OK(testkit.WriteMNIST(dir, 240, 30))
	const other = "-agents=3 -model=mlp -hidden=3 -K=2 -curvature="
	const alike = "-preset=paper -batch=0 -agents=8 -K=3 -algorithm="
	for i, settings := range []string{other + "damped", other + "gauss-newton", alike + "newtoncg", alike + "adamcg"} {
		args := func(out string) []string {
			return append(strings.Fields("mnist "+settings+" -train=10 -val=10 -evaluate=off -report=false -quiet"),
				"-data="+dir, "-out="+out)
		}
		one, two := filepath.Join(home, fmt.Sprint("one", i)), filepath.Join(home, fmt.Sprint("two", i))
		runCommand(t, args(one)...)
		if text, err := job(t, 2, args(two)...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", settings, err, text)
		}
		experimenttest.SameRun(t, two, one)
	}
}

// TestMPIUsage: a setting that cannot work is one line, whatever the number of processes.
func TestMPIUsage(t *testing.T) {
	dir := t.TempDir()
	testkit.OK(testkit.WriteMNIST(dir, 200, 30))
	for _, tt := range []struct {
		n    int
		args []string
		want string
	}{
		{2, []string{"-batch", "31"}, "dsbo: mnist: -batch must be at most 30"},
		{4, nil, "dsbo: mnist: -agents must be at least 4, the number of processes; it is 3"},
		{2, []string{"-out", "/proc/none"}, "dsbo: mnist: run folder /proc/none"},
	} {
		text, err := job(t, tt.n, longMNIST(dir, filepath.Join(t.TempDir(), "out"), tt.args...)...).CombinedOutput()
		if c, ok := err.(*exec.ExitError); !ok || c.ExitCode() != cli.Usage ||
			strings.Count(string(text), "dsbo: ") != 1 || !strings.Contains(string(text), tt.want) {
			t.Errorf("%q: %v, want one line with %q:\n%s", tt.args, err, tt.want, text)
		}
	}
}
