package tune

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"dsbo/ad"
	"dsbo/data"
	"dsbo/experiment"
	"dsbo/internal/testkit"
	"dsbo/models"
	"dsbo/runs"
	"dsbo/tables/assess"
	"dsbo/tables/features"
	"dsbo/tables/modelfile"
)

// alone is the collective of one site.
type alone struct{}

func (alone) Sum(_ string, dst []float64, fill func(int, []float64) error) error { return fill(0, dst) }

func (alone) Texts(_ string, of func(int) (string, error)) ([]string, error) {
	return []string{testkit.Get(of(0))}, nil
}

// linearOf returns a linear model of four features and two outputs.
func linearOf(p models.Penalties) models.Linear {
	return models.Linear{Features: 4, Outputs: 2, Loss: models.CrossEntropy{}, Penalties: p}
}

// modelOf returns the model with the numbers y.
func modelOf(t *tune, y []float64) (*modelfile.Model, error) {
	return modelfile.New(t.prepared.Recipe, linearOf(models.OnePenalty{}), y, modelfile.Origin{})
}

// TestThresholdChosen: each validation row is judged by the model that has not seen it: of its
// fold, or the only one. The threshold is the edge of least cost, nearest to 1/(1 + cost) of those;
// on the test rows it stands beside the likeliest class.
func TestThresholdChosen(t *testing.T) {
	up := []float64{0, 0, 0, 0, 3, 0, 0, 0, 0, 0} // yes where a is above 0
	down := []float64{0, 0, 0, 0, -3, 0, 0, 0, 0, 0}
	x := testkit.Get(ad.FloatTable(4, 4, []float64{1, 0, 0, 0, -1, 0, 0, 0, -1, 0, 0, 0, 1, 0, 0, 0}))
	val := data.Examples{X: x, Target: testkit.Get(ad.LabelTable([]uint8{1, 0, 1, 0}, 2)),
		Weight: testkit.Get(ad.FloatTable(4, 2, []float64{1, 0, 2, 0, 0, 1, 0, 1}))}
	for name, c := range map[string]struct {
		parts [][]float64
		class string
		want  string
	}{
		"folds":     {[][]float64{up, down}, "yes", "4 3 2; 3 1; 2 1"},
		"one model": {[][]float64{up}, "yes", "4 3 2; 3 2; 2 1"},
		"the first": {[][]float64{up, down}, "no", "4 2 3; 1 1; 1 1"},
	} {
		one := plainTune([3]int{4, 4, 20}, len(c.parts))
		one.cost = missCost{c.class, 5}
		one.prepared.Data.Shards = []data.Shard{{Val: val}}
		test := newAssessor(one.prepared.Recipe.Target).(classAssessor)
		for _, row := range []struct {
			yes   float64
			class int
		}{{.2, 1}, {.9, 1}, {.9, 1}, {.9, 0}, {.1, 0}} {
			test.Add([]float64{1 - row.yes, row.yes}, row.class, 1)
		}
		var a runs.Assessment
		j := judge{tune: one, m: linearOf(models.OnePenalty{}), run: experiment.FinishedRun{Collective: alone{},
			Parts: c.parts}}
		j.made = testkit.Get(modelOf(one, up))
		testkit.OK(j.addThreshold(&a, test))
		h := a.Threshold
		got := fmt.Sprintf("%d %g %g; %g %g; %g %g", int(h.Chosen), h.Own, h.Others, h.At.Found, h.At.Alarms,
			h.Likeliest.Found, h.Likeliest.Alarms)
		if got != c.want || name != "one model" && !(math.Abs(h.Probability-1./6) <= .005) ||
			name == "one model" && h.Probability > .05 { // whose wrong rows are half
			t.Errorf("%s: %s at %g, want %s", name, got, h.Probability, c.want)
		}
	}
}

