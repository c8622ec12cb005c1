package experimenttest

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	"dsbo/experiment"
	"dsbo/experiment/site"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

// TestPlan runs a task with flags, of which several may be in one text, checks that what it sends
// in each phase lies between the least and the most of its plan, and returns the plan.
func TestPlan(t *testing.T, task experiment.Task, flags ...string) *site.Plan {
	t.Helper()
	out := runs.Folder(filepath.Join(t.TempDir(), "run"))
	args := append(strings.Fields(strings.Join(flags, " ")), "-quiet", "-report=false", "-out="+string(out))
	p := testkit.Get(testkit.Get(experiment.Parse(task, args, io.Discard)).Plan(t.Context(), 0, io.Discard))
	testkit.OK(experiment.Run(t.Context(), task, args, io.Discard, io.Discard))
	sent := site.Plan{Phases: map[string]site.Sending{}}
	sent.Use(site.Pilot{Traffic: testkit.Get(out.ReadSummary()).Traffic})
	for _, phase := range site.Phases {
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
