package tasks_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsbo/experiment"
	"dsbo/experiment/tasks"
	"dsbo/internal/testkit"
	"dsbo/runs"
	tables "dsbo/tables"
	"dsbo/tables/modelfile"
)

// TestTuneSparse: LIBSVM files of two sites, of which one has a column more, become a model that
// predicts from such a file.
func TestTuneSparse(t *testing.T) {
	folder := t.TempDir()
	r := rand.New(rand.NewPCG(6, 6))
	for i := range 2 {
		var b strings.Builder
		for range 60 {
			label, v := -1, r.NormFloat64()
			if v > 0 {
				label = 1
			}
			fmt.Fprintf(&b, "%+d 2:%.4f %d:1\n", label, v, 3+r.IntN(2+i))
		}
		testkit.OK(os.WriteFile(filepath.Join(folder, fmt.Sprintf("site%d.svm", i)), []byte(b.String()), 0o644))
	}
	run := runs.Folder(filepath.Join(folder, "run"))
	testkit.OK(testkit.Get(experiment.Parse(tasks.Tune(),
		[]string{"-data=" + filepath.Join(folder, "site{agent}.svm"), "-target=label", "-K=2", "-folds=2", "-quiet",
			"-report=false", "-out=" + string(run)}, io.Discard)).Run(t.Context(), nil, io.Discard))
	m := testkit.Get(modelfile.Open(string(run)))
	if s := m.Recipe().Sparse; s == nil || s.Columns != 5 || len(s.Indices) != 4 {
		t.Errorf("recipe %+v; 4 of 5 columns must be features, those of both sites", s)
	}
	if names := testkit.Get(run.ReadLambdaTable()); len(names) != 4 || names[3].Name != "f5" {
		t.Errorf("penalties %+v; they must be those of f2 to f5", names)
	}
	in := testkit.Get(m.Recipe().NewEncoder(
		testkit.Get(tables.Open(filepath.Join(folder, "site1.svm"), m.Recipe().Options()))))
	if rows := m.Predict(in, 0, in.Rows()).Rows(); rows != 60 {
		t.Errorf("%d rows are predicted, want 60", rows)
	}
}