// TestValidatorsPenalties: folds have the λ that is kept: a penalty each where there are as many
// as features, else as the model has them.
func TestValidatorsPenalties(t *testing.T) {
	for x, want := range map[int]models.Penalties{1: models.OnePenalty{}, 4: models.PerFeature{}} {
		one := plainTune([3]int{60, 60, 20}, 3)
		j := judge{tune: one, m: linearOf(models.OnePenalty{}), run: experiment.FinishedRun{X: make([]float64, x),
			Solve: func(_ data.Task, m models.Model, at []float64) (s experiment.LowerSolution, err error) {
				f := m.(models.Folds)
				if f.Of.Penalties != want || f.Count != 3 || len(at) != x {
					t.Errorf("%d penalties: %+v at %v", x, f, at)
				}
				return experiment.LowerSolution{Y: make([]float64, 30)}, nil
			}}}
		j.made = testkit.Get(modelOf(one, make([]float64, 10)))
		if parts := testkit.Get(j.validators()); len(parts) != 3 {
			t.Errorf("%d penalties: %d models", x, len(parts))
		}
	}
}

// TestCostClass: any class may cost, the first one too, and no other name.
func TestCostClass(t *testing.T) {
	target := plainTune([3]int{}, 0).prepared.Recipe.Target
	for class, want := range map[string]int{"no": 0, "yes": 1, "maybe": -1} {
		if k, err := (missCost{class, 5}).check(target); k != want && want >= 0 || (err != nil) != (want < 0) {
			t.Errorf("%s: %d, %v", class, k, err)
		}
	}
}

// TestAssessedRows: the model is of training rows, and without folds of those that chose its
// penalties too; the kept one has test rows where it is refitted. Squared losses of numbers are in
// the target's unit.
func TestAssessedRows(t *testing.T) {
	for _, c := range []struct {
		folds       int
		refit, loss string
		kind        features.TargetKind
		made, kept  int
		unit        float64
	}{
		{5, auto, squared, features.Value, 60, 79, 2}, {5, "none", squared, features.Class, 60, 0, 0},
		{0, auto, huber, features.Value, 90, 109, 0}, {0, "none", squared, features.Value, 90, 0, 2},
	} {
		one := plainTune([3]int{60, 30, 19}, c.folds)
		one.refit, one.loss, one.prepared.Recipe.Target = c.refit, c.loss, features.Target{Kind: c.kind, Deviation: 2}
		a := testkit.Get(judge{tune: one}.assess())
		if a.Made != c.made || a.Kept != c.kept || a.Judged != 19 || a.LossUnit != c.unit || a.Levels {
			t.Errorf("%+v: %+v", c, a)
		}
	}
}

