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
	"dsbo/internal/testkit"
	"dsbo/runs"
)

// A breaker takes what a command writes to stderr and ends its context at the n-th line with
// a text.
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

// TestResumeTheNewest: the newest unfinished run is the one that -resume means.
func TestResumeTheNewest(t *testing.T) {
	t.Chdir(t.TempDir())
	args := strings.Fields(small + " -evaluate=off -eval-every=2")
	complete(t, args...)
	interrupted(t, args, "iteration 2 ", 1)
	if out, want := complete(t, "-resume", "-quiet", "-report=false"),
		filepath.Join("results", "synthetic-tuned-seed1-2"); !strings.Contains(out, want) {
		t.Errorf("stdout %s: want %s", out, want)
	}
	experimenttest.SameRun(t, "results/synthetic-tuned-seed1", "results/synthetic-tuned-seed1-2")
}

func TestDiskIsFull(t *testing.T) {
	var full fullDisk
	err := run(t.Context(), strings.Fields(small+" -r=1 -evaluate=off -quiet -out="+filepath.Join(t.TempDir(), "run")),
		full, io.Discard)
	if !errors.Is(err, errFull) || cli.Code(err) != cli.Failure {
		t.Errorf("error %v, want that of stdout", err)
	}
}

var errFull = errors.New("no space left")

// fullDisk is a stdout that takes nothing.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

// TestStoppedModels: what a run has found stands before the models are found, with a page where one
// is wanted, and the run that goes on ends as one that was not stopped.
func TestStoppedModels(t *testing.T) {
	if testing.Short() {
		t.Skip("writes a page")
	}
	dir := t.TempDir()
	whole, stopped := filepath.Join(dir, "whole"), filepath.Join(dir, "stopped")
	args := strings.Fields(small + " -r=1 -p=4 -train=30 -val=30")
	complete(t, append(args, "-out="+whole)...)
	interrupted(t, append(args, "-out="+stopped, "-report"), "model of λ = 0", 1)
	lambda := func(folder string) string {
		return string(testkit.Get(os.ReadFile(filepath.Join(folder, runs.LambdaFile))))
	}
	if lambda(stopped) != lambda(whole) {
		t.Error("lambda.npy differs")
	}
	if s, err := runs.Folder(stopped).ReadSummary(); err != nil || s.State != runs.Interrupted || !s.PhiEnd.Known() {
		t.Errorf("state %q, Φ %v, %v", s.State, s.PhiEnd, err)
	}
	testkit.Get(os.Stat(filepath.Join(stopped, "report.html")))
	complete(t, "-resume", "-report=false", "-out="+stopped)
	experimenttest.SameRun(t, stopped, whole)
}

// TestResumeAcrossAChange: a run whose members change goes on from before, at and after the change
// with the same bits, by the log that its folder keeps.
func TestResumeAcrossAChange(t *testing.T) {
	if testing.Short() {
		t.Skip("package train resumes across changes")
	}
	dir := t.TempDir()
	log := filepath.Join(dir, "log.jsonl")
	testkit.OK(os.WriteFile(log,
		[]byte(`{"epoch":1,"iteration":3,"members":[0,2,3],"proposer":0,"why":["agent 1 left"]}`+"\n"), 0o644))
	args := append(strings.Fields(small), "-r=1", "-agents=4", "-K=5", "-eval-every=1", "-membership="+log)
	whole := filepath.Join(dir, "whole")
	complete(t, append(args, "-out="+whole)...)
	for _, text := range []string{"iteration 2", "epoch 1", "iteration 4"} {
		parts := filepath.Join(dir, strings.ReplaceAll(text, " ", "-"))
		interrupted(t, append(args, "-out="+parts), text, 1)
		complete(t, "-resume", "-report=false", "-out="+parts)
		experimenttest.SameRun(t, parts, whole)
	}
}
