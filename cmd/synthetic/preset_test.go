package main

import (
	"path/filepath"
	"testing"

	"dsbo/internal/must"
	"dsbo/runs"
)

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

// At each rate Φ and the test loss fall from one evaluation to the next, and the test accuracy is at least 0.97: with the default
// preset to at most 0.6 of the Φ at the start, with the paper's to the letter slowly.
func TestPresets(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	for name, tt := range map[string]struct {
		flags []string
		share float64
	}{"default": {nil, 0.6}, "paper": {[]string{"-preset=paper"}, 1}} {
		dir := t.TempDir()
		complete(t, append(tt.flags, "-quiet", "-report=false", "-out="+dir)...)
		for _, r := range []string{"r0.5", "r1", "r1.5"} {
			t.Run(name+" "+r, func(t *testing.T) {
				rs := must.Get(runs.Folder(filepath.Join(dir, r)).Records())
				falling(t, "Φ", rs, phi)
				falling(t, "the test loss", rs, testLoss)
				start, last := rs[0], rs[len(rs)-1]
				if last.TestAccuracy < 0.97 || !(float64(last.Phi) < tt.share*float64(start.Phi)) {
					t.Errorf("test accuracy %v, want at least 0.97; Φ from %v to %v, want below %g of it", last.TestAccuracy, start.Phi, last.Phi, tt.share)
				}
			})
		}
	}
}
