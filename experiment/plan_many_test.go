package experiment

import (
	"cmp"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"dsbo/algo"
	"dsbo/experiment/plan"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

// TestPlanOfManyIsRight: a plan of more agents than are loaded has what their run sends: to the
// byte in iterations of a fixed cost, and in all of a run with noise; else its range holds it. One
// of them is of more than [MostPiloted]; the way in which the plan is made is the same for fewer.
func TestPlanOfManyIsRight(t *testing.T) {
	const mixed, private = "-algorithm=dsoba -eval-every=3 -K=6 ", "-dp-epsilon=5 -K=1 "
	for _, c := range []struct {
		args string
		than int // whether records send more or less than is usual
	}{
		{private + "-agents=42 -graph=torus", 0},
		{private + "-agents=25 -graph=path -wire=float64", 0},
		{mixed + "-agents=90 -graph=torus -beta=0.1 -gamma=0.1", 1}, // losses are too small for one pass
		{mixed + "-agents=1025 -graph=star", 1},                     // distances from the average are
		{mixed + "-agents=50 -graph=ring", -1},                      // x stays where it is
		{mixed + "-agents=50 -graph=path", -1},
		{mixed + "-agents=40 -graph=erdos-renyi", 0},
		{"-K=2 -agents=40 -graph=exponential", 0},
	} {
		if testing.Short() && strings.Contains(c.args, "star") {
			continue // plans of fewer agents are made in the same way
		}
		t.Run(c.args, func(t *testing.T) {
			args := append(strings.Fields(c.args), "-rows=4", "-rivals=false", "-evaluate=off")
			p := plannedAs(t, alike{}, args...)
			s := testkit.Get(runMean(t.Context(), filepath.Join(t.TempDir(), "run"), args...))
			checkPhases(t, p, s)
			if certain := strings.HasPrefix(c.args, private); p.Certain() != certain {
				t.Errorf("the plan has %+v in all; that it is certain must be %t", p.All.Bytes, certain)
			}
			r := p.All.Phases[plan.Iterations].Bytes
			if certain := !strings.HasPrefix(c.args, "-K"); certain != (r.Least == r.Most) {
				t.Errorf("the plan has %+v in iterations; that it is certain must be %t", r, certain)
			}
			usual, sent := p.All.Phases[plan.Evaluation].Bytes.Usual, float64(s.Traffic.Evaluation.Bytes)
			if than := cmp.Compare(sent, usual); than != c.than {
				t.Errorf("%.0f bytes were sent for records, and %.0f are usual: %d, want %d", sent, usual, than, c.than)
			}
		})
	}
}

// TestPlanOfLosses: losses may be too small for one pass, but at the start, unless the task says
// that they are not. All else of a record is certain.
func TestPlanOfLosses(t *testing.T) {
	for _, c := range []struct {
		agents int
		coarse bool
	}{{6, false}, {1200, false}, {1200, true}} {
		task := newMean()
		task.Experience = func() plan.Experience {
			e := plan.DefaultExperience
			e.Coarse = c.coarse
			return e
		}
		args := []string{"-agents=" + strconv.Itoa(c.agents), "-rows=2", "-K=5", "-evaluate=off", "-quiet"}
		p := testkit.Get(testkit.Get(Parse(task, args, io.Discard)).Plan(t.Context(), 0, io.Discard))
		r, again := p.All.Phases[plan.Evaluation], float64(5*2*(c.agents-1))
		if c.coarse {
			again = 0
		}
		if (r.Bytes.Least < r.Bytes.Most) == c.coarse || r.Messages.Most-r.Messages.Least != again {
			t.Errorf("%+v: evaluations are planned as %+v", c, r)
		}
	}
}

// TestPlanOfCopies: a range has the comparisons of agents' copies of y where these may still be
// alike, or are so after each mix, and no later ones; of x it has all, as its gradients may be 0.
func TestPlanOfCopies(t *testing.T) {
	mixed := map[string]int{}
	defer func() {
		if y := mixed["y and z"]; y < 30 || mixed["x and the hypergradient"] != y {
			t.Errorf("copies were compared in %v runs", mixed)
		}
	}()
	for _, name := range algo.Names() {
		traits := algo.TraitsOf(testkit.Get(algo.New(name)))
		if traits.OneAgent || traits.Compositional {
			continue
		}
		for _, graph := range []string{"ring", "server"} {
			if graph == "ring" && traits.ExactAverage {
				continue
			}
			args := []string{"-algorithm=" + name, "-agents=5", "-graph=" + graph, "-rows=50", "-eval-every=1", "-K=4",
				"-evaluate=off", "-rivals=false", "-wire=float64", "-alpha=0.1", "-beta=0.01", "-gamma=0.01"}
			p := planned(t, args...)
			s, err := runMean(t.Context(), filepath.Join(t.TempDir(), "run"), args...)
			if err != nil {
				t.Errorf("%v: %v", args, err)
				continue
			}
			checkPhases(t, p, s)
			ranged := traits.AlikeUntil > 0 || graph == "server" && (traits.MixesLast || traits.ExactAverage)
			for name, ranged := range map[string]bool{"y and z": ranged, "x and the hypergradient": true} {
				at := slices.IndexFunc(p.Quantities, func(q plan.Quantity) bool { return q.Name == name })
				if at < 0 { // all agents have the same
					continue
				}
				mixed[name]++
				if r := p.Quantities[at].Times; ranged != (r.Least < r.Most) {
					t.Errorf("%v: the plan has %s %+v times; that it is a range must be %t", args, name, r, ranged)
				}
			}
		}
	}
}

// checkPhases checks that a plan's ranges hold what a run has sent.
func checkPhases(t *testing.T, p *plan.Plan, s runs.Summary) {
	t.Helper()
	for phase, sent := range phasesOf(s.Traffic) {
		all := p.All.Phases[phase]
		for unit, c := range map[string]struct {
			planned plan.Range
			sent    int64
		}{"bytes": {all.Bytes, sent.Bytes}, "messages": {all.Messages, sent.Messages}} {
			if got := float64(c.sent); got < c.planned.Least-1e-6*got || got > c.planned.Most+1e-6*got {
				t.Errorf("%s: %.0f %s were sent; the plan has %+v", phase, got, unit, c.planned)
			}
		}
	}
}

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
		checkSent(t, args, p, s, 0, true)
		if got := p.All.Messages.Usual; got != float64(s.Total().Messages) {
			t.Errorf("%v: %g messages are planned, %d were sent", args, got, s.Total().Messages)
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
