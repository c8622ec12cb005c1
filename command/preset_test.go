package command

import (
	"testing"

	"dsbo/internal/testkit"
	"dsbo/runs"
)

// TestPaperPreset: on labels ±1 at each rate Φ and the test loss fall from one evaluation to the
// next, and the test accuracy is at least 0.97; on the paper's labels the test loss does, and the
// accuracy is at least 0.9. With a tenth of the features, as all take five times as long.
func TestPaperPreset(t *testing.T) {
	skipShort(t, "takes some seconds")
	for r, labels := range map[string]string{"0.5": "sign", "1": "sign", "1.5": "sign", "1.0": "real"} {
		t.Run(r, func(t *testing.T) {
			dir := t.TempDir()
			runCommand(t, "synthetic", "-preset=paper", "-labels="+labels, "-p=20", "-r="+r, "-quiet", "-report=false",
				"-out="+dir)
			rs := testkit.Get(runs.Folder(dir).Records())
			for i, after := range rs[1:] {
				before := rs[i]
				if !(after.TestLoss < before.TestLoss && (after.Phi < before.Phi || labels == "real")) {
					t.Errorf("Φ and the test loss are %v and %v after %d iterations, then %v and %v: want them to fall",
						before.Phi, before.TestLoss, before.Iteration, after.Phi, after.TestLoss)
				}
			}
			least := map[string]runs.Number{"sign": 0.97, "real": 0.9}[labels]
			if last := rs[len(rs)-1]; last.TestAccuracy < least {
				t.Errorf("test accuracy %v, want at least %v", last.TestAccuracy, least)
			}
		})
	}
}

// TestDefaultPreset: the tuned λ, from a start that the method finds, has at most 0.7 of the Φ of
// the best constant and a test loss that is no worse, and is kept.
func TestDefaultPreset(t *testing.T) {
	skipShort(t, "takes some seconds")
	dir := t.TempDir()
	runCommand(t, "synthetic", "-r=1", "-quiet", "-report=false", "-out="+dir)
	s := testkit.Get(runs.Folder(dir).ReadSummary())
	tuned, best := s.Models[len(s.Models)-1], s.Models[max(0, len(s.Models)-2)]
	if !tuned.Kept || !(tuned.Phi <= 0.7*best.Phi) || !(tuned.TestLoss <= best.TestLoss) {
		t.Errorf("tuned: Φ %v, test loss %v, kept %t; %s: Φ %v, test loss %v", tuned.Phi, tuned.TestLoss, tuned.Kept,
			best.Name, best.Phi, best.TestLoss)
	}
	if s.Verdict.Outcome == runs.Worse || s.Verdict.Sentence == "" {
		t.Errorf("%s: %s", s.Verdict.Outcome, s.Verdict.Sentence)
	}
}
