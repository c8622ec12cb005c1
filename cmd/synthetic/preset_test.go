package main

import (
	"path/filepath"
	"testing"

	"dsbo/runs"
)

// records returns the metrics of a run.
func records(t *testing.T, dir string) []runs.Record {
	t.Helper()
	rs, err := runs.Folder(dir).Records()
	if err != nil {
		t.Fatal(err)
	}
	return rs
}

// falling checks that a number is less in each record than in the one before, from the first that is looked at on.
func falling(t *testing.T, name string, rs []runs.Record, of func(runs.Record) runs.Number) {
	t.Helper()
	for i := 1; i < len(rs); i++ {
		if a, b := of(rs[i-1]), of(rs[i]); !(b < a) {
			t.Errorf("%s is %v after %d iterations and %v after %d: want it to fall", name, a, rs[i-1].Iteration, b, rs[i].Iteration)
		}
	}
}

func phi(r runs.Record) runs.Number      { return r.Phi }
func testLoss(r runs.Record) runs.Number { return r.TestLoss }

// What the command does without a flag: at each rate Φ and the test loss fall from one evaluation to the
// next, and the test accuracy is at least 0.97.
func TestDefault(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	dir := t.TempDir()
	complete(t, "-quiet", "-report=false", "-out="+dir)
	for _, r := range []string{"r0.5", "r1", "r1.5"} {
		t.Run(r, func(t *testing.T) {
			rs := records(t, filepath.Join(dir, r))
			falling(t, "Φ", rs, phi)
			falling(t, "the test loss", rs, testLoss)
			last := rs[len(rs)-1]
			if last.TestAccuracy < 0.97 {
				t.Errorf("test accuracy %v, want at least 0.97", last.TestAccuracy)
			}
			if start := rs[0].Phi; !(last.Phi < 0.6*start) {
				t.Errorf("Φ from %v to %v, want at most 0.6 of it", start, last.Phi)
			}
		})
	}
}

// To the letter λ goes slowly, but the right way.
func TestPaper(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	dir := t.TempDir()
	complete(t, "-preset=paper", "-quiet", "-report=false", "-out="+dir)
	for _, r := range []string{"r0.5", "r1", "r1.5"} {
		t.Run(r, func(t *testing.T) {
			rs := records(t, filepath.Join(dir, r))
			falling(t, "Φ", rs, phi)
			falling(t, "the test loss", rs, testLoss)
			if last := rs[len(rs)-1]; last.TestAccuracy < 0.97 {
				t.Errorf("test accuracy %v, want at least 0.97", last.TestAccuracy)
			}
		})
	}
}
