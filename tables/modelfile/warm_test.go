package modelfile_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/tables"
	"dsbo/tables/features"
	"dsbo/tables/modelfile"
)

// elsewhere is the recipe of other sites: other means and units, a word less, one that was rare,
// and columns in another order.
func elsewhere(target features.Target) features.Recipe {
	return features.Recipe{Target: target, Inputs: []features.Input{
		{Name: "prediction", Kind: tables.Word, Words: []string{"nö", "yes", "no"}, Indicator: true},
		{Name: "since", Kind: tables.Time, Unit: "s", Mean: 1.7e9, Deviation: 2e7},
		{Name: "age", Kind: tables.Number, Mean: 41, Deviation: 19},
		{Name: "weight", Kind: tables.Number, Mean: .25, Deviation: .5},
		{Name: "colour", Kind: tables.Word, Words: []string{"pink", "red", "blue", "green, dark"}, Rare: true},
		{Name: "new", Kind: tables.Number, Mean: 0, Deviation: 1},
	}}
}

// TestAdapted: rows without missing values are predicted as before, though the recipe is another
// one. Numbers are scaled and shifted by up to 1e5, and so agree to 1e-9.
func TestAdapted(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	data := full(r, 200)
	swapped, scaled := classes, value
	swapped.Classes = []string{"?", "benign", "malignant"}
	scaled.Mean, scaled.Deviation = -3, 1e4
	for _, c := range []struct{ was, now features.Target }{{classes, classes}, {classes, swapped}, {value, scaled},
		{count, count}} {
		for _, hidden := range [][]int{{}, {5}, {4, 3}} {
			t.Run(fmt.Sprintf("%s/%v", c.now.Kind, hidden), func(t *testing.T) {
				m := model(r, c.was, hidden, false)
				adapted := m.Adapted(elsewhere(c.now))
				want, got := predictions(m, data), predictions(adapted, data)
				if !slices.Equal(got.Labels, want.Labels) {
					t.Error("labels are others")
				}
				for i, w := range want.Values {
					if g := got.Values[i]; g < w-1e-9*max(1e5, w) || g > w+1e-9*max(1e5, w) {
						t.Fatalf("value %d is %g, want %g", i, g, w)
					}
				}
				losses := models.MLP{Features: adapted.Layers[0].In,
					Outputs: max(1, len(c.now.Classes)), Hidden: hidden}
				again := testkit.Get(modelfile.New(elsewhere(c.now), losses, adapted.Y(losses), modelfile.Origin{}))
				compare(t, predictions(again, data), got)
				losses.ReLU = len(hidden) > 0
				if losses.ReLU && adapted.Y(losses) != nil {
					t.Error("weights of tanh fit into a network of ReLU")
				}
			})
		}
	}
	if model(r, classes, nil, false).Adapted(elsewhere(count)) != nil {
		t.Error("a model of classes became one of counts")
	}
}

// full makes a table without missing values. Its days are seconds in float32 without a rounding.
func full(r *rand.Rand, n int) *tables.Table {
	ages, weights, since := make([]float32, n), make([]float32, n), make([]float32, n)
	colours, answers := make([]string, n), make([]string, n)
	for i := range n {
		ages[i], weights[i], since[i] = float32(50+12*r.NormFloat64()), float32(-.5+.01*r.NormFloat64()),
			4*float32(math.Round(4750+75*r.NormFloat64()))
		colours[i] = []string{"red", "green, dark", "blue", "pink", "teal"}[r.IntN(5)]
		answers[i] = []string{"yes", "nö"}[r.IntN(2)]
	}
	times := tables.NumberColumn("since", since)
	times.Kind, times.Unit = tables.Time, "day"
	return testkit.Get(tables.New("", tables.WordColumn("colour", colours), times,
		tables.NumberColumn("weight", weights),
		tables.NumberColumn("age", ages), tables.WordColumn("prediction", answers), tables.NumberColumn("new", ages)))
}

// TestKnowsAny: a model that shares no feature, or no class, with an earlier one does not start at
// it: all of its weights are 0, a saddle point of a network.
func TestKnowsAny(t *testing.T) {
	others := classes
	others.Classes = []string{"ill", "well"}
	strange := elsewhere(classes)
	strange.Inputs = strange.Inputs[5:] // one that is new
	for _, hidden := range [][]int{{}, {4}} {
		m := model(rand.New(rand.NewPCG(9, 9)), classes, hidden, false)
		for want, of := range map[bool][]features.Recipe{true: {elsewhere(classes)},
			false: {elsewhere(others), strange}} {
			for _, r := range of {
				if got := m.Adapted(r).KnowsAny(); got != want {
					t.Errorf("%v: %t of %v", hidden, got, r.Target.Classes)
				}
			}
		}
	}
}
