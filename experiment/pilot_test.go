package experiment

import (
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"dsbo/internal/must"
)

// TestPilotIsWhatIsSent: after a pilot the plan has what a run sends, by phases and in all, to the byte, and the pilot leaves nothing behind.
func TestPilotIsWhatIsSent(t *testing.T) {
	for _, args := range [][]string{
		{"-rows=50", "-K=3"},
		{"-rows=40", "-graph=star", "-wire=int8", "-seed=4", "-K=3"},
		{"-rows=60", "-algorithm=madsbo_tuned", "-K=4", "-agents=4"},
		{"-rows=50", "-dp-epsilon=5"}, // all of it is known without
	} {
		kept := t.TempDir()
		t.Setenv("TMPDIR", kept)
		plan := planned(t, args...)
		certain := plan.Certain()
		must.OK(plan.RunPilot(t.Context(), time.Hour, io.Discard))
		if (plan.Pilot == nil) != certain {
			t.Errorf("%v: pilot %+v of a plan that is certain: %v", args, plan.Pilot, certain)
		}
		if left := must.Get(os.ReadDir(kept)); len(left) > 0 {
			t.Errorf("%v: the pilot left %v", args, left)
		}
		s := must.Get(runMean(t.Context(), filepath.Join(t.TempDir(), "run"), args...)).Traffic
		checkSent(t, args, "loading", plan.All.Phases[phaseLoading].Bytes, s.Setup, 0)
		checkSent(t, args, "iterations", plan.All.Phases[phaseIterations].Bytes, s.Method, 0)
		checkSent(t, args, "evaluation", plan.All.Phases[phaseEvaluation].Bytes, s.Evaluation, 0)
		checkSent(t, args, "models", plan.All.Phases[phaseModels].Bytes, s.Models, 0)
		if got := plan.All.Messages.Usual; got != float64(s.Total().Messages) {
			t.Errorf("%v: %g messages are planned, %d were sent", args, got, s.Total().Messages)
		}
		if r := plan.Seconds(Link{Mbit: 100, Ms: 10}); !(r.Usual > 0) || r.Least != r.Most {
			t.Errorf("%v: exchanges take %+v s", args, r)
		}
	}
}

// TestPilotInTime: a pilot that takes too long changes nothing.
func TestPilotInTime(t *testing.T) {
	plan := planned(t, "-rows=50")
	before := plan.All.Bytes
	must.OK(plan.RunPilot(t.Context(), time.Nanosecond, io.Discard))
	if plan.Pilot != nil || plan.All.Bytes != before {
		t.Errorf("pilot %+v, bytes %+v; they were %+v", plan.Pilot, plan.All.Bytes, before)
	}
}
