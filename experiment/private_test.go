package experiment

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"dsbo"
	"dsbo/data"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/runs"
	"dsbo/train"
)

// mean is a task of a moment whose losses are means; with sums it finds something together as
// it loads.
type mean struct {
	sums bool
	rows int
}

func newMean() Task {
	t := new(mean)
	return Task{Name: "mean", About: "takes a moment", Flags: t.Flags, Load: t.Load}
}

func (t *mean) Flags(f *flag.FlagSet) {
	f.BoolVar(&t.sums, "sums", false, "find a sum")
	f.IntVar(&t.rows, "rows", 2000, "training `rows`")
}
func (t *mean) Load(a Agents) (data.Task, models.Model, error) {
	if t.sums {
		if err := a.Collective.Sum("", make([]float64, 1), func(int, []float64) error { return nil }); err != nil {
			return data.Task{}, nil, err
		}
	}
	task, err := data.Synthetic{Agents: a.N, Features: 3, Train: t.rows, Val: t.rows, Test: 500, Rate: 1,
		Seed: a.Seed}.Task()
	return task, models.Logistic{Features: 3, Mean: true}, err
}

// runMean runs the task in a folder, and returns its summary.
func runMean(ctx context.Context, folder string, args ...string) (runs.Summary, error) {
	args = append([]string{"-agents=3", "-quiet", "-report=false", "-K=5", "-x0=-3", "-out=" + folder}, args...)
	if err := Run(ctx, newMean(), args, io.Discard, io.Discard); err != nil {
		return runs.Summary{}, err
	}
	return runs.Folder(folder).ReadSummary()
}

// TestPrivateRun: a run with differential privacy reports its cost, and leaves nothing that has no
// noise, nor the noise's secrets.
func TestPrivateRun(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "run")
	s := testkit.Get(runMean(t.Context(), folder, "-dp-epsilon=5"))
	want := runs.Privacy{Epsilon: 5, Delta: 1e-5, Clip: 1, LeastRows: 2000, Answers: [3]int{5 * (8 + 4), 5, 2}}
	if s.Privacy == nil {
		t.Fatal("the summary does not tell of privacy")
	}
	got := *s.Privacy
	if got.Noise = [3]float64{}; got != want {
		t.Errorf("privacy %+v, want %+v", got, want)
	}
	for rows, sigma := range s.Privacy.Noise {
		if sigma < 0.5 || sigma > 30 { // √(2T log(1/δ))/ε to about a factor of 2, T from 2 to 60
			t.Errorf("noise of kind %d is %g", rows, sigma)
		}
	}
	if s.PhiEnd.Known() || s.ValLoss.Known() || s.TrainLoss.Known() || len(s.Models) > 0 || len(s.Verdict.Gains) > 0 {
		t.Errorf("there is more than has noise: %+v", s)
	}
	// Losses of test rows are shares of 8 with noise 8 σ √2 / 500 < 0.1; without a model they are
	// log 2.
	if !(s.TestLoss < 0.6) || !(s.TestAccuracy > 0.7) {
		t.Errorf("test loss %g, accuracy %g: the model must have learned", s.TestLoss, s.TestAccuracy)
	}
	if !strings.Contains(strings.Join(s.Verdict.Notes, " "), "ε = 5, δ = 1e-05") {
		t.Errorf("notes %q must tell of ε and δ", s.Verdict.Notes)
	}
	if paths := testkit.Get(runs.Folder(folder).PathsWithPrefix(runs.NoisePrefix)); len(paths) > 0 {
		t.Errorf("%q must be gone with the run", paths)
	}
}

// TestPrivateRunGoesOn: a run that was stopped ends with the same bits, and asks nothing twice;
// another run has other noise.
func TestPrivateRunGoesOn(t *testing.T) {
	base := t.TempDir()
	folder := filepath.Join(base, "run")
	j := testkit.Get(Parse(newMean(), strings.Fields(
		"-agents=3 -quiet -report=false -K=5 -x0=-3 -dp-epsilon=5 -checkpoint-every=1 -out="+folder), io.Discard))
	ctx, cancel := context.WithCancel(t.Context())
	j.View = interruptAfter(2, cancel)
	if err := j.Run(ctx, nil, io.Discard); !errors.Is(err, train.ErrInterrupted) {
		t.Fatal(err)
	}
	other := filepath.Join(base, "copy")
	testkit.OK(os.CopyFS(other, os.DirFS(folder)))
	testkit.Get(runMean(t.Context(), folder, "-resume"))
	testkit.Get(runMean(t.Context(), other, "-resume"))
	lambda := testkit.Get(runs.Folder(folder).ReadLambda())
	if again := testkit.Get(runs.Folder(other).ReadLambda()); !slices.Equal(lambda, again) {
		t.Errorf("from one checkpoint λ is %v and %v", lambda, again)
	}
	testkit.Get(runMean(t.Context(), filepath.Join(base, "new"), "-dp-epsilon=5"))
	if fresh := testkit.Get(runs.Folder(filepath.Join(base, "new")).ReadLambda()); slices.Equal(lambda, fresh) {
		t.Error("two runs have one noise")
	}
	if one := exampleDigests(t, folder); one == exampleDigests(t, filepath.Join(base, "new")) {
		t.Errorf("two runs have the digests %s of their rows, by which a row can be tried", one)
	}
}

