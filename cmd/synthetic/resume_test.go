package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsbo/experiment/experimenttest"
	"dsbo/internal/cli"
	"dsbo/runs"
)

// A breaker takes what a command writes to stderr and ends its context at the n-th line with a text.
type breaker struct {
	text string
	n    int
	end  context.CancelFunc
	all  bytes.Buffer
}

func (b *breaker) Write(p []byte) (int, error) {
	if strings.Contains(string(p), b.text) {
		if b.n--; b.n == 0 {
			b.end()
		}
	}
	return b.all.Write(p)
}

// interrupted runs the command up to the n-th line with a text.
func interrupted(t *testing.T, args []string, text string, n int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	b := &breaker{text: text, n: n, end: cancel}
	err := run(ctx, args, io.Discard, b)
	if cli.Code(err) != cli.Interrupted || !strings.Contains(err.Error(), "-resume -out") {
		t.Fatalf("error %v, want one of an interrupt that says how to go on; stderr:\n%s", err, b.all.String())
	}
}

// complete runs the command to its end and returns its stdout.
func complete(t *testing.T, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if err := run(t.Context(), args, &stdout, &stderr); err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	return stdout.String()
}

// sameRuns checks that two series have the same runs, and that these have the same metrics.
func sameRuns(t *testing.T, a, b string) {
	t.Helper()
	var runs [2][]string
	for i, dir := range []string{a, b} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.IsDir() && e.Name() != "figures" {
				runs[i] = append(runs[i], e.Name())
			}
		}
	}
	if got, want := strings.Join(runs[0], " "), strings.Join(runs[1], " "); got != want {
		t.Fatalf("runs %s, want %s", got, want)
	}
	for _, name := range runs[0] {
		diff, err := experimenttest.Difference(filepath.Join(a, name), filepath.Join(b, name))
		if err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
}

func TestResumedSeries(t *testing.T) {
	for _, tt := range []struct {
		name, flags, text string
		n                 int
		done              string // a run that is not run again
	}{
		{"rates", "-p=4 -agents=3 -train=30 -val=30 -test=20 -K=6 -T=2 -N=2 -eval-every=2 -report=false", "iteration 4 ", 2, "r0.5"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			whole, halves := filepath.Join(dir, "whole"), filepath.Join(dir, "halves")
			args := strings.Fields(tt.flags)
			complete(t, append(args, "-out="+whole)...)
			interrupted(t, append(args, "-out="+halves), tt.text, tt.n)
			if state, err := runs.Folder(halves).State(); state != "interrupted" || err != nil {
				t.Fatalf("state %q, %v", state, err)
			}
			first := filepath.Join(halves, tt.done, "summary.json")
			before, err := os.Stat(first)
			if err != nil {
				t.Fatal(err)
			}
			if err := run(t.Context(), append(args, "-out="+halves), io.Discard, io.Discard); cli.Code(err) != cli.Usage || !strings.Contains(err.Error(), "-resume goes on") {
				t.Fatalf("without -resume: %v", err)
			}
			complete(t, "-resume", "-report=false", "-out="+halves)
			after, err := os.Stat(first)
			if err != nil {
				t.Fatal(err)
			}
			if !os.SameFile(before, after) {
				t.Errorf("%s was run again", tt.done)
			}
			sameRuns(t, halves, whole)
		})
	}
}

// The newest unfinished series is the one that -resume means.
func TestResumeTheNewest(t *testing.T) {
	t.Chdir(t.TempDir())
	args := strings.Fields("-p=4 -agents=3 -train=30 -val=30 -test=20 -K=6 -T=2 -N=2 -eval-every=2 -report=false")
	complete(t, args...)
	interrupted(t, args, "iteration 2 ", 1)
	out := complete(t, "-resume", "-quiet")
	if want := filepath.Join("runs", "synthetic-tuned-seed1-2", "report.html"); !strings.Contains(out, want) {
		t.Errorf("stdout %s: want %s", out, want)
	}
	sameRuns(t, "runs/synthetic-tuned-seed1", "runs/synthetic-tuned-seed1-2")
}

func TestDiskIsFull(t *testing.T) {
	var full fullDisk
	err := run(t.Context(), strings.Fields("-r=1 -p=4 -agents=3 -train=30 -val=30 -test=20 -K=2 -T=1 -N=1 -quiet -report=false -out="+filepath.Join(t.TempDir(), "run")), full, io.Discard)
	if !errors.Is(err, errFull) || cli.Code(err) != cli.Failure {
		t.Errorf("error %v, want that of stdout", err)
	}
}

var errFull = errors.New("no space left")

// fullDisk is a stdout that takes nothing.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

// TestStoppedRefit: what a run has found stands before the models are refitted, and the run that goes on ends as one that was not
// stopped.
func TestStoppedRefit(t *testing.T) {
	dir := t.TempDir()
	whole, stopped := filepath.Join(dir, "whole"), filepath.Join(dir, "stopped")
	args := strings.Fields("-r=1 -p=4 -agents=3 -train=30 -val=30 -test=20 -K=4 -T=2 -N=2 -report=false")
	complete(t, append(args, "-out="+whole)...)
	interrupted(t, append(args, "-out="+stopped), "refit at λ = 0", 1)
	read := func(folder, name string) string {
		data, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if read(stopped, "lambda.npy") != read(whole, "lambda.npy") {
		t.Error("lambda.npy differs")
	}
	if s, err := runs.Folder(stopped).ReadSummary(); err != nil || s.State != runs.Interrupted || !s.PhiEnd.Known() {
		t.Errorf("state %q, Φ %v, %v", s.State, s.PhiEnd, err)
	}
	complete(t, "-resume", "-report=false", "-out="+stopped)
	for _, name := range []string{"lambda.npy", "omega.npy"} {
		if read(stopped, name) != read(whole, name) {
			t.Errorf("%s of the resumed run differs", name)
		}
	}
}
