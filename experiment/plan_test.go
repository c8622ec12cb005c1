package experiment

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"dsbo"
	"dsbo/algo"
	"dsbo/experiment/site"
	"dsbo/internal/cli"
	"dsbo/internal/testkit"
	"dsbo/network"
	"dsbo/runs"
)

// planned returns the plan of the task's command line, with a pilot that may take so long.
func planned(t *testing.T, within time.Duration, args ...string) *site.Plan {
	t.Helper()
	args = append([]string{"-agents=3", "-quiet", "-report=false", "-K=5", "-x0=-3"}, args...)
	return testkit.Get(testkit.Get(Parse(newMean(), args, io.Discard)).Plan(t.Context(), within, io.Discard))
}

// checkPlan checks that a plan's ranges hold what a run has sent, but for the rounding of mean
// lengths, and its share what each agent has sent in iterations.
func checkPlan(t *testing.T, args any, p *site.Plan, s runs.Summary) {
	t.Helper()
	sent := site.Plan{Phases: map[string]site.Sending{}}
	sent.Use(site.Pilot{Traffic: s.Traffic})
	for _, phase := range site.Phases {
		got, of := sent.Phases[phase], p.Phases[phase]
		for unit, c := range map[string][2]site.Range{"bytes": {got.Bytes, of.Bytes},
			"messages": {got.Messages, of.Messages}} {
			if n := c[0].Least; n < c[1].Least*(1-1e-9) || n > c[1].Most*(1+1e-9) {
				t.Errorf("%v: %s: %.0f %s were sent; the plan has %.0f", args, phase, n, unit, c[1])
			}
		}
	}
	for i, u := range s.PerAgent {
		if share := float64(u.Bytes) / float64(s.Traffic.Method.Bytes); share > p.Share*(1+1e-9) {
			t.Errorf("%v: agent %d has sent %g of all bytes; the plan has %g at most", args, i, share, p.Share)
		}
	}
}

// TestPlanHoldsWhatIsSent: what a run sends in each phase lies in the plan's ranges, whatever the
// method, graph and wire. In iterations of a method of fixed cost it is the plan, to the byte.
func TestPlanHoldsWhatIsSent(t *testing.T) {
	const steps = " -alpha=0.1 -beta=0.01 -gamma=0.01"
	averaging := []string{"newtoncg", "adamcg", "search"} // whose averages may ask for scales
	type line struct {
		args  string
		exact bool
	}
	lines := []line{
		{"", false}, {"-graph=star -wire=int8", false}, {"-set=most=1 -set=init=x0 -sums -agents=4", false},
		{"-dp-epsilon=5 -eval-every=2 -graph=star -wire=float64", true}, {"-dp-epsilon=5 -agents=5 -graph=path", true},
		{"-algorithm=dsoba -wire=int8 -agents=6 -graph=torus -evaluate=off" + steps, false},
		{"-algorithm=madsbo_tuned -preset=private -evaluate=off -graph=path -agents=5", true},
		{"-algorithm=dsoba -agents=40 -graph=erdos-renyi -rivals=false -evaluate=off" + steps, true},
	}
	for _, name := range algo.Names() {
		traits := algo.TraitsOf(testkit.Get(algo.New(name)))
		if graph := map[bool]string{true: "server", false: "ring"}[traits.ExactAverage]; !traits.OneAgent &&
			!traits.Compositional && !testing.Short() {
			lines = append(lines, line{"-algorithm=" + name +
				" -agents=5 -eval-every=1 -K=4 -evaluate=off -rivals=false " +
				"-wire=float64 -graph=" + graph + steps,
				!slices.Contains(averaging, name)})
		}
	}
	for _, c := range lines {
		args := append(strings.Fields(c.args), "-rows=50")
		p := planned(t, 0, args...)
		s, err := runMean(t.Context(), filepath.Join(t.TempDir(), "run"), args...)
		if err != nil {
			t.Errorf("%v: %v", args, err)
			continue
		}
		checkPlan(t, args, p, s)
		if r := p.Phases[site.Iterations].Bytes; c.exact != (r.Least >= r.Most*(1-1e-9)) {
			t.Errorf("%v: iterations have %.0f bytes; that this is a number must be %t", args, r, c.exact)
		}
	}
}

