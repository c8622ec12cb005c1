package tasks_test

import (
	"io"
	"path/filepath"
	"testing"

	"dsbo/experiment"
	"dsbo/experiment/plan"
	"dsbo/experiment/tasks"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

// runPlanned runs a task, checks that what it sends in each phase lies between the least and the
// most of its plan, and returns the plan.
func runPlanned(t *testing.T, task experiment.Task, args ...string) *plan.Plan {
	t.Helper()
	out := runs.Folder(filepath.Join(t.TempDir(), "run"))
	args = arguments(out, args...)
	p := testkit.Get(testkit.Get(experiment.Parse(task, args, io.Discard)).Plan(t.Context(), 0, io.Discard))
	testkit.OK(experiment.Run(t.Context(), task, args, io.Discard, io.Discard))
	sent := plan.Plan{Phases: map[string]plan.Sending{}}
	sent.Use(plan.Pilot{Traffic: testkit.Get(out.ReadSummary()).Traffic})
	for _, phase := range plan.Phases {
		got, of := sent.Phases[phase], p.Phases[phase]
		if n := got.Bytes.Least; n < of.Bytes.Least || n > of.Bytes.Most {
			t.Errorf("%s: %s: %.0f bytes were sent; the plan has %.0f", args, phase, n, of.Bytes)
		}
		if n := got.Messages.Least; n < of.Messages.Least || n > of.Messages.Most {
			t.Errorf("%s: %s: %.0f messages were sent; the plan has %.0f", args, phase, n, of.Messages)
		}
	}
	return p
}

// TestPlan: each task sends what its plan has.
func TestPlan(t *testing.T) {
	folder := t.TempDir()
	testkit.OK(testkit.WriteMNIST(folder, 90, 30))
	images := "-data=" + folder + " -agents=3 -train=15 -val=10 -K=2 "
	runPlanned(t, tasks.Synthetic(), "-p=5 -r=1 -agents=3 -K=2 -train=20 -val=20 -test=50")
	for _, args := range []string{"-model=mlp -hidden=4 -algorithm=adamcg -set=T=2 -set=N=2", "",
		"-wire=float64 -best-start", "-model=mlp -hidden=4", "-model=hyperclean -mislabel=0.3",
		"-model=hyperclean-mlp -hidden=4 -mislabel=0.5 -batch=10 -set=T=2 -set=N=2"} {
		runPlanned(t, tasks.MNIST(), images+args)
		if testing.Short() {
			break
		}
	}
}
