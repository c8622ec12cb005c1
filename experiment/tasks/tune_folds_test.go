package tasks_test

import (
	"io"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"dsbo/experiment"
	"dsbo/experiment/tasks"
	"dsbo/internal/testkit"
	"dsbo/runs"
	"dsbo/tables/modelfile"
)

// TestTuneFolds: with cross-validation all rows but the test rows train and validate, and the model
// that is kept is one model of them.
func TestTuneFolds(t *testing.T) {
	if testing.Short() {
		t.Skip("a run for each fold")
	}
	folder := t.TempDir()
	data, run := "-data="+writeSites(t, folder, 3), runs.Folder(filepath.Join(folder, "run"))
	weights := func(flags ...string) int {
		all := append([]string{"-target=ill", "-K=2", "-quiet", "-report=false", "-force", "-out=" + string(run), data},
			flags...)
		testkit.OK(testkit.Get(experiment.Parse(tasks.Tune(), all, io.Discard)).Run(t.Context(), nil, io.Discard))
		m := testkit.Get(modelfile.Read(run.Path(runs.ModelFile)))
		n := 0
		for _, layer := range m.Layers {
			n += len(layer.Weights) + len(layer.Bias)
		}
		return n
	}
	plain, folded := weights("-folds=0"), weights("-folds=3")
	if plain != folded {
		t.Errorf("the model has %d weights with cross-validation, %d without", folded, plain)
	}
	s := testkit.Get(run.ReadSummary())
	for _, m := range s.Models {
		if math.IsNaN(float64(m.ValLoss)) || !m.Converged {
			t.Errorf("model %s: validation loss %g, converged %t", m.Name, float64(m.ValLoss), m.Converged)
		}
	}
}

func TestTuneFoldsFlag(t *testing.T) {
	for _, flags := range [][]string{{"-folds=1"}, {"-folds=many"}, {"-folds=5", "-model=mlp"}, {"-prior=-1"}} {
		j, err := experiment.Parse(tasks.Tune(), append(flags, "-target=ill", "-data=none.csv"), io.Discard)
		if err == nil {
			err = j.Run(t.Context(), nil, io.Discard)
		}
		if name, _, _ := strings.Cut(flags[0], "="); err == nil || !strings.HasPrefix(err.Error(), name+" must be") {
			t.Errorf("%v: error %v", flags, err)
		}
	}
}
