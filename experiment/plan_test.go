package experiment

import (
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"dsbo/internal/cli"
	"dsbo/internal/must"
	"dsbo/runs"
)

// planned returns the plan of the task's command line.
func planned(t *testing.T, args ...string) *Plan {
	t.Helper()
	args = append([]string{"-agents=3", "-quiet", "-report=false", "-K=5", "-x0=-3"}, args...)
	return must.Get(must.Get(Parse(new(mean), args, io.Discard)).Plan(t.Context()))
}

// checkSent compares a phase of a plan with what was counted: they must be the same, but for rounding and a share of it.
func checkSent(t *testing.T, args []string, phase string, r Range, sent runs.Sent, share float64) {
	t.Helper()
	if got := float64(sent.Bytes); math.Abs(r.Usual-got) > share*got+1e-6*got {
		t.Errorf("%v: %s: %.0f bytes are planned, %.0f were sent", args, phase, r.Usual, got)
	}
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
		plan := planned(t, args...)
		s := must.Get(runMean(t.Context(), filepath.Join(t.TempDir(), "run"), args...))
		checkSent(t, args, "loading", plan.All.Phases[phaseLoading].Bytes, s.Traffic.Setup, 0)
		checkSent(t, args, "iterations", plan.All.Phases[phaseIterations].Bytes, s.Traffic.Method, 0)
		// A variable that all agents still have alike at a record is not exchanged there.
		checkSent(t, args, "evaluation", plan.All.Phases[phaseEvaluation].Bytes, s.Traffic.Evaluation, 0.06)
		if s.Privacy != nil {
			checkSent(t, args, "models", plan.All.Phases[phaseModels].Bytes, s.Traffic.Models, 0)
		}
	}
}

// TestPlanHoldsTheDefault: what the default sends lies between the least and the most of its plan.
func TestPlanHoldsTheDefault(t *testing.T) {
	plan := planned(t, "-rows=50")
	s := must.Get(runMean(t.Context(), filepath.Join(t.TempDir(), "run"), "-rows=50"))
	if got, r := float64(s.Traffic.Method.Bytes), plan.All.Phases[phaseIterations].Bytes; got < r.Least || got > r.Most {
		t.Errorf("%g bytes were sent in iterations; the plan has %+v", got, r)
	}
	if got, r := float64(s.Traffic.Total().Bytes), plan.All.Bytes; got < r.Least || got > r.Most {
		t.Errorf("%g bytes were sent; the plan has %+v", got, r)
	}
}

// TestExplainPrivacy: the explanation has each quantity of the plan, and nothing is run.
func TestExplainPrivacy(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "run")
	for _, args := range [][]string{nil, {"-dp-epsilon=5"}, {"-algorithm=dsoba"}} {
		var out strings.Builder
		args = append([]string{"-agents=3", "-rows=50", "-out=" + folder, "-explain-privacy"}, args...)
		must.OK(Run(t.Context(), new(mean), args, &out, io.Discard))
		for _, q := range must.Get(must.Get(Parse(new(mean), args, io.Discard)).Plan(t.Context())).Quantities {
			if line := regexp.MustCompile(`(?m)^  ` + regexp.QuoteMeta(q.Name) + ` .* ` + q.timesText() + ` .*` + q.observers()); !line.MatchString(out.String()) {
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

// TestSecondsOfALink: time grows with latency and with bytes.
func TestSecondsOfALink(t *testing.T) {
	plan := planned(t, "-dp-epsilon=5", "-rows=50")
	near, far, thin := plan.Seconds(Link{Mbit: 100}), plan.Seconds(Link{Mbit: 100, Ms: 50}), plan.Seconds(Link{Mbit: 10})
	if !(near.Usual < far.Usual) || math.Abs(thin.Usual/near.Usual-10) > 1e-9 {
		t.Errorf("%g s without latency, %g s with it, %g s on a tenth of the rate", near.Usual, far.Usual, thin.Usual)
	}
}
