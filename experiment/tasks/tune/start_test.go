package tune_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dsbo"
	"dsbo/experiment"
	"dsbo/experiment/experimenttest"
	"dsbo/experiment/tasks/tune"
	"dsbo/internal/testkit"
	"dsbo/runs"
	"dsbo/train"
)

// runTune runs tune on three sites for an iteration, and returns where it started.
func runTune(t *testing.T, folder runs.Folder, flags ...string) (x, y []float64, err error) {
	t.Helper()
	task := tune.Task()
	all := arguments(folder, append(flags, "-target=ill -K=1 -alone=false -folds=0")...)
	if err := testkit.Get(experiment.Parse(task, all, io.Discard)).Run(t.Context(), nil, io.Discard); err != nil {
		return nil, nil, err
	}
	x, y = task.Start()
	return x, y, nil
}

// lambdas returns the λ of a run by name.
func lambdas(f runs.Folder) map[string]float64 {
	of := map[string]float64{}
	for _, p := range testkit.Get(f.ReadLambdaTable()) {
		of[p.Name] = p.Lambda
	}
	return of
}

func TestTuneFrom(t *testing.T) {
	folder := t.TempDir()
	data, first := "-data="+writeSites(t, folder, 3), runs.Folder(filepath.Join(folder, "first"))
	testkit.Get2(runTune(t, first, data, "-drop=cost,visits", "-refit=none"))
	earlier := lambdas(first)

	t.Run("same rows", func(t *testing.T) {
		again := runs.Folder(filepath.Join(folder, "again"))
		testkit.Get2(runTune(t, again, data, "-drop=cost,visits -refit=none", "-from="+string(first)))
		for _, name := range []string{runs.WeightsFile, runs.LambdaTableFile} {
			if !bytes.Equal(testkit.Get(first.ReadFile(name)), testkit.Get(again.ReadFile(name))) {
				t.Errorf("%s is another one than of the run of the same rows", name)
			}
		}
	})
	t.Run("other rows", func(t *testing.T) {
		again := runs.Folder(filepath.Join(folder, "others"))
		x, y := testkit.Get2(runTune(t, again, data, "-drop=cost,visits -seed=2 -K=20 -eval-every=5",
			"-from="+string(first)))
		if !slices.Equal(x, testkit.Get(first.ReadLambda())) || len(y) == 0 {
			t.Errorf("λ starts at %v, want that of the earlier run", x)
		}
		// The prior is around that λ, and adds nothing there; Φ is of the solution.
		if first := testkit.Get(again.Records())[0]; !(first.Phi > 0 && first.Phi < first.ValLoss) {
			t.Errorf("Φ begins at %g, want less than the validation loss %g", first.Phi, first.ValLoss)
		}
	})
	t.Run("other columns", func(t *testing.T) {
		x, y := testkit.Get2(runTune(t, runs.Folder(filepath.Join(folder, "other")), data, "-drop=visits,noise",
			"-from="+string(first)))
		mean, names := 0., []string{"age", "age missing", "colour=blue", "colour=green", "colour=red", "cost"}
		for _, name := range names[:5] {
			mean += earlier[name] / 5
		}
		for k, name := range names {
			want, known := earlier[name]
			if !known {
				want = mean
			}
			if len(x) != len(names) || !(math.Abs(x[k]-want) <= 1e-12*math.Abs(want)) {
				t.Fatalf("λ starts at %v; number %d, of %s, must be %g", x, k, name, want)
			}
		}
		if len(y) != 2*(len(names)+1) {
			t.Errorf("y starts at %d numbers, want the earlier model's", len(y))
		}
	})
	t.Run("other model", func(t *testing.T) {
		x, y := testkit.Get2(runTune(t, runs.Folder(filepath.Join(folder, "mlp")), data, "-drop=cost,visits",
			"-model=mlp", "-hidden=3", "-seed=2", "-from="+string(first)))
		if len(x) != 8 || y != nil {
			t.Errorf("λ starts at %v, y at %v; want 8 numbers, and the model's own start", x, y)
		}
	})
	t.Run("conformance", func(t *testing.T) {
		if testing.Short() {
			t.Skip("like TestTune")
		}
		experimenttest.TestTask(t, tune.Task(), "-target=ill", "-drop=cost,visits", data, "-from="+string(first))
	})
	for says, flags := range map[string][]string{
		"-from must be the folder of a run of tune that has finished": {"-from=" + folder},
		"-from {site}: {site} must be {agent}":                        {"-from={site}"},
		"-x0 must not be given where x has a start of its own":        {"-from=" + string(first), "-x0=1"},
	} {
		_, _, err := runTune(t, runs.Folder(filepath.Join(folder, "wrong")), append(flags, data)...)
		if !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: error %v, want %q", flags, err, says)
		}
	}
}