// exampleDigests returns what stands for the agents' examples in the newest checkpoint of a run.
func exampleDigests(t *testing.T, folder string) string {
	t.Helper()
	paths := testkit.Get(runs.Folder(folder).Checkpoints(nil))
	if len(paths) == 0 {
		t.Fatalf("%s has no checkpoint", folder)
	}
	return regexp.MustCompile(`"examples":\[[^]]*\]`).FindString(string(testkit.Get(os.ReadFile(paths[len(paths)-1]))))
}

// TestPrivacyThatCannotBe: what has no bound is refused by name.
func TestPrivacyThatCannotBe(t *testing.T) {
	for _, c := range []struct {
		task Task
		args []string
		want string
	}{
		{newTiny(), nil, "models.Logistic with these settings has a loss whose terms have no known bound"}, // sums
		{newMean(), []string{"-sums"}, "sums and texts of the agents' data"},
		{newMean(), []string{"-algorithm=newtoncg"}, "newtoncg asks for losses, diagonals or matrices"},
		{newMean(), []string{"-algorithm=jhip"}, "jhip asks for losses, diagonals or matrices"},
		{newMean(), []string{"-dp-delta=0.001"}, "-dp-delta must be below 1/2000"},
	} {
		folder := filepath.Join(t.TempDir(), "run")
		err := Run(t.Context(), c.task, append(c.args, "-dp-epsilon=1", "-agents=2", "-quiet", "-K=2", "-out="+folder),
			io.Discard, io.Discard)
		if !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %v: error %v, want %q", c.task.Name, c.args, err, c.want)
		}
		if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s %v: a folder is there: %v", c.task.Name, c.args, err)
		}
	}
}

// newIdle returns a task with flags that its problem's settings do not tell.
func newIdle() Task {
	t := newTiny()
	flags := t.Flags
	t.Flags = func(f *flag.FlagSet) {
		flags(f)
		f.Bool("refit", false, "do more at the end")
		f.String("notes", "", "`folder` of no interest")
	}
	t.Describe = func(data.Task, models.Model) (map[string]any, string) { return map[string]any{}, "" }
	return t
}

// TestIdentity: a run does not go on with another value of any flag of its task, but with files
// that are elsewhere.
func TestIdentity(t *testing.T) {
	out := filepath.Join(t.TempDir(), "run")
	testkit.OK(runIn(t, newIdle(), out, crashing+" -notes=here"))
	resume := func(flags string) error {
		testkit.OK(runs.Folder(out).WriteSummary(runs.Summary{State: runs.Interrupted}))
		return runIn(t, newIdle(), out, "-resume "+flags)
	}
	if err := resume("-refit"); !errors.Is(err, dsbo.ErrConfig) ||
		!strings.Contains(err.Error(), "refit is false there, true here") {
		t.Errorf("%v, want that -refit is refused", err)
	}
	testkit.OK(resume("-notes=there"))
}

// TestOlderDefaults: a run resumes with the values of flags that it began with, also where a later
// program has other defaults, of a flag of its task and of K, and one more flag.
func TestOlderDefaults(t *testing.T) {
	out := filepath.Join(t.TempDir(), "run")
	older := newIdle()
	older.Presets[0].K = 4
	testkit.OK(runIn(t, older, out, strings.Replace(crashing, "-K=4 ", "", 1)))
	newer := newIdle()
	newer.Presets[0].K = 8
	flags := newer.Flags
	newer.Flags = func(f *flag.FlagSet) {
		flags(f)
		f.Lookup("refit").DefValue = "true"
		testkit.OK(f.Lookup("refit").Value.Set("true"))
		f.Int("later", 3, "`number` that the earlier program lacks")
	}
	resume := func(flags string) error {
		testkit.OK(runs.Folder(out).WriteSummary(runs.Summary{State: runs.Interrupted}))
		return runIn(t, newer, out, "-resume "+flags)
	}
	const other = "-later is unset there, 4 here"
	if err := resume("-later=4"); err == nil || !strings.Contains(err.Error(), other) {
		t.Errorf("%v, want that a value is refused which the earlier program did not have", err)
	}
	testkit.OK(resume(""))
	if got := testkit.Get(runs.Folder(out).ReadSummary()).Iterations; got != 4 {
		t.Errorf("%d iterations, want 4 as at the beginning", got)
	}
	if err := resume("-K=8"); err == nil || !strings.Contains(err.Error(), "-K is 4 there, 8 here") {
		t.Errorf("%v, want that another -K is refused", err)
	}
}
