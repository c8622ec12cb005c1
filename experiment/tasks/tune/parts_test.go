package tune

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"dsbo"
	"dsbo/ad"
	"dsbo/data"
	"dsbo/experiment"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/runs"
	"dsbo/tables"
	"dsbo/tables/features"
	"dsbo/tables/modelfile"
	"dsbo/train"
)

// TestGroups: a feature is in the block of the first group whose pattern matches its column, or in
// the rest; a pattern that matches nothing is refused, with the group's name.
func TestGroups(t *testing.T) {
	var r features.Recipe
	for _, name := range []string{"gene_a", "gene_b", "crp_mmol", "age"} {
		r.Inputs = append(r.Inputs, features.Input{Name: name, Kind: tables.Number, Deviation: 1})
	}
	for text, want := range map[string]struct {
		names string
		of    []int
		fault string
	}{
		"omics=gene_*,lab=*_mmol":              {"omics|lab|the rest", []int{0, 0, 1, 2}, ""},
		"omics=gene_a, omics=crp*,other=gene*": {"omics|other|the rest", []int{0, 1, 0, 2}, ""},
		"all=*":                                {"all", []int{0, 0, 0, 0}, ""},
		"omics=gene_*,lab=*_mg":                {"", nil, "-group lab: the pattern must match a column"},
		"omics":                                {"", nil, "a group must be a name and a pattern"},
		"omics=[":                              {"", nil, "a group must be a name and a pattern"},
		"omics=":                               {"", nil, "a group must be a name and a pattern"},
		"=gene_*":                              {"", nil, "a group must be a name and a pattern"},
	} {
		var g groups
		err := g.Set(text)
		if err == nil {
			b, failed := g.findBlocks(r)
			if err = failed; err == nil &&
				(strings.Join(b.Names, "|") != want.names || !slices.Equal(b.Of, want.of)) {
				t.Errorf("%s: blocks %v", text, b)
			}
		}
		if want.fault == "" && err != nil ||
			want.fault != "" && (!errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), want.fault)) {
			t.Errorf("%s: error %v, want %q", text, err, want.fault)
		}
	}
}

// TestRefits: by itself, a linear model is refitted with test rows unless the user has named them.
func TestRefits(t *testing.T) {
	for _, c := range []struct {
		refit, column, model string
		tests                int
		want                 bool
	}{
		{auto, "", linear, 9, true}, {auto, "part", linear, 9, false}, {allRows, "part", linear, 1, true},
		{"none", "", linear, 9, false}, {auto, "", network, 9, false}, {auto, "", linear, 0, false},
	} {
		one := tune{refit: c.refit, splitColumn: c.column, taken: c.model,
			prepared: &features.Prepared{Rows: [3]int{1, 1, c.tests}}}
		if got := one.refits(); got != c.want {
			t.Errorf("%+v: refits is %v", c, got)
		}
	}
}

// TestAllRows: the model that is kept is of all rows, each once, at penalties that sum up over them
// to as much as over the rows that trained the judged one.
func TestAllRows(t *testing.T) {
	for folds, total := range map[int]float64{0: 120, 5: 100} {
		x, note := []float64{-1, 2}, ""
		one := tune{prepared: &features.Prepared{Rows: [3]int{60, 20, 40}, Folds: folds}}
		f := experiment.FinishedRun{X: x,
			Note: func(format string, args ...any) { note += fmt.Sprintf(format, args...) },
			Solve: func(_ data.Task, _ models.Model, all []float64) (s experiment.LowerSolution, err error) {
				for j, v := range all {
					before, after := 60*math.Exp(x[j]), total*math.Exp(v)
					if !(math.Abs(after-before) <= 1e-12*before) {
						t.Errorf("%d folds: a penalty is %g over all rows, and was %g", folds, after, before)
					}
				}
				return s, nil
			}}
		all, times := testkit.Get2(rowsOfRefit(&one, f))
		if kept := testkit.Get(one.refitted(f, nil, all, times)); !slices.Equal(kept.X, x) {
			t.Errorf("λ is %v, want %v beside the rows of before", kept.X, x)
		}
		if want := fmt.Sprintf("with all %g, the test rows too", total); !strings.Contains(note, want) {
			t.Errorf("%d folds: %q must have %q", folds, note, want)
		}
	}
}

