package experiment

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"dsbo"
	"dsbo/experiment/plan"
	"dsbo/internal/cli"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/runs"
)

// planned returns the plan of the task's command line.
func planned(t *testing.T, args ...string) *plan.Plan {
	t.Helper()
	return piloted(t, 0, args...)
}

// piloted is planned with a pilot, which may take so long.
func piloted(t *testing.T, within time.Duration, args ...string) *plan.Plan {
	t.Helper()
	args = append([]string{"-agents=3", "-quiet", "-report=false", "-K=5", "-x0=-3"}, args...)
	return testkit.Get(testkit.Get(Parse(newMean(), args, io.Discard)).Plan(t.Context(), within, io.Discard))
}

// plannedAs is planned with a team in the place of what the number of agents calls for.
func plannedAs(t *testing.T, team network.Team, args ...string) *plan.Plan {
	t.Helper()
	args = append([]string{"-agents=3", "-quiet", "-report=false", "-K=5", "-x0=-3"}, args...)
	r := newRunner(testkit.Get(Parse(newMean(), args, io.Discard)), inProcess{})
	r.team = team
	return testkit.Get(r.plan(t.Context(), 0))
}

// checkSent compares phases of a plan with what was counted: they must be the same, but for
// rounding and a share of evaluations.
func checkSent(t *testing.T, args []string, p *plan.Plan, sent runs.PhaseTraffic, share float64, models bool) {
	t.Helper()
	for phase, s := range phasesOf(sent) {
		off := 1e-6
		if phase == plan.Evaluation {
			off += share
		}
		got, r := float64(s.Bytes), p.All.Phases[phase].Bytes
		if (models || phase != plan.Models) && math.Abs(r.Usual-got) > off*got {
			t.Errorf("%v: %s: %.0f bytes are planned, %.0f were sent", args, phase, r.Usual, got)
		}
	}
}

// phasesOf returns what was sent in each phase of a plan.
func phasesOf(sent runs.PhaseTraffic) map[string]dsbo.Traffic {
	return map[string]dsbo.Traffic{plan.Loading: sent.Setup, plan.Iterations: sent.Method,
		plan.Evaluation: sent.Evaluation, plan.Models: sent.Models}
}

// TestPlanIsWhatIsSent: where nothing depends on what a run finds, the plan has each byte of it.
func TestPlanIsWhatIsSent(t *testing.T) {
	for _, args := range [][]string{
		{"-dp-epsilon=5"},
		{"-dp-epsilon=5", "-eval-every=2", "-graph=star", "-wire=float64"},
		{"-algorithm=dsoba", "-evaluate=off", "-wire=float32", "-alpha=0.1", "-beta=0.1", "-gamma=0.1"},
		{"-algorithm=madsbo_tuned", "-preset=private", "-evaluate=off", "-graph=path", "-agents=5"},
		{"-set=most=0", "-set=init=x0", "-evaluate=off"},
		{"-set=most=0", "-set=init=x0", "-evaluate=off", "-sums", "-agents=4"},
	} {
		args = append(args, "-rows=50")
		p := planned(t, args...)
		s := testkit.Get(runMean(t.Context(), filepath.Join(t.TempDir(), "run"), args...))
		// A variable that all agents still have alike at a record is not exchanged there.
		checkSent(t, args, p, s.Traffic, 0.07, s.Privacy != nil)
	}
}

// TestPlanHoldsTheDefault: what the default sends in each phase lies between the least and the most
// of its plan.
func TestPlanHoldsTheDefault(t *testing.T) {
	p := planned(t, "-rows=50")
	s := testkit.Get(runMean(t.Context(), filepath.Join(t.TempDir(), "run"), "-rows=50"))
	checkPhases(t, p, s)
}

// TestPlanOfMany: a plan that takes all agents to be like the first one is right where they are.
func TestPlanOfMany(t *testing.T) {
	if d := cmp.Diff(plannedAs(t, nil, "-agents=6", "-rows=50").Quantities,
		plannedAs(t, alike{}, "-agents=6", "-rows=50").Quantities, cmp.AllowUnexported(plan.Quantity{})); d != "" {
		t.Errorf("of all agents' data (-), of the first one's (+):\n%s", d)
	}
	few, many := planned(t, "-agents=6", "-rows=50").Site.Bytes.Usual, planned(t, "-agents=1200", "-rows=50")
	if got := many.Site.Bytes.Usual; math.Abs(got-few) > .1*few || many.Height != 600 { // flags of sums take more bits
		t.Errorf("one of 1200 sites sends %g bytes, one of 6 %g; the tree has height %d", got, few, many.Height)
	}
	together := testkit.Get(Parse(newMean(), []string{"-agents=1200", "-rows=50", "-sums"}, io.Discard))
	_, err := together.Plan(t.Context(), 0, io.Discard)
	if !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), "-agents must be at most 1024 in a plan") {
		t.Errorf("a plan of what 1200 agents find together: %v; it must be refused", err)
	}
}

// TestExplainPrivacy: the explanation has each quantity of the plan, and nothing is run.
func TestExplainPrivacy(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "run")
	seenBy := map[plan.Way]string{plan.BySum: "nobody: masked", plan.ByMix: "each neighbour", plan.ByMax: "its parent"}
	for _, args := range [][]string{nil, {"-dp-epsilon=5"}, {"-algorithm=dsoba"}} {
		var out strings.Builder
		args = append([]string{"-agents=3", "-rows=50", "-out=" + folder, "-explain-privacy"}, args...)
		testkit.OK(Run(t.Context(), newMean(), args, &out, io.Discard))
		for _, q := range testkit.Get(
			testkit.Get(Parse(newMean(), args, io.Discard)).Plan(t.Context(), 0, nil)).Quantities {
			times := fmt.Sprintf("%.0f", q.Times.Most)
			if q.Times.Least < q.Times.Most {
				times = fmt.Sprintf("%.0f-%s", q.Times.Least, times)
			}
			if line := regexp.MustCompile(`(?m)^  ` + regexp.QuoteMeta(q.Name) + ` .* ` + times + ` .*` +
				seenBy[q.Way]); !line.MatchString(out.String()) {
				t.Errorf("%v: no line for %+v in\n%s", args, q, &out)
			}
		}
		for line := range strings.Lines(out.String()) {
			if utf8.RuneCountInString(line) > cli.Columns+1 {
				t.Errorf("%v: a line is too long: %s", args, line)
			}
		}
	}
	if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder is there: %v", err)
	}
}

// TestExplainModel: the explanation lists the losses and their derivatives at the sizes of the run,
// or draws them, and nothing is run.
func TestExplainModel(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "run")
	for flag, want := range map[string][]string{
		"-explain-model": {"The upper loss: its gradients by x and y, 7 examples",
			"The lower loss: its Hessian-vector product", "MatMul(A, B) of X, y", "7×1"},
		"-explain-model=dot": {`digraph "upper" {`, `digraph "lower" {`, `label="y\n(3)"`},
	} {
		var out strings.Builder
		args := []string{"-agents=3", "-rows=50", "-batch=7", "-out=" + folder, flag}
		testkit.OK(Run(t.Context(), newMean(), args, &out, io.Discard))
		for _, text := range want {
			if !strings.Contains(out.String(), text) {
				t.Errorf("%s: no %q in\n%s", flag, text, &out)
			}
		}
	}
	if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder is there: %v", err)
	}
	if _, err := Parse(newMean(), []string{"-explain-model=svg"}, io.Discard); !errors.Is(err, dsbo.ErrConfig) {
		t.Errorf("svg: error %v", err)
	}
}
