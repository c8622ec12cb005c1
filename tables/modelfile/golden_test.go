package modelfile_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/runs"
	"dsbo/tables"
	"dsbo/tables/modelfile"
)

// golden is the folder of a model with whole weights. Models of that format must be readable from
// now on.
const golden = "testdata/golden"

// goldenModel is the model of the golden files.
func goldenModel() *modelfile.Model {
	r := recipe(classes)
	y := make([]float64, 3*(len(r.Features())+1))
	for i := range y {
		y[i] = float64(i%7 - 3)
	}
	return testkit.Get(modelfile.New(r, models.Linear{Features: len(r.Features()), Outputs: 3}, y,
		modelfile.Origin{Program: "dsbo", Made: "2026-01-02T03:04:05Z", Run: "golden", Lambda: "lambda.csv"}))
}

// TestGolden: what is written has the bytes of the golden files. DSBO_GOLDEN=write in the
// environment replaces these.
func TestGolden(t *testing.T) {
	if os.Getenv("DSBO_GOLDEN") == "write" {
		testkit.OK(os.MkdirAll(golden, 0o755))
		testkit.OK(goldenModel().Write(golden, ""))
	}
	folder := t.TempDir()
	testkit.OK(goldenModel().Write(runs.Folder(folder), ""))
	for _, name := range []string{runs.ModelFile, runs.WeightsFile, runs.ONNXFile} {
		got, want := testkit.Get(os.ReadFile(filepath.Join(folder, name))),
			testkit.Get(os.ReadFile(filepath.Join(golden, name)))
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not that of %s", name, golden)
		}
	}
	people := testkit.Get(tables.Open(filepath.Join(golden, "people.csv"), recipe(classes).Options()))
	agree(t, golden, predictions(goldenModel(), people), people)
}
