package experiment

import (
	"math"
	"path/filepath"
	"testing"

	"dsbo/experiment/plan"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

// TestAlone: without rivals the iterations are the same, and the one model at the end has their λ.
func TestAlone(t *testing.T) {
	args := []string{"-rows=50", "-algorithm=dsoba", "-alpha=0.01", "-x0=3"}
	with := testkit.Get(runMean(t.Context(), filepath.Join(t.TempDir(), "run"), args...))
	args = append(args, "-rivals=false")
	folder := runs.Folder(filepath.Join(t.TempDir(), "run"))
	s := testkit.Get(runMean(t.Context(), string(folder), args...))
	if s.PhiEnd != with.PhiEnd || s.Traffic.Evaluation != with.Traffic.Evaluation {
		t.Errorf("the iterations end at Φ = %v, with rivals at %v", s.PhiEnd, with.PhiEnd)
	}
	if len(s.Models) != 1 || !s.Models[0].Kept || s.TestLossTuned != s.Models[0].TestLoss || s.Verdict.Sentence == "" {
		t.Fatalf("models %+v, verdict %+v", s.Models, s.Verdict)
	}
	// Φ of both is right to 1e-4 of it, the tolerance of the models that are shown
	if m := s.Models[0]; !m.Converged || !(math.Abs(float64(m.Phi-s.PhiEnd)) < 2e-4*float64(s.PhiEnd)) {
		t.Errorf("the model has Φ = %v, the iterations end at %v", m.Phi, s.PhiEnd)
	}
	if len(with.Models) < 2 || with.Verdict.Against == "" {
		t.Errorf("with rivals: models %+v, verdict %+v", with.Models, with.Verdict)
	}
	got := float64(s.Traffic.Models.Bytes)
	if r := planned(t, args...).All.Phases[plan.Models].Bytes; got < r.Least || got > r.Most {
		t.Errorf("the model sent %g bytes; the plan has %+v", got, r)
	}
}
