package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"dsbo/experiment/experimenttest"
	"dsbo/internal/cli"
	"dsbo/internal/must"
	"dsbo/runs"
)

// long is a run with a line on stderr after each iteration: after the last stop still more than a pipe of one page and its
// reader hold, so that a run whose reader waits cannot end.
func long(out string) []string {
	return append(strings.Fields(small+" -r 1 -preset madsbo_tuned -batch 2 -K 240 -T 1 -N 1 -eval-every 1 -evaluate off -checkpoint-every 4 -seed 5"), "-out", out)
}

// start starts the command as a process of its own, and returns a reader of its stderr.
func start(t *testing.T, args []string) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	r, w := must.Get2(os.Pipe())
	must.Get(unix.FcntlInt(w.Fd(), unix.F_SETPIPE_SZ, 4096))
	link := filepath.Join(t.TempDir(), "synthetic")
	must.OK(os.Symlink(must.Get(os.Executable()), link))
	c := exec.Command(link, args...)
	c.Stderr = w
	must.OK(c.Start())
	w.Close()
	t.Cleanup(func() { r.Close() })
	return c, bufio.NewReader(r)
}

// await reads lines up to one with a text.
func await(t *testing.T, r *bufio.Reader, text string) {
	t.Helper()
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatalf("%v before a line with %q", err, text)
		}
		if strings.Contains(line, text) {
			return
		}
	}
}

// TestStopped: a run that is killed, interrupted and killed again, each time resumed, ends with the bits of one that was not.
func TestStopped(t *testing.T) {
	home := t.TempDir()
	whole, stopped := filepath.Join(home, "whole"), filepath.Join(home, "stopped")
	complete(t, long(whole)...)

	c, stderr := start(t, long(stopped))
	await(t, stderr, "iteration 10 ")
	must.OK(c.Process.Kill())
	c.Wait()
	state(t, stopped, "unfinished")

	c, stderr = start(t, []string{"-out", stopped, "-resume"})
	await(t, stderr, "iteration 15 ")
	must.OK(c.Process.Signal(os.Interrupt))
	rest := must.Get(io.ReadAll(stderr))
	err := c.Wait()
	if e := (*exec.ExitError)(nil); !errors.As(err, &e) || e.ExitCode() != cli.Interrupted || !strings.Contains(string(rest), "synthetic: interrupted after") || !strings.Contains(string(rest), "-resume -out "+stopped) {
		t.Errorf("%v, and at the end of stderr %q: want exit code %d and how to go on", err, rest[max(0, len(rest)-300):], cli.Interrupted)
	}
	state(t, stopped, "interrupted")

	c, stderr = start(t, []string{"-out", stopped, "-resume"})
	await(t, stderr, "iteration 45 ")
	must.OK(c.Process.Signal(syscall.SIGKILL))
	c.Wait()

	// Other settings do not go on with it, and nothing is lost by trying.
	if err := run(t.Context(), []string{"-out", stopped, "-resume", "-beta", "0.01", "-quiet"}, io.Discard, io.Discard); cli.Code(err) != cli.Usage || !strings.Contains(err.Error(), "-beta is 0.0") {
		t.Errorf("%v, want that another beta is refused", err)
	}
	var log bytes.Buffer
	must.OK(run(t.Context(), []string{"-out", stopped, "-resume", "-report=false"}, io.Discard, &log))
	if strings.Contains(log.String(), "iteration 30 ") {
		t.Errorf("the resumed run began before its checkpoint:\n%s", log.String())
	}
	experimenttest.SameRun(t, stopped, whole)
	if records := must.Get(runs.Folder(stopped).Records()); len(records) != 241 {
		t.Errorf("%d records; there must be one before the first iteration and one after each of 240", len(records))
	}
	state(t, stopped, runs.Finished)
}

func state(t *testing.T, dir string, want runs.State) {
	t.Helper()
	if got, err := runs.Folder(dir).State(); got != want || err != nil {
		t.Errorf("state %q, %v; want %q", got, err, want)
	}
}
