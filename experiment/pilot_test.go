package experiment

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"dsbo/experiment/plan"
	"dsbo/internal/testkit"
)

// TestPilotIsWhatIsSent: after a pilot the plan has what a run sends, by phases and in all, to the
// byte, and the pilot leaves nothing behind.
func TestPilotIsWhatIsSent(t *testing.T) {
	if testing.Short() {
		t.Skip("as TestPlanIsWhatIsSent, with a pilot")
	}
	for _, args := range [][]string{
		{"-rows=50", "-K=3"},
		{"-rows=40", "-graph=star", "-wire=int8", "-seed=4", "-K=3"},
		{"-rows=60", "-algorithm=madsbo_tuned", "-K=4", "-agents=4"},
		{"-rows=50", "-dp-epsilon=5"}, // all of it is known without
	} {
		kept := t.TempDir()
		t.Setenv("TMPDIR", kept)
		certain := planned(t, args...).Certain()
		p := piloted(t, time.Hour, args...)
		if (p.Pilot == nil) != certain {
			t.Errorf("%v: pilot %+v of a plan that is certain: %v", args, p.Pilot, certain)
		}
		if left := testkit.Get(os.ReadDir(kept)); len(left) > 0 {
			t.Errorf("%v: the pilot left %v", args, left)
		}
		s := testkit.Get(runMean(t.Context(), filepath.Join(t.TempDir(), "run"), args...)).Traffic
		checkSent(t, args, "loading", p.All.Phases[plan.Loading].Bytes, s.Setup, 0)
		checkSent(t, args, "iterations", p.All.Phases[plan.Iterations].Bytes, s.Method, 0)
		checkSent(t, args, "evaluation", p.All.Phases[plan.Evaluation].Bytes, s.Evaluation, 0)
		checkSent(t, args, "models", p.All.Phases[plan.Models].Bytes, s.Models, 0)
		if got := p.All.Messages.Usual; got != float64(s.Total().Messages) {
			t.Errorf("%v: %g messages are planned, %d were sent", args, got, s.Total().Messages)
		}
		if r := waitOf(p, "10ms,100Mbit").Seconds; !(r.Usual > 0) || r.Least != r.Most {
			t.Errorf("%v: exchanges take %+v s", args, r)
		}
	}
}

// TestPilotInTime: a pilot that takes too long changes nothing.
func TestPilotInTime(t *testing.T) {
	before := planned(t, "-rows=50").All.Bytes
	p := piloted(t, time.Nanosecond, "-rows=50")
	if p.Pilot != nil || p.All.Bytes != before {
		t.Errorf("pilot %+v, bytes %+v; they were %+v", p.Pilot, p.All.Bytes, before)
	}
}