// A stopper is a viewer that interrupts a run once its first checkpoint is written.
type stopper struct{ cancel func() }

func (stopper) Show(experiment.Progress)     {}
func (stopper) Log(string, ...any)           {}
func (stopper) Note(experiment.Note)         {}
func (stopper) Record(runs.Record, []string) {}
func (s stopper) Saved(int)                  { s.cancel() }
func (stopper) Stop()                        {}

// TestFeatureStartsAtStructures: with folds, the penalties of features start at the λ of structures
// of penalties, as the run says, unless -from or -x0 says where; an interrupt changes no bit.
func TestFeatureStartsAtStructures(t *testing.T) {
	folder := t.TempDir()
	data, whole, resumed := "-data="+writeSites(t, folder, 3), filepath.Join(folder, "whole"),
		filepath.Join(folder, "resumed")
	job := func(task experiment.Task, out string, flags ...string) *experiment.Job {
		flags = append(flags, data, "-target=ill -drop=cost,visits -folds=2 -penalty=feature -K=3",
			"-checkpoint-every=1 -alone=false")
		return testkit.Get(experiment.Parse(task, arguments(runs.Folder(out), flags...), io.Discard))
	}
	startsAtStructures := func(out string) bool {
		notes := testkit.Get(runs.Folder(out).ReadSummary()).Verdict.Notes
		return len(notes) > 0 && strings.HasPrefix(notes[0], "λ starts at ") &&
			strings.Contains(notes[0], "structures of penalties")
	}
	task := tune.Task()
	testkit.OK(job(task, whole).Run(t.Context(), nil, io.Discard))
	found := testkit.Get(runs.Folder(whole).ReadSetup()).Found
	want := testkit.Get(runs.Folder(whole).ReadLambda())
	if x, _ := task.Start(); !slices.Equal(x, found[len(found)-1].Sum) || len(x) != len(want) || slices.Equal(x, want) {
		t.Errorf("λ starts at %v, among what was found together is %v, the end is %v", x, found[len(found)-1].Sum, want)
	}
	if !startsAtStructures(whole) {
		t.Error("the run does not say where λ starts")
	}

	first := job(tune.Task(), resumed)
	ctx, cancel := context.WithCancel(t.Context())
	first.View = stopper{cancel}
	if err := first.Run(ctx, nil, io.Discard); !errors.Is(err, train.ErrInterrupted) {
		t.Fatalf("error %v; it must be an interrupt", err)
	}
	testkit.OK(job(tune.Task(), resumed, "-resume").Run(t.Context(), nil, io.Discard))
	if got := testkit.Get(runs.Folder(resumed).ReadLambda()); !slices.Equal(got, want) || !startsAtStructures(resumed) {
		t.Errorf("the resumed run ends at λ = %v, want %v, and says where it starts: %t", got, want,
			startsAtStructures(resumed))
	}

	for _, flag := range []string{"-from=" + whole + " -seed=2", "-x0=1"} {
		out := filepath.Join(folder, flag[1:3])
		testkit.OK(job(tune.Task(), out, flag).Run(t.Context(), nil, io.Discard))
		if startsAtStructures(out) {
			t.Errorf("with %s the run starts at structures", flag)
		}
	}
}

