package tune

import (
	"math"
	"slices"
	"strings"
	"testing"

	"dsbo/experiment"
	"dsbo/internal/testkit"
	"dsbo/runs"
	"dsbo/tables/assess"
	"dsbo/tables/features"
	"dsbo/tables/modelfile"
)

// TestStartLambda: penalties of an earlier run start at its λ; new ones at the mean of the known
// ones, or of all earlier ones where none is known.
func TestStartLambda(t *testing.T) {
	e := &earlier{lambdas: []runs.Penalty{{Name: "a", Lambda: 1}, {Name: "b", Lambda: 3}, {Name: "c", Lambda: 8}}}
	for _, c := range []struct {
		names []string
		want  []float64
		note  string
	}{
		{[]string{"c", "a", "b"}, []float64{8, 1, 3}, "λ starts at that of "},
		{[]string{"b"}, []float64{3}, "λ starts at that of ; 2 of the earlier ones are not here: a, c"},
		{[]string{"a", "new", "b"}, []float64{1, 2, 3}, "λ starts at that of ; of 3 penalties 1 start at 2, the mean " +
			"of the others, as they are new: new; 1 of the earlier ones are not here: c"},
		{[]string{"new", "newer"}, []float64{4, 4}, "λ starts at that of ; of 2 penalties 2 start at 4, the mean of " +
			"the others, as they are new: new, newer; 3 of the earlier ones are not here: a, b, c"},
	} {
		x, note := e.startLambda(c.names)
		for i := range x { // three shares of numbers below 16 round three times
			x[i] = math.Round(x[i]*0x1p40) / 0x1p40
		}
		if !slices.Equal(x, c.want) || !strings.HasPrefix(note, c.note) {
			t.Errorf("%v: λ starts at %v, want %v; %q, want %q", c.names, x, c.want, note, c.note)
		}
	}
}

// TestBegins: an earlier run is of the same rows where it found, first of all, what this one finds.
func TestBegins(t *testing.T) {
	a, b, text := runs.Found{Sum: []float64{1, 2}}, runs.Found{Sum: []float64{1, 3}}, runs.Found{Texts: []string{"a"}}
	for _, c := range []struct {
		list, with []runs.Found
		want       bool
	}{
		{[]runs.Found{a, text}, []runs.Found{a, text}, true},
		{[]runs.Found{a, text, b}, []runs.Found{a, text}, true}, // structures are found after the tables are read
		{[]runs.Found{a}, []runs.Found{a, text}, false},
		{[]runs.Found{b, text}, []runs.Found{a, text}, false},
		{[]runs.Found{a, {Texts: []string{"b"}}}, []runs.Found{a, text}, false},
		{[]runs.Found{text, a}, []runs.Found{a}, false},
	} {
		if got := begins(c.list, c.with); got != c.want {
			t.Errorf("%v begins with %v: %t, want %t", c.list, c.with, got, c.want)
		}
	}
}

// adding sums over a number of sites that are here.
type adding int

func (n adding) Sum(dst []float64, fill func(i int, part []float64) error) error {
	for i := range int(n) {
		part := make([]float64, len(dst))
		if err := fill(i, part); err != nil {
			return err
		}
		for k, v := range part {
			dst[k] += v
		}
	}
	return nil
}

func (adding) Texts(func(int) (string, error)) ([]string, error) { return nil, nil }

// TestMeanSlopes: the common slopes are the mean of those that sites have, where sites have some; a
// site that is elsewhere adds none.
func TestMeanSlopes(t *testing.T) {
	model := func(w ...float64) *modelfile.Model {
		return &modelfile.Model{Layers: []modelfile.Layer{{In: 2, Weights: w}}}
	}
	for strength, want := range map[float64][]float64{0: {1, 2, 3, 4}, .5: {1, 6, 3, 8}, 1: {1, 6, 3, 8}} {
		all := model(1, 2, 3, 4)
		f := experiment.FinishedRun{Collective: adding(3)}
		f.Levels.Slopes, f.Levels.SlopeStrength = []int{1}, strength
		own := map[int]*modelfile.Model{0: model(1, 4, 3, 6), 2: model(1, 8, 3, 10)}
		testkit.OK(addMeanSlopes(f, &all.Layers[0], own))
		if got := all.Layers[0].Weights; !slices.Equal(got, want) {
			t.Errorf("strength %g: weights %v, want %v", strength, got, want)
		}
	}
}

// TestTies: hazards of rows whose times are tied are fitted as the model is.
func TestTies(t *testing.T) {
	for ties, want := range map[string]bool{breslow: true, "efron": false} {
		one := plainTune([3]int{60, 60, 20}, 5)
		one.prepared.Recipe.Target, one.ties = features.Target{Kind: features.Survival}, ties
		of := judge{tune: one, run: experiment.FinishedRun{Collective: adding(0)}}
		if got := of.tables(); got.Breslow != want || got.Kind != assess.Hazard {
			t.Errorf("%s: %+v", ties, got)
		}
	}
}
