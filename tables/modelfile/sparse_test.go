package modelfile_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"dsbo/internal/testkit"
	"dsbo/runs"
	"dsbo/tables"
	"dsbo/tables/features"
)

// sparseRecipe is one of a LIBSVM file, two of whose columns were 0 in training.
func sparseRecipe() features.Recipe {
	return features.Recipe{Target: classes,
		Sparse: &features.Sparse{Columns: 5, Indices: features.Line[int]{1, 3, 4},
			Scales: features.Line[float64]{1, .5, 3e4}}}
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
	m := modelOf(rand.New(rand.NewPCG(8, 8)), sparseRecipe(), nil, false)
	data, folder := sparseRows(), runs.Folder(t.TempDir())
	testkit.OK(m.Write(folder, ""))
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
	m := modelOf(rand.New(rand.NewPCG(8, 9)), sparseRecipe(), nil, false)
	now := features.Recipe{Target: classes,
		Sparse: &features.Sparse{Columns: 9, Indices: features.Line[int]{1, 2, 3, 4, 9},
			Scales: features.Line[float64]{7, 2, 1, 1, .1}}}
	compare(t, predictions(m.Adapted(now), sparseRows()), predictions(m, sparseRows()))
}