// writeNumbers writes a table of five columns of numbers for each of four sites, with a class that
// all of them tell of and a column that splits the rows, and returns the value of -data.
func writeNumbers(folder string, rows int) string {
	r := rand.New(rand.NewPCG(0, 5))
	var weights [5]float64
	for j := range weights {
		weights[j] = 1.5 * r.NormFloat64()
	}
	for i := range 4 {
		var b strings.Builder
		b.WriteString("a,b,c,d,e,set,class\n")
		for row := range rows {
			output := 0.0
			for _, w := range weights {
				v := r.NormFloat64()
				output += w * v
				fmt.Fprintf(&b, "%.4f,", v)
			}
			class := "no"
			if r.Float64() < 1/(1+math.Exp(-output)) {
				class = "yes"
			}
			fmt.Fprintf(&b, "%s,%s\n", []string{"train", "validation", "train", "test"}[row%4], class)
		}
		testkit.OK(os.WriteFile(filepath.Join(folder, fmt.Sprintf("site%d.csv", i)), []byte(b.String()), 0o644))
	}
	return filepath.Join(folder, "site{agent}.csv")
}

// TestTuneReaches: where weak penalties are best, and the iterations fall short of them, the tuned
// λ is below the best constant all the same.
func TestTuneReaches(t *testing.T) {
	folder := t.TempDir()
	s := tuned(t, runs.Folder(filepath.Join(folder, "run")), "-data="+writeNumbers(folder, 200),
		"-target=class -split-column=set -folds=0 -prior=0.5 -alone=false")
	last := len(s.Models) - 1
	one := s.Models[last]
	for _, m := range s.Models[:last] {
		if !(one.Phi < m.Phi) {
			t.Errorf("Φ of %s is %g, that of %s %g", one.Name, one.Phi, m.Name, m.Phi)
		}
	}
	if notes := strings.Join(s.Verdict.Notes, " "); !one.Kept ||
		!strings.Contains(notes, "was found downhill from there") {
		t.Errorf("the tuned λ is kept: %t; notes: %s", one.Kept, notes)
	}
}

// TestTunePrivately: with differential privacy the recipe is an earlier run's, and without one it
// is refused.
func TestTunePrivately(t *testing.T) {
	folder := t.TempDir()
	first, second := filepath.Join(folder, "first"), filepath.Join(folder, "second")
	data := "-data=" + writeSites(t, folder, 3)
	run := func(out, flags string) error {
		return runTask(t, runs.Folder(out), data, "-target=ill -drop=cost,visits -K=3", flags)
	}
	if err := run(second, "-dp-epsilon=5"); !errors.Is(err, dsbo.ErrConfig) ||
		!strings.Contains(err.Error(), "-from must name a run of tune") {
		t.Errorf("without -from: %v", err)
	}
	testkit.OK(run(first, ""))
	testkit.OK(run(second, "-dp-epsilon=5 -from="+first))
	s := testkit.Get(runs.Folder(second).ReadSummary())
	if s.Privacy == nil || s.Privacy.Epsilon != 5 || s.Traffic.Setup.Bytes > 0 || s.ValLoss.Known() ||
		!s.TestLoss.Known() {
		t.Errorf("privacy %+v, %d bytes as it loaded, validation loss %v, test loss %v", s.Privacy,
			s.Traffic.Setup.Bytes, s.ValLoss, s.TestLoss)
	}
	if there := testkit.Get(runs.Folder(second).Has(runs.ModelFile)); !there {
		t.Error("there is no model to predict with")
	}
	if err := run(second, "-dp-epsilon=5 -model=mlp -force -from="+first); !errors.Is(err, dsbo.ErrConfig) {
		t.Errorf("a network: %v", err)
	}
}
