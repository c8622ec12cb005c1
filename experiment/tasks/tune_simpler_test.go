package tasks_test

import (
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dsbo/experiment"
	"dsbo/experiment/tasks"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

// TestTuneSimpler: where a network is chosen, the best constant of a linear model stands in the
// table, and the verdict says that it does as well: the target is linear in age. A linear model has
// none beside it.
func TestTuneSimpler(t *testing.T) {
	folder := t.TempDir()
	data := "-data=" + writeSites(t, folder, 2)
	for _, model := range []string{"mlp", "linear"} {
		out := runs.Folder(filepath.Join(folder, model))
		testkit.OK(experiment.Run(t.Context(), tasks.Tune(),
			[]string{data, "-target=cost", "-drop=ill,visits", "-folds=0", "-model=" + model, "-K=1",
				"-alone=false", "-evaluate=off", "-quiet", "-report=false", "-out=" + string(out)},
			io.Discard, io.Discard))
		s := testkit.Get(out.ReadSummary())
		beside := strings.HasPrefix(s.Models[0].Name, "linear, λ = ") && s.Models[0].TestLoss.Known() &&
			!s.Models[0].Lambda.Known()
		said := slices.ContainsFunc(s.Verdict.Notes,
			func(note string) bool { return strings.HasPrefix(note, "A simpler model does ") })
		if want := model == "mlp"; beside != want || said != want {
			t.Errorf("%s: the first model is %+v, the notes are %q", model, s.Models[0], s.Verdict.Notes)
		}
	}
}
