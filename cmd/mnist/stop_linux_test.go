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

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"dsbo/data"
	"dsbo/internal/cli"
	"dsbo/internal/minimnist"
	"dsbo/runs"
)

// long is a run with a line on stderr after each iteration: more than a pipe of one page holds, so
// that a run whose reader waits cannot end.
func long(dir, out string, more ...string) []string {
	return append(strings.Fields("-data "+dir+" -out "+out+" -agents 3 -train 30 -val 30 -batch 10 -K 60 -T 1 -N 1 -eval-every 1 -checkpoint-every 4 -seed 5 -refit 40 -report=false"), more...)
}

// start starts the command as a process of its own, and returns a reader of its stderr.
func start(t *testing.T, args []string) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := unix.FcntlInt(w.Fd(), unix.F_SETPIPE_SZ, 4096); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	link := filepath.Join(dir, "mnist") // by this name the test program is the command
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, link); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(link, args...)
	c.Stderr = w
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
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

// same compares what two runs found.
func same(t *testing.T, a, b string) {
	t.Helper()
	var metrics [2][]runs.Record
	for i, dir := range []string{a, b} {
		records, err := runs.Folder(dir).Records()
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range records {
			metrics[i] = append(metrics[i], r.Timeless())
		}
	}
	equal := cmp.Comparer(func(a, b runs.Number) bool { return a == b || !a.Known() && !b.Known() })
	if diff := cmp.Diff(metrics[0], metrics[1], equal); diff != "" || len(metrics[0]) != 61 {
		t.Errorf("%d records; difference:\n%s", len(metrics[0]), diff)
	}
	for _, name := range []string{"lambda.npy", "omega.npy"} {
		x, err := os.ReadFile(filepath.Join(a, name))
		if err != nil {
			t.Fatal(err)
		}
		y, err := os.ReadFile(filepath.Join(b, name))
		if err != nil || !bytes.Equal(x, y) {
			t.Errorf("%s differs (%v)", name, err)
		}
	}
}

// TestStopped: a run that is killed, interrupted and killed again, each time resumed, ends with the bits of one that was not.
func TestStopped(t *testing.T) {
	if testing.Short() {
		t.Skip("several runs")
	}
	dir, home := t.TempDir(), t.TempDir()
	if err := minimnist.Write(dir, 200, 30); err != nil {
		t.Fatal(err)
	}
	whole, stopped := filepath.Join(home, "whole"), filepath.Join(home, "stopped")
	finish(t, long(dir, whole))

	c, stderr := start(t, long(dir, stopped))
	await(t, stderr, "iteration 10 ")
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	c.Wait()
	state(t, stopped, "unfinished")

	c, stderr = start(t, []string{"-out", stopped, "-resume", "-data", dir})
	await(t, stderr, "iteration 15 ")
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(stderr)
	if err != nil {
		t.Fatal(err)
	}
	err = c.Wait()
	if e := (*exec.ExitError)(nil); !errors.As(err, &e) || e.ExitCode() != cli.Interrupted || !strings.Contains(string(rest), "mnist: interrupted after") || !strings.Contains(string(rest), "-resume -out "+stopped) {
		t.Errorf("%v, and at the end of stderr %q: want exit code %d and how to go on", err, rest[max(0, len(rest)-300):], cli.Interrupted)
	}
	state(t, stopped, "interrupted")

	c, stderr = start(t, []string{"-out", stopped, "-resume"})
	await(t, stderr, "iteration 45 ")
	if err := c.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	c.Wait()

	// Other settings do not go on with it, and nothing is lost by trying.
	if err := run(t.Context(), []string{"-out", stopped, "-resume", "-beta", "0.01", "-quiet"}, io.Discard, io.Discard); cli.Code(err) != cli.Usage || !strings.Contains(err.Error(), "-beta is 0.2 there") {
		t.Errorf("%v, want that another beta is refused", err)
	}
	spoil(t, stopped)

	if log := finish(t, []string{"-out", stopped, "-resume"}); strings.Contains(log, "iteration 30 ") {
		t.Errorf("the resumed run began before its checkpoint:\n%s", log)
	}
	same(t, whole, stopped)
	state(t, stopped, runs.Finished)
}

// spoil tries to resume with a spoilt checkpoint, and puts the right one back.
func spoil(t *testing.T, dir string) {
	t.Helper()
	path := filepath.Join(dir, "checkpoint")
	right, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	wrong := bytes.Clone(right)
	wrong[len(wrong)/2] ^= 16
	if err := os.WriteFile(path, wrong, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), []string{"-out", dir, "-resume", "-quiet"}, io.Discard, io.Discard); cli.Code(err) != cli.Failure || !strings.Contains(err.Error(), "corrupt checkpoint") {
		t.Errorf("%v, want that the checkpoint is refused", err)
	}
	if err := os.WriteFile(path, right, 0o644); err != nil {
		t.Fatal(err)
	}
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
	if err := minimnist.Write(dir, 200, 30); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(disk, "run")
	err := run(t.Context(), long(dir, out, "-quiet"), io.Discard, io.Discard)
	if cli.Code(err) != cli.Failure || !errors.Is(err, syscall.ENOSPC) || strings.Contains(cli.OneLine(err), "\n") {
		t.Errorf("%v, want that the disk is full", err)
	}
	entries, err := os.ReadDir(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".tmp") {
			t.Errorf("%s is left over", e.Name())
		}
	}
	if got, err := runs.Folder(out).State(); got == runs.Finished || err != nil {
		t.Errorf("state %q, %v", got, err)
	}
}

// TestDataNotFinite is about what MNIST cannot hold, bytes being what they are: numbers of other sources are refused as
// they are read.
func TestDataNotFinite(t *testing.T) {
	_, err := data.ReadCSV(strings.NewReader("1,2,1\n3,NaN,0\n"), "")
	if cli.Code(err) != cli.Usage || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("%v, want that line 2 is refused", err)
	}
}
