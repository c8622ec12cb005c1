package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsbo/experiment/experimenttest"
	"dsbo/internal/cli"
	"dsbo/internal/testkit"
)

// TestResumedElsewhere: a run goes on with data that were moved, and with no others, and ends with
// the bits of one that was not interrupted.
func TestResumedElsewhere(t *testing.T) {
	home := t.TempDir()
	here, there, whole, stopped := filepath.Join(home, "here"), filepath.Join(home, "there"),
		filepath.Join(home, "whole"), filepath.Join(home, "stopped")
	testkit.OK(testkit.WriteMNIST(here, 60, 30))
	args := func(out string) []string {
		return append(strings.Fields(
			"-model=hyperrep -hidden=1 -agents=2 -train=10 -val=10 -K=4 -evaluate=off -checkpoint-every=1 "+
				"-eval-every=1 -report=false"), "-data="+here, "-out="+out)
	}
	testkit.OK(run(t.Context(), args(whole), io.Discard, io.Discard))
	ctx, cancel := context.WithCancel(t.Context())
	if err := run(ctx, args(stopped), io.Discard, endAt{"iteration 2 ", cancel}); cli.Code(err) != cli.Interrupted {
		t.Fatalf("%v, want that the run is interrupted", err)
	}
	testkit.OK(os.Rename(here, there))
	if err := run(t.Context(), []string{"-out", stopped, "-resume"}, io.Discard,
		io.Discard); cli.Code(err) != cli.Usage || !strings.Contains(err.Error(), here) {
		t.Errorf("%v, want that there are no data in %s", err, here)
	}
	testkit.OK(testkit.WriteMNIST(here, 50, 30))
	if err := run(t.Context(), []string{"-out", stopped, "-resume"}, io.Discard, io.Discard); err == nil {
		t.Error("the run went on with other data")
	}
	testkit.OK(run(t.Context(), []string{"-out", stopped, "-resume", "-report=false", "-data", there},
		io.Discard, io.Discard))
	experimenttest.SameRun(t, stopped, whole)
}

// endAt is a stderr that ends a context at a line with a text.
type endAt struct {
	text string
	end  context.CancelFunc
}

func (e endAt) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(e.text)) {
		e.end()
	}
	return len(p), nil
}
