package modelfile_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
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

// recipe is one with a number, a time and words, with and without indicators and rare words, and a
// column that is dropped.
func recipe(target features.Target) features.Recipe {
	return features.Recipe{Target: target, Inputs: []features.Input{
		{Name: "age", Kind: tables.Number, Mean: 50, Deviation: 12, Indicator: true},
		{Name: "colour", Kind: tables.Word, Words: []string{"red", "green, dark", "blue"}, Rare: true, Indicator: true},
		{Name: "site", Kind: tables.Word, Dropped: "constant"},
		{Name: "weight", Kind: tables.Number, Mean: -.5, Deviation: .01},
		{Name: "since", Kind: tables.Time, Unit: "day", Mean: 19000, Deviation: 300},
		{Name: "prediction", Kind: tables.Word, Words: []string{"yes", "nö"}},
	}}
}

var (
	classes = features.Target{Name: "diagnosis", Kind: features.Class, Classes: []string{"benign", "malignant", "?"}}
	value   = features.Target{Name: "price", Kind: features.Value, Mean: 1e5, Deviation: 3e4}
	count   = features.Target{Name: "visits", Kind: features.Counts}
	bounded = features.Target{Name: "visits", Kind: features.Counts, Most: 1.5}
)

// rows makes a table with values that are missing, and words that the recipe does not know.
func rows(r *rand.Rand, n int) *tables.Table {
	ages, weights, since := make([]float32, n), make([]float32, n), make([]float32, n)
	colours, sites, answers := make([]string, n), make([]string, n), make([]string, n)
	pick := func(words ...string) string { return words[r.IntN(len(words))] }
	for i := range n {
		ages[i], weights[i], since[i] = float32(50+12*r.NormFloat64()), float32(.01*r.NormFloat64()),
			float32(20000*24*60*60+1e7*r.NormFloat64())
		if r.IntN(4) == 0 {
			ages[i] = float32(math.NaN())
		}
		if r.IntN(4) == 0 {
			weights[i] = float32(math.NaN())
		}
		colours[i], sites[i], answers[i] = pick("red", "green, dark", "blue", "pink", ""), pick("a", "b"),
			pick("yes", "nö", "no", "")
	}
	times := tables.NumberColumn("since", since)
	times.Kind, times.Unit = tables.Time, "s"
	return testkit.Get(tables.New("new.csv", tables.WordColumn("colour", colours), times,
		tables.NumberColumn("weight", weights),
		tables.WordColumn("site", sites), tables.NumberColumn("age", ages), tables.WordColumn("prediction", answers)))
}

// model makes a model with random weights.
func model(r *rand.Rand, target features.Target, hidden []int, relu bool) *modelfile.Model {
	return modelOf(r, recipe(target), hidden, relu)
}

// modelOf makes a model of a recipe.
func modelOf(r *rand.Rand, rec features.Recipe, hidden []int, relu bool) *modelfile.Model {
	losses := models.MLP{Features: len(rec.Features()), Outputs: max(1, len(rec.Target.Classes)),
		Hidden: hidden, ReLU: relu}
	_, q := losses.Dims()
	y := make([]float64, q)
	for i := range y {
		y[i] = r.NormFloat64()
	}
	return testkit.Get(modelfile.New(rec, losses, y,
		modelfile.Origin{Program: "dsbo test", Made: "2026-01-02T03:04:05Z"}))
}

// predictions returns those for all rows of a table.
func predictions(m *modelfile.Model, t *tables.Table) modelfile.Predictions {
	var all modelfile.Predictions
	testkit.OK(modelfile.PredictAll(m, testkit.Get(m.Recipe().NewEncoder(t)), func(p modelfile.Predictions) error {
		all.Labels, all.Probabilities, all.Values = append(all.Labels, p.Labels...),
			append(all.Probabilities, p.Probabilities...), append(all.Values, p.Values...)
		return nil
	}))
	return all
}

// TestFilesAgree: the model in memory and all files of it predict the same.
func TestFilesAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	data := rows(r, 700)
	for _, target := range []features.Target{classes, value, count, bounded} {
		for _, hidden := range [][]int{{}, {5}, {4, 3}} {
			for _, relu := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%v/%v", target.Kind, hidden, relu), func(t *testing.T) {
					m := model(r, target, hidden, relu)
					folder := runs.Folder(t.TempDir())
					testkit.OK(m.Write(folder, ""))
					agree(t, folder, predictions(m, data), data)
				})
			}
		}
	}
}

// compare wants predictions within 1e-12 of what is right, relative to 1 for probabilities; the
// largest numbers of a value are 1e6 times the unit of its errors.
func compare(t *testing.T, got, want modelfile.Predictions) {
	t.Helper()
	if len(got.Probabilities) != len(want.Probabilities) || len(got.Values) != len(want.Values) ||
		!slices.Equal(got.Labels, want.Labels) {
		t.Fatalf("%d labels, %d probabilities, %d values; want %d, %d, %d, and the same labels", len(got.Labels),
			len(got.Probabilities), len(got.Values),
			len(want.Labels), len(want.Probabilities), len(want.Values))
	}
	for i, w := range want.Probabilities {
		if math.Abs(got.Probabilities[i]-w) > 1e-12 {
			t.Fatalf("probability %d is %g, want %g", i, got.Probabilities[i], w)
		}
	}
	for i, w := range want.Values {
		if math.Abs(got.Values[i]-w) > 1e-12*math.Max(1e5, math.Abs(w)) {
			t.Fatalf("value %d is %g, want %g", i, got.Values[i], w)
		}
	}
}