// TestPlanOfPatience: a run of patience n may end after n records behind the first one, so that
// its iterations send at least what as many iterations do, and at most what all do.
func TestPlanOfPatience(t *testing.T) {
	sent := func(args string) site.Sending {
		return planned(t, 0, strings.Fields("-rows=50 -algorithm=dsoba -alpha=0.1 -beta=0.01 -gamma=0.01 "+
			"-holdout=0.2 -eval-every=3 "+args)...).Phases[site.Iterations]
	}
	all, ends := sent("-K=20 -patience=0").Bytes, sent("-K=6 -patience=0").Bytes
	if got := sent("-K=20 -patience=2").Bytes; got.Least != ends.Least || got.Most != all.Most ||
		!(ends.Least < all.Least) {
		t.Errorf("iterations send %.0f bytes; of 6 it is %.0f, of all %.0f", got, ends, all)
	}
	if got := sent("-K=6 -patience=3").Bytes; got != ends {
		t.Errorf("a run that ends before its patience does sends %.0f bytes, want %.0f", got, ends)
	}
}

// TestPlanOfMany: the path of 1200 agents has its tree's root in the middle, and the agents in
// between send two of 2 · 1199 vectors of a sum each, as by Mix.
func TestPlanOfMany(t *testing.T) {
	p := planned(t, 0, "-agents=1200", "-rows=2", "-graph=path")
	if p.Height != 600 || p.Share != 1./1199 {
		t.Errorf("height %d, share %g", p.Height, p.Share)
	}
}

// TestPilotIsWhatIsSent: after a pilot the plan has what a run sends, by phases and in all, to the
// byte, and the pilot leaves nothing behind. One that takes too long changes nothing; of no time
// there is none.
func TestPilotIsWhatIsSent(t *testing.T) {
	for _, args := range [][]string{
		{"-rows=50", "-K=3"},
		{"-rows=40", "-graph=star", "-wire=int8", "-seed=4", "-K=3"},
		{"-rows=60", "-algorithm=madsbo_tuned", "-K=4", "-agents=4"},
		{"-rows=50", "-dp-epsilon=5"},
	} {
		kept := t.TempDir()
		t.Setenv("TMPDIR", kept)
		p := planned(t, time.Hour, args...)
		if left := testkit.Get(os.ReadDir(kept)); len(left) > 0 {
			t.Errorf("%v: the pilot left %v", args, left)
		}
		s := testkit.Get(runMean(t.Context(), filepath.Join(t.TempDir(), "run"), args...))
		checkPlan(t, args, p, s)
		if all := p.All(); p.Pilot == nil || all.Bytes.Least != all.Bytes.Most ||
			all.Messages.Least != all.Messages.Most ||
			all.Bytes.Least != float64(s.BytesSent) {
			t.Errorf("%v: pilot %+v, %+v in all, %d bytes sent", args, p.Pilot, all, s.BytesSent)
		}
		if testing.Short() {
			break
		}
	}
	p := planned(t, time.Nanosecond, "-rows=50")
	t.Setenv("TMPDIR", "/none") // where no pilot could begin
	before := planned(t, 0, "-rows=50")
	if p.Pilot != nil || p.All() != before.All() {
		t.Errorf("pilot %+v, %+v in all; it was %+v", p.Pilot, p.All(), before.All())
	}
}

// TestExplainPrivacy: the explanation has each quantity of the plan, and nothing is run.
func TestExplainPrivacy(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "run")
	seenBy := map[network.Way]string{network.BySum: "nobody: masked", network.ByMix: "each neighbour",
		network.ByMax: "its parent"}
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
