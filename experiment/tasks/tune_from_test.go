package tasks_test

import (
	"errors"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dsbo"
	"dsbo/experiment"
	"dsbo/experiment/experimenttest"
	"dsbo/experiment/tasks"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

// runTune runs tune on three sites for an iteration, and returns where it started.
func runTune(t *testing.T, folder runs.Folder, flags ...string) (x, y []float64, err error) {
	t.Helper()
	task := tasks.Tune()
	all := slices.Concat([]string{"-target=ill", "-K=1", "-quiet", "-report=false", "-alone=false", "-folds=0",
		"-out=" + string(folder)}, flags)
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

	t.Run("same", func(t *testing.T) {
		again := runs.Folder(filepath.Join(folder, "again"))
		x, y := testkit.Get2(runTune(t, again, data, "-drop=cost,visits", "-from="+string(first)))
		if !slices.Equal(x, testkit.Get(first.ReadLambda())) || len(y) == 0 {
			t.Errorf("λ starts at %v, want that of the earlier run", x)
		}
		// The prior is around that λ, and adds nothing there.
		if first := testkit.Get(again.Records())[0]; math.Abs(float64(first.Phi-first.ValLoss)) > 1e-3 {
			t.Errorf("Φ begins at %g, want about the validation loss %g", first.Phi, first.ValLoss)
		}
		s := testkit.Get(first.ReadSummary())
		kept := s.Models[slices.IndexFunc(s.Models, func(m runs.Model) bool { return m.Kept })]
		// The losses are of one model, whose weights are rounded to float32 in between.
		if got := testkit.Get(again.Records())[0].ValLoss; math.Abs(float64(got-kept.ValLoss)) > 1e-5 {
			t.Errorf("the validation loss begins at %g, want %g, that of the earlier model", got, kept.ValLoss)
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
			if len(x) != len(names) || math.Abs(x[k]-want) > 1e-12*math.Abs(want) {
				t.Fatalf("λ starts at %v; number %d, of %s, must be %g", x, k, name, want)
			}
		}
		if len(y) != 2*(len(names)+1) {
			t.Errorf("y starts at %d numbers, want the earlier model's", len(y))
		}
	})
	t.Run("other model", func(t *testing.T) {
		x, y := testkit.Get2(runTune(t, runs.Folder(filepath.Join(folder, "mlp")), data, "-drop=cost,visits",
			"-model=mlp", "-hidden=3", "-from="+string(first)))
		if len(x) != 8 || y != nil {
			t.Errorf("λ starts at %v, y at %v; want 8 numbers, and the model's own start", x, y)
		}
	})
	t.Run("conformance", func(t *testing.T) {
		if testing.Short() {
			t.Skip("like TestTune")
		}
		experimenttest.TestTask(t, tasks.Tune(), "-target=ill", "-drop=cost,visits", data, "-from="+string(first))
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
