package experiment

import (
	"io"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"dsbo/data"
	"dsbo/experiment/candidates"
	"dsbo/experiment/plan"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/runs"
)

// newReticent returns mean with a model that does not say that its lower loss is convex.
func newReticent() Task {
	t := newMean()
	load := t.Load
	t.Load = func(a Agents) (data.Task, models.Model, error) {
		task, m, err := load(a)
		return task, struct {
			models.Model
			models.Scorer
		}{m, m.(models.Scorer)}, err
	}
	return t
}

// TestTrainedModels: the models of a method that trains by draws have Φ, at the solutions that
// training has reached, and they send what the plan says.
func TestTrainedModels(t *testing.T) {
	folder := runs.Folder(filepath.Join(t.TempDir(), "run"))
	args := []string{"-agents=3", "-rows=50", "-K=4", "-algorithm=adamcg", "-set=T=3", "-set=N=2", "-batch=10",
		"-x0=-3", "-quiet", "-report=false", "-out=" + string(folder)}
	p := testkit.Get(testkit.Get(Parse(newReticent(), args, io.Discard)).Plan(t.Context(), 0, nil))
	testkit.OK(Run(t.Context(), newReticent(), args, io.Discard, io.Discard))
	s := testkit.Get(folder.ReadSummary())
	for _, m := range s.Models {
		// The upper loss is the mean of the losses of as many validation rows of each agent.
		if !m.Reached || !m.Converged || !(math.Abs(float64(m.Phi-m.ValLoss)) < 1e-6*float64(m.ValLoss)) {
			t.Errorf("%s: reached %v, converged %v, Φ %g, validation loss %g", m.Name, m.Reached, m.Converged,
				m.Phi, m.ValLoss)
		}
	}
	if notes := strings.Join(s.Verdict.Notes, " "); !strings.Contains(notes, "solutions that were reached") {
		t.Errorf("notes %q must say what Φ is", notes)
	}
	var one float64 // bytes of a model, of which all send the same
	for _, q := range p.Quantities {
		if q.Phase == plan.Models && q.Name != "losses of two models" {
			one += q.Bytes * q.Times.Least / 2
		}
	}
	got := float64(s.Traffic.Models.Bytes)
	if found := float64(len(s.Constants) + 1); got < found*one || got > (found+1+candidates.Halvings)*one {
		t.Errorf("%g models sent %g bytes; by the plan one sends %g", found, got, one)
	}
	if r := p.All.Phases[plan.Models].Bytes; got < r.Least || got > r.Most {
		t.Errorf("models sent %g bytes; the plan has %+v", got, r)
	}
}

// TestNearer: where x has gone too far for the models that training reaches, the tuned one lies
// between there and the best constant, and its Φ is below that one's.
func TestNearer(t *testing.T) {
	folder := runs.Folder(filepath.Join(t.TempDir(), "run"))
	args := []string{"-agents=3", "-rows=8", "-K=2", "-algorithm=adamcg", "-set=T=30", "-set=N=4", "-set=ly=0.3",
		"-set=lr=8", "-x0=0", "-quiet", "-report=false", "-out=" + string(folder)}
	testkit.OK(Run(t.Context(), newReticent(), args, io.Discard, io.Discard))
	s := testkit.Get(folder.ReadSummary())
	tuned := s.Models[len(s.Models)-1]
	for _, m := range s.Models[:len(s.Models)-1] {
		if !(tuned.Phi < m.Phi) {
			t.Errorf("Φ of %s is %g, that of %s %g", tuned.Name, tuned.Phi, m.Name, m.Phi)
		}
	}
	if notes := strings.Join(s.Verdict.Notes, " "); !strings.Contains(notes, "0.25 of the way") {
		t.Errorf("notes %q must say where the tuned x is", notes)
	}
}
