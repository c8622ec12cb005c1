package modelfile_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/runs"
	"dsbo/tables"
	"dsbo/tables/features"
	"dsbo/tables/modelfile"
)

// sparseRecipe is one of a LIBSVM file, two of whose columns were 0 in training.
func sparseRecipe() features.Recipe {
	return features.Recipe{Target: classes,
		Sparse: &features.Sparse{Columns: 5, Indices: features.Line[int]{1, 3, 4},
			Scales: features.Line[float64]{1, .5, 3e4}}}
}

// sparseModel makes a model with random weights of a recipe.
func sparseModel(r *rand.Rand, rec features.Recipe) *modelfile.Model {
	y := make([]float64, 3*(len(rec.Features())+1))
	for i := range y {
		y[i] = r.NormFloat64()
	}
	return testkit.Get(modelfile.New(rec, models.Linear{Features: len(rec.Features()), Outputs: 3}, y,
		modelfile.Origin{}))
}

// sparseRows are rows with columns that the recipe knows, columns that were 0, and one that
// training did not have.
func sparseRows() *tables.Table {
	text := "0 1:2 3:1 4:50000\n0\n0 2:7 5:3\n0 3:-1 9:4\n"
	return testkit.Get(tables.Read("new.svm", strings.NewReader(text), int64(len(text)), tables.Options{}))
}

// TestSparseFilesAgree: all files of a model of sparse columns predict the same, and as the same
// model of dense columns.
func TestSparseFilesAgree(t *testing.T) {
	m, data, folder := sparseModel(rand.New(rand.NewPCG(8, 8)), sparseRecipe()), sparseRows(), runs.Folder(t.TempDir())
	testkit.OK(m.Write(folder))
	want := predictions(m, data)
	agree(t, folder, want, data)
	dense := features.Recipe{Target: classes}
	for k := range 3 {
		dense.Inputs = append(dense.Inputs, sparseRecipe().Input(k))
	}
	numbers := testkit.Get(tables.New("new.csv", tables.NumberColumn("f1", []float32{2, 0, 0, 0}),
		tables.NumberColumn("f3", []float32{1, 0, 0, -1}),
		tables.NumberColumn("f4", []float32{50000, 0, 0, 0})))
	compare(t, predictions(m.Adapted(dense), numbers), want)
}

// TestSparseAdapted: a model goes on with other columns and scales; what was not there has
// no weight.
func TestSparseAdapted(t *testing.T) {
	m := sparseModel(rand.New(rand.NewPCG(8, 9)), sparseRecipe())
	now := features.Recipe{Target: classes,
		Sparse: &features.Sparse{Columns: 9, Indices: features.Line[int]{1, 2, 3, 4, 9},
			Scales: features.Line[float64]{7, 2, 1, 1, .1}}}
	compare(t, predictions(m.Adapted(now), sparseRows()), predictions(m, sparseRows()))
}

func TestSparseRecipeRefused(t *testing.T) {
	folder := runs.Folder(t.TempDir())
	testkit.OK(sparseModel(rand.New(rand.NewPCG(8, 8)), sparseRecipe()).Write(folder))
	path := folder.Path(runs.ModelFile)
	text := string(testkit.Get(os.ReadFile(path)))
	for _, c := range []struct{ from, to, says string }{
		{`"1 3 4"`, `"1 4 3"`, "sparse columns: indices must ascend from 1 to 5; 3 follows 4"},
		{`"1 3 4"`, `"1 3 6"`, "indices must ascend from 1 to 5; 6 follows 3"},
		{`"1 3 4"`, `"1 3 x"`, "a list must be numbers with spaces between"},
		{`"1 0.5 30000"`, `"1 0.5"`, "there must be a scale for each of 3 features; there are 2"},
		{`"1 0.5 30000"`, `"1 0 30000"`, "index 3: mean and deviation must be finite, and the deviation positive"},
		{`"columns": 5`, `"columns": 1000000000`, "there must be at most 134217728"},
		{`"sparse"`, `"inputs": [{"name": "age", "kind": "number", "deviation": 1}], "sparse"`,
			"there must be no inputs beside them; there are 1"},
	} {
		changed := strings.Replace(text, c.from, c.to, 1)
		testkit.OK(folder.WriteFile(runs.ModelFile, []byte(changed)))
		_, err := modelfile.Open(string(folder))
		if changed == text || !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v; it must have %q", c.to, err, c.says)
		}
	}
}