// TestSitesCompared: sites are compared by test rows, of which there must be some, but for survival
// times.
func TestSitesCompared(t *testing.T) {
	for _, c := range []struct {
		alone bool
		tests int
		kind  features.TargetKind
		want  bool
	}{
		{true, 1, features.Class, true}, {true, 0, features.Class, false}, {false, 1, features.Class, false},
		{true, 1, features.Survival, false},
	} {
		one := plainTune([3]int{60, 30, c.tests}, 0)
		one.alone, one.prepared.Recipe.Target.Kind = c.alone, c.kind
		if got := one.Sites().Compare; got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// TestLevelsFound: two sites may have levels, a single one may not; where -penalty is none of
// folds, auto tries none.
func TestLevelsFound(t *testing.T) {
	for _, c := range []struct {
		effects, shared string
		sites           int
		want            string
	}{
		{intercept, auto, 2, "true true"}, {auto, auto, 2, "true false"}, {auto, auto, 1, "false false"},
		{auto, perFeature, 2, "false false"}, {"off", auto, 2, "false false"}, {intercept, auto, 1, "refused"},
		{intercept, perFeature, 2, "refused"},
	} {
		one := plainTune([3]int{60, 60, 20}, 5)
		one.siteEffects, one.shared, one.sites = c.effects, c.shared, c.sites
		here := data.Examples{X: numbers(1), Weight: numbers(1)}
		one.prepared.Data.Shards = []data.Shard{{Train: here, Val: here}, {}} // the other one is elsewhere
		l, err := findLevels(one, experiment.Agents{Log: func(string, ...any) {}})
		got := fmt.Sprint(l.Rows == 60, l.Always)
		if err != nil {
			got = "refused"
		}
		s := one.prepared.Data.Shards
		if got != c.want || (len(s[0].Val.Columns) == 1) != (l.Rows > 0) || s[1].Val.Columns != nil {
			t.Errorf("%+v: %s, %+v of %+v", c, got, l, s)
		}
	}
}

// TestPriorOfModel: the prior of penalties counts validation rows, knows whether residuals have a
// deviation, and is left out where nobody counts rows; counts start at the mean.
func TestPriorOfModel(t *testing.T) {
	number, count := features.Target{Kind: features.Value}, features.Target{Kind: features.Counts, Mean: math.E}
	center := []float64{1, 2, 3, 4}
	for name, c := range map[string]struct {
		rows   int
		prior  string
		target features.Target
		center []float64
		want   models.Prior
		start  []float64
	}{
		"class":  {30, auto, features.Target{Kind: features.Class}, nil, models.Prior{Deviation: 1, Rows: 30}, nil},
		"number": {30, auto, number, nil, models.Prior{Deviation: 1, Rows: 30, Residuals: true}, nil},
		"found": {1, auto, number, center,
			models.Prior{Deviation: .5, Rows: 1, Residuals: true, Center: center}, nil},
		"earlier": {1, auto, number, center,
			models.Prior{Deviation: 1, Rows: 1, Residuals: true, Center: center}, nil},
		"given":        {30, "2", count, nil, models.Prior{Deviation: 2, Rows: 30}, []float64{1}},
		"none":         {30, "0", count, nil, models.Prior{}, []float64{1}},
		"unknown rows": {0, auto, number, nil, models.Prior{}, nil},
	} {
		one := plainTune([3]int{60, c.rows, 20}, 0)
		one.prior, one.center, one.prepared.Recipe.Target = c.prior, c.center, c.target
		if name == "earlier" { // whose λ is the center
			one.earlier = new(earlier)
		}
		m := testkit.Get(one.newModel(1)).(models.Linear)
		if fmt.Sprint(m.Prior) != fmt.Sprint(c.want) || !slices.Equal(m.Intercepts, c.start) {
			t.Errorf("%s: %+v from %v, want %+v from %v", name, m.Prior, m.Intercepts, c.want, c.start)
		}
	}
}

// TestCurvesOfClasses: of two classes one has curves' areas, as the other's are the same; of three
// each has its own.
func TestCurvesOfClasses(t *testing.T) {
	for classes, want := range map[int]int{2: 1, 3: 3} {
		names := []string{"no", "yes", "maybe"}[:classes]
		c := newAssessor(features.Target{Kind: features.Class, Classes: names})
		var a runs.Assessment
		c.fill(&a)
		areas, of := 0, map[string]int{}
		for _, m := range a.Measures {
			of[strings.Fields(m.Name)[0]]++
			if m.Name == "AUROC of yes" || m.Name == "AUROC of no" || m.Name == "AUROC of maybe" {
				areas++
			}
		}
		if areas != want || len(a.Classes) != classes {
			t.Errorf("%d classes: %d areas, %d curves", classes, areas, len(a.Classes))
		}
		if of["accuracy"] != 1 || of["Brier"] != 1 || of["AUPRC"] != want || of["recall"] != classes ||
			of["precision"] != classes || len(a.Confusion) != classes {
			t.Errorf("%d classes: measures %v, and of classes that are taken for others %v", classes, of, a.Confusion)
		}
	}
}

// TestBlurNoted: an area that the order of rows within bins of probabilities may change by more
// than mostBlur has a note with the ends.
func TestBlurNoted(t *testing.T) {
	for _, at := range []struct {
		rows  int
		apart float64
		noted map[string]bool
	}{ // ends of precision .034 and .029 apart, of AUROC .033 and .029
		{40, 1e-4, map[string]bool{"AUPRC": true, "AUROC": true}}, {40, .004, map[string]bool{"AUPRC": true}},
		{200, .002, nil}, {40, .02, nil},
		{60, .0025, map[string]bool{"AUPRC": true, "AUROC": true}}, {60, .003, map[string]bool{"AUPRC": true}},
	} {
		c := classAssessor{assess.NewClasses(2), []string{"no", "yes"}}
		for k := range at.rows {
			p := .1 + float64(k)*at.apart
			c.Add([]float64{1 - p, p}, k%2, 1)
		}
		var a runs.Assessment
		c.fill(&a)
		for name, ends := range map[string]func(k int) (low, high float64){
			"AUPRC": c.PrecisionEnds, "AUROC": c.AUCEnds,
		} {
			k := slices.IndexFunc(a.Measures, func(m runs.Measure) bool { return m.Name == name+" of yes" })
			low, high := ends(1)
			noted := at.noted[name]
			if note := a.Measures[k].Note; (note != "") != noted || (high-low > mostBlur) != noted ||
				noted && !strings.Contains(note, fmt.Sprintf("from %.3g to %.3g", low, high)) {
				t.Errorf("%s, %g apart: note %q of %g to %g", name, at.apart, note, low, high)
			}
		}
	}
}

// TestCrossFitAsked: folds choose structures where the flags leave them open, or for a lasso;
// penalties of features begin at one unless there is a start.
func TestCrossFitAsked(t *testing.T) {
	for _, c := range []struct {
		shared string
		folds  int
		center []float64
		want   string
	}{
		{auto, 5, nil, "true false"}, {perFeature, 5, nil, "true true"}, {perFeature, 5, []float64{1}, "false"},
		{perFeature, 0, nil, "false"}, {onePenalty, 5, nil, "false"}, {auto, 5, []float64{1}, "true false"},
	} {
		one := plainTune([3]int{60, 60, 20}, c.folds)
		one.shared, one.center = c.shared, c.center
		got := "false"
		if asked := one.crossFit(); asked != nil {
			got = fmt.Sprint("true ", asked.Begin != nil)
		}
		if got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// TestLevelsOfNetworks: beside levels that are taken only where they are better, a network may be.
func TestLevelsOfNetworks(t *testing.T) {
	for effects, allowed := range map[string]bool{auto: true, intercept: false} {
		one := &tune{kind: "class", siteEffects: effects, model: network, penalty: auto, folds: auto}
		if err := checkLevels(one); (err == nil) != allowed {
			t.Errorf("-site-effects %s: %v", effects, err)
		}
	}
}

// TestLassoAsked: a lasso has the ratio 1, an elastic net the given one or, of auto, none yet.
func TestLassoAsked(t *testing.T) {
	for _, c := range []struct{ penalty, ratio, lambda, want string }{
		{auto, "0.5", leastOne, "none"}, {perFeature, "0.5", leastOne, "none"}, {lasso, "0.5", leastOne, "1 false"},
		{lasso, "0.5", oneError, "1 true"}, {elastic, "0.3", oneError, "0.3 true"},
		{elastic, auto, leastOne, "0 false"},
	} {
		one, got := &tune{penalty: c.penalty, lasso: lassoFlags{c.ratio, c.lambda}}, "none"
		if l := wantedLasso(one); l != nil {
			got = fmt.Sprint(l.Ratio, l.OneError)
		}
		if got != c.want || wantsLasso(one) != (got != "none") {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// TestAssessedAlone: measures of classes and their intervals are of the test rows, whatever the
// other rows are.
func TestAssessedAlone(t *testing.T) {
	rows := func(n int, x func(row int) float64) data.Examples {
		values, labels := make([]float64, 4*n), make([]uint8, n)
		for row := range n {
			values[4*row], labels[row] = x(row), uint8(row%2)
		}
		return data.Examples{X: testkit.Get(ad.FloatTable(n, 4, values)),
			Target: testkit.Get(ad.LabelTable(labels, 2))}
	}
	test := rows(40, func(row int) float64 { return float64(row%7) / 4 })
	var found []runs.Measure
	for of, other := range []data.Examples{rows(40, func(row int) float64 { return float64(row) }),
		rows(9, func(row int) float64 { return -1 })} {
		one := plainTune([3]int{40, 40, 40}, 0)
		one.refit, one.prepared.Data.Shards = "none", []data.Shard{{Train: other, Val: other, Test: test}}
		j := judge{tune: one, m: linearOf(models.OnePenalty{}), run: experiment.FinishedRun{Collective: alone{}}}
		j.made = testkit.Get(modelOf(one, []float64{0, 0, 0, 0, 2, 0, 0, 0, 0, -1}))
		a := testkit.Get(j.assess())
		if of == 0 {
			found = a.Measures
		}
		if fmt.Sprint(a.Measures) != fmt.Sprint(found) || len(found) < 4 { // numbers that are not known are one
			t.Errorf("with other rows the measures are %v, else %v", a.Measures, found)
		}
	}
}