// TestRowsOfRefit: the model that is kept is solved for by all rows, of folds each once, with their
// weights together and those in risk sets.
func TestRowsOfRefit(t *testing.T) {
	part := func(v ...float64) data.Examples {
		return data.Examples{X: numbers(v...), Target: numbers(v...), Weight: numbers(v...),
			Columns: []data.Column{{Name: models.RiskWeights, Table: numbers(v...)}}}
	}
	for folds, want := range map[int][]float64{0: {1, 2, 3, 4, 5, 6}, 5: {1, 2, 4, 5, 6}} {
		one := plainTune([3]int{2, 1, 3}, folds)
		one.prepared.Data.Shards = []data.Shard{{Train: part(1, 2), Val: part(3), Test: part(4, 5, 6)}, {}}
		one.prepared.Together = []*ad.Table{numbers(want...), nil}
		all, times := testkit.Get2(rowsOfRefit(one, experiment.FinishedRun{Note: func(string, ...any) {}}))
		got := all.Shards[0].Train
		if times != float64(len(want))/2 || got.Len() != len(want) || all.Shards[0].Val.Len() != len(want) ||
			all.Shards[1].Train.Len() != 0 {
			t.Fatalf("%d folds: %g times as many rows, %+v", folds, times, all.Shards)
		}
		for row, v := range want {
			if got.Target.At(row, 0) != v || got.Weight.At(row, 0) != v || rowsAt(got, row) != v {
				t.Errorf("%d folds: row %d of %v has the target %g", folds, row, want, got.Target.At(row, 0))
			}
		}
	}
}

// TestToldGain: the note has the gain to expect of the kept model of all rows, against the model
// that it was compared with, unless it is 0.0 % in print.
func TestToldGain(t *testing.T) {
	for _, c := range []struct {
		gain    runs.Number
		network bool
		want    string
	}{
		{.0372, false, "some 3.7 % below that of one penalty on new rows: with more rows one penalty"},
		{.0372, true, "some 3.7 % below that of the linear model on new rows: with more rows the linear model"},
		{.0005, false, "some 0.1 % below"}, {.00049, false, ""},
	} {
		note, one := "", tune{prepared: &features.Prepared{Rows: [3]int{60, 20, 40}, Folds: 5}}
		f := experiment.FinishedRun{Note: func(format string, args ...any) { note += fmt.Sprintf(format, args...) },
			KeptGain: func(float64) runs.Number { return c.gain },
			Refit:    func(data.Task, float64) (train.Fit, error) { return train.Fit{X: []float64{7}}, nil }}
		if c.network {
			f.Network = new(models.MLP)
		}
		all, times := testkit.Get2(rowsOfRefit(&one, f))
		if kept := testkit.Get(one.refitted(f, nil, all, times)); kept.X[0] != 7 {
			t.Errorf("λ is %v, want what the kept model has", kept.X)
		}
		told := strings.Contains(note, "is to be expected")
		if !strings.Contains(note, c.want) || told != (c.want != "") {
			t.Errorf("gain %g: %q must have %q", c.gain, note, c.want)
		}
	}
}

// TestKeptWeights: the run has the model that is kept, but for folds without a choice of structures
// it is solved for on all their rows then.
func TestKeptWeights(t *testing.T) {
	for _, c := range []struct {
		folds  int
		refits bool
		want   float64
	}{{0, false, 1}, {0, true, 1}, {5, true, 1}, {5, false, 2}} {
		f := experiment.FinishedRun{Y: []float64{1}, Solve: func(data.Task, models.Model, []float64) (
			experiment.LowerSolution, error) {
			return experiment.LowerSolution{Y: []float64{2}}, nil
		}}
		if c.refits {
			f.Refit = func(data.Task, float64) (fit train.Fit, err error) { return fit, nil }
		}
		if y := testkit.Get(plainTune([3]int{60, 20, 40}, c.folds).keptWeights(f, nil)); y[0] != c.want {
			t.Errorf("%+v: %v", c, y)
		}
	}
}

// TestFoldCount: by themselves, rows of a linear model are dealt to folds, whether or not a column
// names the validation rows.
func TestFoldCount(t *testing.T) {
	for _, c := range []struct {
		folds, column, model string
		private              bool
		want, rows           int
	}{
		{auto, "", linear, false, autoFolds, autoFoldRows}, {auto, "part", linear, false, autoFolds, autoFoldRows},
		{"0", "part", linear, false, 0, 0}, {"3", "part", linear, false, 3, 0},
		{auto, "part", network, false, 0, 0}, {auto, "part", linear, true, 0, 0}, {auto, "", auto, false, autoFolds, 0},
		{"2", "", linear, false, 2, 0}, {"100", "", linear, false, 100, 0}, {"1", "", linear, false, -1, 0},
		{"101", "", linear, false, -1, 0}, {"-1", "", linear, false, -1, 0}, {"3", "", network, false, -1, 0},
		{"0", "", network, false, 0, 0}, {"3", "", linear, true, -1, 0}, {"0", "", auto, false, -1, 0},
		{auto, "", auto, true, -1, 0},
	} {
		one := tune{folds: c.folds, splitColumn: c.column, model: c.model}
		count, rows, err := one.foldCount(c.private)
		if refused := c.want < 0; refused != errors.Is(err, dsbo.ErrConfig) ||
			!refused && (count != c.want || rows != c.rows) {
			t.Errorf("%+v: %d folds up to %d rows, %v", c, count, rows, err)
		}
	}
}

