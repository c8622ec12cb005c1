package tasks_test

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	"dsbo/experiment"
	"dsbo/experiment/tasks"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

// TestCleaning: with wrong labels a run says how many are found, and how good the model of all
// examples is, and sends what the plan says.
func TestCleaning(t *testing.T) {
	folder := t.TempDir()
	testkit.OK(testkit.WriteMNIST(folder, 150, 30))
	for model, flags := range map[string]string{"hyperclean": "",
		"hyperclean-mlp": "-hidden=4 -batch=10 -set=T=2 -set=N=2"} {
		if model == "hyperclean" && testing.Short() {
			continue // its solves are the longer ones
		}
		out := runs.Folder(filepath.Join(t.TempDir(), "run"))
		args := append(strings.Fields(flags), "-data="+folder, "-model="+model, "-mislabel=0.5", "-agents=3",
			"-train=20", "-val=20", "-K=6", "-quiet", "-report=false", "-out="+string(out))
		p := testkit.Get(testkit.Get(experiment.Parse(tasks.MNIST(), args, io.Discard)).Plan(t.Context(), 0, nil))
		testkit.OK(experiment.Run(t.Context(), tasks.MNIST(), args, io.Discard, io.Discard))
		s := testkit.Get(out.ReadSummary())
		notes := strings.Join(s.Verdict.Notes, " ")
		for _, want := range []string{"Of 30 wrong training labels ", "and of 30 right ones ",
			"Trained on the validation examples too, beside these weights, the model has test accuracy "} {
			if !strings.Contains(notes, want) {
				t.Errorf("%s: notes %q must say %q", model, notes, want)
			}
		}
		if r, got := p.All.Phases["models"].Bytes, float64(s.Traffic.Models.Bytes); got < r.Least || got > r.Most {
			t.Errorf("%s: models sent %g bytes; the plan has %+v", model, got, r)
		}
	}
}
