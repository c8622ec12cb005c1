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
	"dsbo/internal/minimnist"
	"dsbo/internal/must"
	"dsbo/runs"
)

// long is a run with a line on stderr after each iteration: more than a pipe of one page holds, so
// that a run whose reader waits cannot end.
func long(dir, out string, more ...string) []string {
	return append(strings.Fields("-data "+dir+" -out "+out+" -agents 3 -train 30 -val 30 -preset madsbo_tuned -batch 10 -K 60 -T 1 -N 1 -eval-every 1 -checkpoint-every 4 -seed 5 -report=false"), more...)
}

// program returns the path by which the test program is the command.
func program(t *testing.T) string {
	link := filepath.Join(t.TempDir(), "mnist")
	must.OK(os.Symlink(must.Get(os.Executable()), link))
	return link
}

// start starts the command as a process of its own, and returns a reader of its stderr.
func start(t *testing.T, args []string) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	r, w := must.Get2(os.Pipe())
	must.Get(unix.FcntlInt(w.Fd(), unix.F_SETPIPE_SZ, 4096))
	c := exec.Command(program(t), args...)
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

// finish runs the command in this process and returns what it wrote to stderr.
func finish(t *testing.T, args []string) string {
	t.Helper()
	var stderr bytes.Buffer
	if err := run(t.Context(), args, io.Discard, &stderr); err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	return stderr.String()
}

// TestStopped: a run that is killed, interrupted and killed again, each time resumed, ends with the bits of one that was not.
func TestStopped(t *testing.T) {
	if testing.Short() {
		t.Skip("several runs")
	}
	dir, home := t.TempDir(), t.TempDir()
	must.OK(minimnist.Write(dir, 200, 30))
	whole, stopped := filepath.Join(home, "whole"), filepath.Join(home, "stopped")
	finish(t, long(dir, whole))

	c, stderr := start(t, long(dir, stopped))
	await(t, stderr, "iteration 10 ")
	must.OK(c.Process.Kill())
	c.Wait()
	state(t, stopped, "unfinished")

	c, stderr = start(t, []string{"-out", stopped, "-resume", "-data", dir})
	await(t, stderr, "iteration 15 ")
	must.OK(c.Process.Signal(os.Interrupt))
	rest := must.Get(io.ReadAll(stderr))
	err := c.Wait()
	if e := (*exec.ExitError)(nil); !errors.As(err, &e) || e.ExitCode() != cli.Interrupted || !strings.Contains(string(rest), "mnist: interrupted after") || !strings.Contains(string(rest), "-resume -out "+stopped) {
		t.Errorf("%v, and at the end of stderr %q: want exit code %d and how to go on", err, rest[max(0, len(rest)-300):], cli.Interrupted)
	}
	state(t, stopped, "interrupted")

	c, stderr = start(t, []string{"-out", stopped, "-resume"})
	await(t, stderr, "iteration 45 ")
	must.OK(c.Process.Signal(syscall.SIGKILL))
	c.Wait()

	// Other settings do not go on with it, and nothing is lost by trying.
	if err := run(t.Context(), []string{"-out", stopped, "-resume", "-beta", "0.01", "-quiet"}, io.Discard, io.Discard); cli.Code(err) != cli.Usage || !strings.Contains(err.Error(), "-beta is 0.2 there") {
		t.Errorf("%v, want that another beta is refused", err)
	}
	if log := finish(t, []string{"-out", stopped, "-resume"}); strings.Contains(log, "iteration 30 ") {
		t.Errorf("the resumed run began before its checkpoint:\n%s", log)
	}
	experimenttest.SameRun(t, stopped, whole)
	if records := must.Get(runs.Folder(stopped).Records()); len(records) != 61 {
		t.Errorf("%d records; there must be one before the first iteration and one after each of 60", len(records))
	}
	state(t, stopped, runs.Finished)
}

func state(t *testing.T, dir string, want runs.State) {
	t.Helper()
	if got, err := runs.Folder(dir).State(); got != want || err != nil {
		t.Errorf("state %q, %v; want %q", got, err, want)
	}
}

// TestDiskFull: the error says so in one line, and what was there before stays whole.
func TestDiskFull(t *testing.T) {
	disk, dir := t.TempDir(), t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("no small disk can be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	must.OK(minimnist.Write(dir, 200, 30))
	out := filepath.Join(disk, "run")
	err := run(t.Context(), long(dir, out, "-quiet"), io.Discard, io.Discard)
	if cli.Code(err) != cli.Failure || !errors.Is(err, syscall.ENOSPC) || strings.Contains(cli.OneLine(err), "\n") {
		t.Errorf("%v, want that the disk is full", err)
	}
	entries := must.Get(os.ReadDir(out))
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".tmp") {
			t.Errorf("%s is left over", e.Name())
		}
	}
	if got, err := runs.Folder(out).State(); got == runs.Finished || err != nil {
		t.Errorf("state %q, %v", got, err)
	}
}