// TestPredictionLoss: importances are by the loss of the run: of a class −log p, of a count
// μ − k log μ, of a number half of the square in deviations, or Huber's beyond δ.
func TestPredictionLoss(t *testing.T) {
	number := features.Target{Kind: features.Value, Mean: 10, Deviation: 2}
	class, count := features.Target{Kind: features.Class}, features.Target{Kind: features.Counts}
	for name, c := range map[string]struct {
		p      []float64
		truth  float64 // of a number, in the model's units
		target features.Target
		of     models.OutputLoss
		want   float64
	}{
		"class":              {[]float64{.5, .2, .3}, 2, class, models.CrossEntropy{}, -math.Log(.3)},
		"impossible class":   {[]float64{1, 0}, 1, class, models.CrossEntropy{}, 744.4400719},
		"count":              {[]float64{2.5}, 3, count, models.Poisson{}, 2.5 - 3*math.Log(2.5)},
		"impossible count":   {[]float64{0}, 3, count, models.Poisson{}, 2233.320215764},
		"no count":           {[]float64{2.5}, 0, count, models.Poisson{}, 2.5},
		"too low by 3":       {[]float64{8}, 2, number, models.Squared{}, 4.5},
		"too high by 3":      {[]float64{12}, -2, number, models.Squared{}, 4.5},
		"Huber, by 3":        {[]float64{8}, 2, number, models.Huber{}, 2.5},
		"Huber, by 0.5":      {[]float64{11}, 0, number, models.Huber{}, .125},
		"Huber of 2, by 3":   {[]float64{8}, 2, number, models.Huber{Delta: 2}, 4},
		"Huber of 2, by 1.5": {[]float64{13}, 0, number, models.Huber{Delta: 2}, 1.125},
	} {
		if got := predictionLoss(c.p, c.truth, c.target, c.of); !(math.Abs(got-c.want) <= 1e-7) {
			t.Errorf("%s: the loss is %g, want %g", name, got, c.want)
		}
	}
}

// FuzzGroups: what is read is written as it was, and read again.
func FuzzGroups(f *testing.F) {
	for _, seed := range []string{"omics=gene_*,lab=*_mmol", "#", "a=b=c", "=,", "a=[", "\xff=\\"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var g, again groups
		if g.Set(text) != nil {
			return
		}
		testkit.OK(again.Set(g.String()))
		if !slices.Equal(g, again) {
			t.Errorf("%q is %v, and again %v", text, g, again)
		}
	})
}

// sites are what two sites tell each other, of which the second one says something of its own.
type sites struct{ second string }

func (sites) Sum(string, []float64, func(int, []float64) error) error { return nil }

func (s sites) Texts(_ string, of func(i int) (string, error)) ([]string, error) {
	return []string{testkit.Get(of(0)), s.second}, nil
}

// TestAgree: a site that starts elsewhere is named.
func TestAgree(t *testing.T) {
	e := &earlier{x: []float64{1}, y: []float64{2, 3}}
	testkit.OK(e.agree(experiment.Agents{Collective: sites{e.digest()}}))
	other := &earlier{x: []float64{1, 2}, y: []float64{3}}
	err := e.agree(experiment.Agents{Collective: sites{other.digest()}})
	if !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), "site 1 starts elsewhere than site 0") {
		t.Errorf("error %v", err)
	}
}

// layered is a model's layers.
type layered []models.Layer

func (l layered) Layers() []models.Layer { return l }

// TestPenaltyTable: an entry of λ has the size of the weights that it penalizes, with biases in a
// network, and is kept where that is above a hundredth of the largest.
func TestPenaltyTable(t *testing.T) {
	r := features.Recipe{}
	for _, name := range []string{"a", "b"} {
		r.Inputs = append(r.Inputs, features.Input{Name: name, Kind: tables.Number, Deviation: 1})
	}
	network := layered{{In: 2, Out: 1}, {In: 1, Out: 1, Offset: 3}}
	for name, c := range map[string]struct {
		shared string
		of     layered
		last   float64 // weight of the last layer
		want   string
	}{
		"by layer, kept":    {"layer", network, .131, "[{layer 1 5 13 true} {layer 2 6 0.131 true}]"},
		"by layer, dropped": {"layer", network, -.129, "[{layer 1 5 13 true} {layer 2 6 0.129 false}]"},
		"one":               {onePenalty, network, 0, "[{all weights 5 13 true}]"},
		"linear":            {"", network[:1], 0, "[{a 5 3 true} {b 6 4 true}]"},
		"by feature": {"", network, .121,
			"[{a 5 3 true} {b 6 4 true} {biases of layer 1 7 12 true} {layer 2 8 0.121 true}]"},
	} {
		one := tune{shared: c.shared, prepared: &features.Prepared{Recipe: r}}
		x := []float64{5, 6, 7, 8}[:len(one.layering(len(c.of)).names)]
		made := &modelfile.Model{Layers: []modelfile.Layer{{Weights: []float64{3, 4}}}}
		if got := fmt.Sprint(one.penaltyTable(made, c.of, x, []float64{-1, -1, 12, c.last, 0})); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
