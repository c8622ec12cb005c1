package command

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"dsbo/experiment/experimenttest"
	"dsbo/internal/cli"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

func init() { experimenttest.Struck("dsbo", run) }

// long is a run with a line on stderr after each iteration.
func long(out string) []string {
	return synthetic("-r=1 -preset=madsbo_tuned -batch=2 -K=60 -T=1 -N=1 -eval-every=1 -evaluate=off -rivals=false",
		"-checkpoint-every=4 -seed=5 -out="+out)
}

// struck runs the command as a process of its own, which a signal strikes at a line of stderr, and
// returns what it wrote there.
func struck(t *testing.T, s syscall.Signal, line string, args ...string) (string, error) {
	t.Helper()
	c := exec.CommandContext(t.Context(), testkit.Get(os.Executable()), args...)
	c.Env = append(os.Environ(), experimenttest.Strike(s, line))
	var stderr bytes.Buffer
	c.Stderr = &stderr
	err := c.Run()
	if !strings.Contains(stderr.String(), line) {
		t.Fatalf("%v before a line with %q:\n%s", err, line, stderr.String())
	}
	return stderr.String(), err
}

// TestStopped: a run that is killed, interrupted and killed again, each time resumed, ends with the
// bits of one that was not.
func TestStopped(t *testing.T) {
	home := t.TempDir()
	whole, stopped := filepath.Join(home, "whole"), filepath.Join(home, "stopped")
	runCommand(t, long(whole)...)

	_, _ = struck(t, syscall.SIGKILL, "iteration 10 ", long(stopped)...)
	wantState(t, stopped, runs.Unfinished)

	text, err := struck(t, syscall.SIGINT, "iteration 15 ", "synthetic", "-out", stopped, "-resume")
	if e := (*exec.ExitError)(nil); !errors.As(err, &e) || e.ExitCode() != cli.Interrupted ||
		!strings.Contains(text, "synthetic: interrupted after") || !strings.Contains(text, "-resume -out "+stopped) {
		t.Errorf("%v, and stderr is %q: want exit code %d and how to go on", err, text, cli.Interrupted)
	}
	wantState(t, stopped, runs.Interrupted)

	_, _ = struck(t, syscall.SIGKILL, "iteration 45 ", "synthetic", "-out", stopped, "-resume")

	// Other settings do not go on with it, and nothing is lost by trying.
	if err := run(t.Context(), []string{"synthetic", "-out", stopped, "-resume", "-beta", "0.01", "-quiet"}, io.Discard,
		io.Discard); cli.Code(err) != cli.Usage || !strings.Contains(err.Error(), "-beta is 0.0") {
		t.Errorf("%v, want that another beta is refused", err)
	}
	var log bytes.Buffer
	testkit.OK(run(t.Context(), []string{"synthetic", "-out", stopped, "-resume", "-report=false"}, io.Discard, &log))
	if strings.Contains(log.String(), "iteration 30 ") {
		t.Errorf("the resumed run began before its checkpoint:\n%s", log.String())
	}
	experimenttest.SameRun(t, stopped, whole)
	if records := testkit.Get(runs.Folder(stopped).Records()); len(records) != 61 {
		t.Errorf("%d records; there must be one before the first iteration and one after each of 60", len(records))
	}
	wantState(t, stopped, runs.Finished)
}
