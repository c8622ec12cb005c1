package tune

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"dsbo/internal/num"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/runs"
	"dsbo/tables"
	"dsbo/tables/assess"
	"dsbo/tables/features"
	"dsbo/tables/modelfile"
)

// TestChosenCoefficients: of 14 numbers and a column of four words the largest are chosen until
// there are ten, the last column whole. Each interval misses in 5 % times their share of all, by
// Student's distribution, and a mark is by all probabilities, not by the chosen ones alone.
func TestChosenCoefficients(t *testing.T) {
	const n, numbers, p = 300, 14, 18
	of := assess.Tables{Columns: make([]assess.Column, p), Sites: []assess.Site{{Rows: n}},
		Sum: func(_ string, dst []float64, fill func(i int, part []float64) error) error { return fill(0, dst) }}
	weights := make([]float64, p)
	for j := range of.Columns {
		of.Columns[j].Group, weights[j] = min(j, numbers), math.Exp2(-float64(j))
		of.Columns[j].Level = j >= numbers
	}
	copy(weights[numbers:], []float64{0, .0064, 1e-4, 2e-4}) // the tenth, by its deviation √3/4
	r := rand.New(rand.NewPCG(9, 9))
	x := make([]float64, n*p)
	for row := range n {
		for j := range numbers {
			x[row*p+j] = r.NormFloat64()
		}
		x[row*p+numbers+row%4] = 1
		of.Sites[0].Target = append(of.Sites[0].Target, .15*x[row*p+3]+r.NormFloat64())
	}
	of.Sites[0].Read = func(from, to int, dst []float64) { copy(dst, x[from*p:to*p]) }
	fit := testkit.Get(testkit.Get(assess.NewEffects(of)).Fit())
	made := &modelfile.Model{Layers: []modelfile.Layer{{In: p, Out: 1, Weights: weights}}}
	chosen := judge{made: made}.largest(fit.Effects)
	made.Layers[0].Weights = append(slices.Clone(weights[:numbers]), 0, 0, 0, 0)
	if of := (judge{made: made}).largest(fit.Effects); len(of) != 10 {
		t.Errorf("of numbers alone %d are chosen", len(of))
	}
	made.Layers[0].Weights = weights
	var told runs.Effects
	quantile, marked := confidence(fit, chosen, &told)
	if len(chosen) != 12 || told.Shown != len(chosen) || told.Of != p-1 {
		t.Errorf("%v; told %+v", chosen, told)
	}
	want := num.StudentQuantile(1-.025*float64(told.Shown)/float64(told.Of), fit.Freedom)
	if !(math.Abs(quantile-want) <= 1e-9) {
		t.Errorf("intervals reach by %g errors, want %g", quantile, want)
	}
	var all []float64
	for _, j := range fit.Told() {
		all = append(all, fit.Chance(fit.Effect(j, 0)))
	}
	for k, beyond := range assess.BeyondChance(all) {
		if marked[contrast{feature: fit.Told()[k]}] != beyond {
			t.Errorf("marks %v, chances %g", marked, all)
		}
	}
	j := judge{tune: &tune{prepared: new(features.Prepared)}, made: made}
	for group := range numbers + 1 {
		j.prepared.Recipe.Inputs = append(j.prepared.Recipe.Inputs,
			features.Input{Name: fmt.Sprint(group), Deviation: 1, Kind: tables.Number})
	}
	a := runs.Assessment{Effects: &told}
	fit.Columns[chosen[1].feature].Blank, fit.Why[chosen[0].feature] = true, "a reason"
	j.addCoefficients(&a, fit, chosen, quantile, marked)
	if len(a.Effects.Columns) != 8 || a.Coefficients[0].Estimate.Known() || !a.Coefficients[1].Estimate.Known() {
		t.Errorf("of 9 numbers, one without a fit and one where it is blank, and words: %+v", a.Effects.Columns)
	}
	told.Shown = 0
	if confidence(fit, chosen, &told); told.Shown != len(chosen)-1 {
		t.Errorf("%d are shown, of %d that are chosen and one that has no fit", told.Shown, len(chosen))
	}
	told.NoFeature = .06
	if _, marked = confidence(fit, chosen, &told); slices.Contains(slices.Collect(maps.Values(marked)), true) {
		t.Errorf("no feature counts, and %v do", marked)
	}
	if all[3] > .02 || !slices.ContainsFunc(all, func(p float64) bool { return p < .05 && p > .05/17 }) {
		t.Errorf("no chance %g tells Holm's rule from one by one", all)
	}
}