// TestPredictByHand holds a prediction against numbers by hand.
func TestPredictByHand(t *testing.T) {
	r := features.Recipe{Target: features.Target{Name: "price", Kind: features.Value, Mean: 10, Deviation: 2},
		Inputs: []features.Input{
			{Name: "size", Kind: tables.Number, Mean: 3, Deviation: 4, Indicator: true},
			{Name: "colour", Kind: tables.Word, Words: []string{"red"}, Rare: true},
		}}
	m := testkit.Get(modelfile.New(r, models.Softmax{Features: 4, Classes: 1}, []float64{1, 20, 300, 4000},
		modelfile.Origin{}))
	size := tables.NumberColumn("size", []float32{7, float32(math.NaN()), 3, 3})
	colour := tables.WordColumn("colour", []string{"red", "red", "blue", ""})
	got := predictions(m, testkit.Get(tables.New("", size, colour))).Values
	want := []float64{10 + 2*(1+300), 10 + 2*(20+300), 10 + 2*4000, 10}
	if !slices.Equal(got, want) {
		t.Errorf("predictions %v, want %v", got, want)
	}
}

func TestRefused(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	dense, sparse := model(r, classes, []int{4}, false), modelOf(r, sparseRecipe(), nil, false)
	for _, c := range []struct{ name, file, old, by, says string }{ // without old and by the file is removed
		{"no model", runs.ModelFile, "", "", "has no model.json"},
		{"no weights", runs.WeightsFile, "", "", "weights of"},
		{"other weights", runs.WeightsFile, "layer0.bias", "layer0.bios", "its SHA-256 is another one"},
		{"other format", runs.ModelFile, `"format": 1`, `"format": 2`, "its format must be 1"},
		{"unknown field", runs.ModelFile, `"format": 1`, `"formal": 1`, `"formal" is not known`},
		{"unknown inner field", runs.ModelFile, `"rare"`, `"rarest"`, `unknown field "rarest"`},
		{"cut short", runs.ModelFile, "origin", "\x00", "at byte"},
		{"weights elsewhere", runs.ModelFile, `"model.safe`, `"../model.safe`, "must lie beside it"},
		{"other layer", runs.ModelFile, `"in": 11`, `"in": 12`,
			`array "layer0.weight" must be there in the shape [4 12]`},
		{"other unit", runs.ModelFile, `"tanh"`, `"tan"`, `it is "tan"`},
		{"fewer classes", runs.ModelFile, `"malignant",`, "", "the last layer must have 2 outputs; it has 3"},
		{"a word twice", runs.ModelFile, `"blue"`, `"red"`, `column colour: names of words must differ`},
		{"no deviation", runs.ModelFile, `"deviation": 12,`, "", "they are 50 and 0"},
		{"sparse: order", runs.ModelFile, `"1 3 4"`, `"1 4 3"`,
			"sparse columns: indices must ascend from 1 to 5; 3 follows 4"},
		{"sparse: beyond", runs.ModelFile, `"1 3 4"`, `"1 3 6"`, "indices must ascend from 1 to 5; 6 follows 3"},
		{"sparse: a word", runs.ModelFile, `"1 3 4"`, `"1 3 x"`, "a list must be numbers with spaces between"},
		{"sparse: few scales", runs.ModelFile, `"1 0.5 30000"`, `"1 0.5"`,
			"there must be a scale for each of 3 features; there are 2"},
		{"sparse: a scale of 0", runs.ModelFile, `"1 0.5 30000"`, `"1 0 30000"`,
			"index 3: mean and deviation must be finite, and the deviation positive"},
		{"sparse: too many", runs.ModelFile, `"columns": 5`, `"columns": 1000000000`,
			"there must be at most 134217728"},
		{"sparse: inputs", runs.ModelFile, `"sparse"`,
			`"inputs": [{"name": "age", "kind": "number", "deviation": 1}], "sparse"`,
			"there must be no inputs beside them; there are 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			folder, m := runs.Folder(t.TempDir()), dense
			if strings.HasPrefix(c.name, "sparse") {
				m = sparse
			}
			testkit.OK(m.Write(folder, ""))
			if c.old == "" {
				testkit.OK(os.Remove(folder.Path(c.file)))
			} else {
				edit(folder.Path(c.file), c.old, c.by)
			}
			if _, err := modelfile.Open(string(folder)); !errors.Is(err, dsbo.ErrConfig) ||
				!strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want %q", err, c.says)
			}
		})
	}
	short := models.Softmax{Features: len(recipe(classes).Features()), Classes: 3}
	if _, err := modelfile.New(recipe(classes), short, make([]float64, 32), modelfile.Origin{}); !errors.Is(err,
		dsbo.ErrShape) {
		t.Errorf("32 weights of 33: error %v, want one of shape", err)
	}
	other := filepath.Join(t.TempDir(), "model.onnx")
	testkit.OK(os.WriteFile(other, []byte("age,colour\n"), 0o666))
	for _, path := range []string{other, filepath.Join(t.TempDir(), "none")} {
		if _, err := modelfile.Open(path); !errors.Is(err, dsbo.ErrConfig) {
			t.Errorf("%s: error %v, want one of configuration", path, err)
		}
	}
}

// edit replaces a text of a file.
func edit(path, old, by string) {
	text := string(testkit.Get(os.ReadFile(path)))
	if !strings.Contains(text, old) {
		panic("no " + old + " in " + path)
	}
	testkit.OK(runs.Folder(filepath.Dir(path)).WriteFile(filepath.Base(path),
		[]byte(strings.Replace(text, old, by, 1))))
}