// TestUnmeasured: columns are measured up to 4000 features, and where the rows are known; else the
// kept weights are told without intervals, and why.
func TestUnmeasured(t *testing.T) {
	for _, c := range []struct {
		features, rows int
		measured       bool
	}{{4000, 50, true}, {4001, 50, false}, {3, 0, false}} {
		p := &features.Prepared{Rows: [3]int{c.rows}}
		p.Recipe.Inputs = []features.Input{{Kind: tables.Word, Words: make([]string, c.features)}}
		if why := unmeasured(p); (why == "") != c.measured {
			t.Errorf("%+v: %q", c, why)
		}
		if c.rows > 0 {
			continue
		}
		p.Recipe.Inputs = slices.Repeat([]features.Input{{Kind: tables.Number, Deviation: 1}}, c.features)
		j, a := judge{tune: &tune{prepared: p}, m: models.Linear{}}, new(runs.Assessment)
		j.run.Collective = alone{}
		weights := slices.Repeat([]float64{1}, c.features)
		made := &modelfile.Model{Layers: []modelfile.Layer{{In: c.features, Out: 1, Weights: weights}}}
		testkit.OK(j.addFeatures(a, made))
		for _, one := range a.Coefficients {
			if one.Estimate.Known() || one.Low.Known() || one.BeyondChance || one.Value != 1 {
				t.Errorf("a coefficient without rows: %+v", one)
			}
		}
		if a.Effects.Refused != unmeasured(p) || len(a.Coefficients) != c.features || a.Effects.Shown != 0 {
			t.Errorf("%+v, coefficients %+v", a.Effects, a.Coefficients)
		}
	}
}

// TestKeptContrasts: on the third class relative to the second one, of columns that are two words,
// of which b is the reference, a blank of them, a number and a blank of it.
func TestKeptContrasts(t *testing.T) {
	e := &assess.Effects{Tables: assess.Tables{Classes: 3, Columns: []assess.Column{{Level: true}, {Level: true},
		{Blank: true}, {Group: 1}, {Group: 1, Blank: true}}}, Class: 1, Reference: []int{1, 1, -1, -1, -1},
		Share: []float64{.25, .5, .25, .5, .5}}
	of := judge{made: &modelfile.Model{Layers: []modelfile.Layer{{In: 5, Weights: []float64{
		0, 1, 2, 3, 4, 10, 20, 40, 80, 9, 5, 7, 11, 13, 2}}}}}
	words := []float64{5 - 10, 7 - 20}
	for j, want := range []float64{words[0] - words[1], 0, 11 - 40 - .25*words[0] - .5*words[1], 13 - 80, 2 - 9} {
		if got := of.kept(e, j, 2); got != want {
			t.Errorf("column %d: %g, want %g", j, got, want)
		}
	}
}

// TestLevelText: a level is told as the file has its target, of classes in the logarithm of the
// odds against the first class: a site with odds of 9 beside odds of 1 is log 9 above.
func TestLevelText(t *testing.T) {
	class, e := features.Target{Name: "y", Kind: features.Class, Classes: []string{"a", "b", "c"}}, math.Log(9)
	for want, text := range map[string]string{
		"in y (log-odds against a), beside that of all sites: +2.2 for b, +0 for c.": levelText(0, class,
			[]float64{2 - e/2, 1 + e/2, -e / 2}, []float64{2, 1, 0}),
		"in y, beside that of all sites: -3.": levelText(0, features.Target{Name: "y", Kind: features.Value,
			Deviation: 2}, []float64{-1}, []float64{.5}),
		"beside that of all sites: 9 times the counts.": levelText(0, features.Target{Kind: features.Counts},
			[]float64{1 + e}, []float64{1}),
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q, want %q", text, want)
		}
	}
	folder, one, y := runs.Folder(t.TempDir()), plainTune([3]int{}, 0), make([]float64, 10)
	all := testkit.Get(modelOf(one, y))
	y[4+1], y[9] = .5, .25 // of yes
	testkit.OK(writeModels(map[int]*modelfile.Model{3: testkit.Get(modelOf(one, y))}, all, folder))
	text := string(testkit.Get(folder.ReadFile("own.site3.level.txt")))
	if !strings.HasPrefix(text, "The level of site 3 in ") ||
		!strings.Contains(text, ": +0.25 for yes, +0.5 for yes by a deviation of b. It has not left") {
		t.Errorf("the level and the slope of site 3: %s", text)
	}
	for _, name := range []string{"", "own.site3."} {
		if there, err := folder.Has(name + runs.ModelFile); !there {
			t.Errorf("the model %q is not there: %v", name, err)
		}
	}
}
