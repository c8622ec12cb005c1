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
	"dsbo/tables"
	"dsbo/tables/assess"
	"dsbo/tables/features"
	"dsbo/tables/modelfile"
)

// numbers returns a table of one column.
func numbers(v ...float64) *ad.Table { return testkit.Get(ad.FloatTable(len(v), 1, v)) }

// TestTargetOf: the target of a row is the number of its class, or its number.
func TestTargetOf(t *testing.T) {
	classes := data.Examples{Target: testkit.Get(ad.LabelTable([]uint8{2, 0, 1}, 3))}
	for row, want := range []float64{2, 0, 1} {
		if got := targetOf(classes, row); got != want {
			t.Errorf("row %d is of class %g, want %g", row, got, want)
		}
		if got := targetOf(data.Examples{Target: numbers(2, 0, 1)}, row); got != want {
			t.Errorf("row %d has %g, want %g", row, got, want)
		}
	}
}

// TestBlanksOfColumns: the last feature of a column with an indicator is 1 where it is blank, of a
// number and of words.
func TestBlanksOfColumns(t *testing.T) {
	r := features.Recipe{Inputs: []features.Input{{Name: "a", Kind: tables.Number, Indicator: true, Deviation: 1},
		{Name: "b", Kind: tables.Number, Deviation: 1},
		{Name: "c", Kind: tables.Word, Words: []string{"x", "y"}, Rare: true, Indicator: true}}}
	got := ""
	for _, c := range columnsOf(r) {
		got += fmt.Sprint(c.Group, c.Level, c.Blank, " ")
	}
	want := "0 false false 0 false true 1 false false 2 true false 2 true false 2 true false 2 true true "
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestTimedRows: the rows that made the model are its training rows and, without folds, those that
// chose its penalties; test rows count where they are asked for alone.
func TestTimedRows(t *testing.T) {
	part := func(times ...float64) data.Examples {
		return data.Examples{X: testkit.Get(ad.FloatTable(len(times), 4, make([]float64, 4*len(times)))),
			Target: numbers(times...)}
	}
	for _, c := range []struct {
		folds    int
		withTest bool
		want     []float64
	}{
		{0, false, []float64{1, -2, 3}}, {0, true, []float64{1, -2, 3, -4, 5, 6}}, {5, false, []float64{1, -2}},
		{5, true, []float64{1, -2, -4, 5, 6}},
	} {
		one := plainTune([3]int{2, 1, 3}, c.folds)
		one.prepared.Recipe.Target = features.Target{Kind: features.Survival, Event: "dead"}
		val := part(3)
		one.prepared.Times = [][]float64{{1, -2, 3, -4, 5, 6}}
		if c.folds > 0 { // training rows validate
			val, one.prepared.Times[0] = part(1, -2), []float64{1, -2, -4, 5, 6}
		}
		one.prepared.Data.Shards = []data.Shard{{Train: part(1, -2), Val: val, Test: part(-4, 5, 6)}}
		m := models.Linear{Features: 4, Outputs: 1, Loss: models.Cox{}, Penalties: models.OnePenalty{}}
		_, q := m.Dims()
		j := judge{tune: one, m: m, run: experiment.FinishedRun{Collective: alone{}},
			made: testkit.Get(modelfile.New(one.prepared.Recipe, m, make([]float64, q+1), modelfile.Origin{}))}
		var got []float64
		testkit.Get(j.sumTimes("", 1, c.withTest, func(_ []float64, r timedRows) { got = r.times }))
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v", c, got)
		}
		for k, time := range one.prepared.Times[0] {
			one.prepared.Times[0][k] = -math.Abs(time)
		}
		if _, _, err := j.findBaseline(c.withTest); err != nil || j.made.Baseline != nil {
			t.Errorf("without events there is the baseline %+v, error %v", j.made.Baseline, err)
		}
	}
}

// TestEventLosses: events are counted with what the model saves of each. Of rows with times 1 and
// 2, log-hazards 2 and 0, the first one two rows, it has the loss log(2e² + 1) − 2 by Breslow's
// rule, log 3 without features, and the last one at risk has none; an end before is no event.
func TestEventLosses(t *testing.T) {
	m := models.Linear{Features: 1, Outputs: 1, Loss: models.Cox{Breslow: true}}
	_, q := m.Dims()
	test := data.Examples{X: testkit.Get(ad.FloatTable(3, 1, []float64{1, 0, 0})), Target: numbers(1, 2, -0.5),
		Count: numbers(2, 1, 0), Columns: []data.Column{{Name: models.RiskWeights, Table: numbers(2, 1, 1)}}}
	j := judge{m: m, y: make([]float64, q)}
	j.y[0] = 2
	weighted := test
	weighted.Columns = []data.Column{{Name: models.RiskWeights, Table: numbers(4, 5, 6)}}
	for row, want := range []float64{2, 1, 1, 4, 5, 6} {
		joined := testkit.Get(joinRisk([]data.Examples{test, weighted}))
		if got := joined[0].Table; joined[0].Name != models.RiskWeights || got.Rows() != 6 || got.At(row, 0) != want {
			t.Errorf("joined, row %d has weight %g in risk sets, want %g", row, got.At(row, 0), want)
		}
	}
	part, saved := make([]float64, survivalNumbers), math.Log(3)-math.Log(2*math.Exp(2)+1)+2
	testkit.OK(j.addEventLosses(part, test))
	for k, want := range []float64{3, 2 * saved, 2 * saved * saved} {
		if !(math.Abs(part[k]-want) <= 1e-12) {
			t.Errorf("numbers %v; number %d must be %g", part, k, want)
		}
	}
}

// TestHeavyMarked: heavy tails are noted of measures that have an interval, and not else.
func TestHeavyMarked(t *testing.T) {
	for _, heavy := range []bool{false, true} {
		m := []runs.Measure{{Low: 1}, {Low: runs.Unknown()}}
		if markHeavy(heavy, m); (m[0].Note != "") != heavy || m[1].Note != "" {
			t.Errorf("heavy %t: %+v", heavy, m)
		}
	}
}

// TestCurveOfCounts: beside measures of counts there is the mean true count by the predicted one.
func TestCurveOfCounts(t *testing.T) {
	of, a := newAssessor(features.Target{Kind: features.Counts, Mean: 2}).(countAssessor), runs.Assessment{}
	rows := data.Examples{Target: numbers(3, 9), Count: numbers(4, 1)}
	of.addRow(modelfile.Predictions{Values: []float64{2}}, rows, 0, counting)
	if of.fill(&a); len(a.Measures) != 4 || !slices.Equal(a.Counts.Predicted, []float64{2}) ||
		!slices.Equal(a.Counts.True, []float64{3}) {
		t.Errorf("%+v, %+v", a.Measures, a.Counts)
	}
}

// TestCostFlag: a cost is a positive number of a class, whose name may have a = too.
func TestCostFlag(t *testing.T) {
	for text, want := range map[string]missCost{"ill=5": {"ill", 5}, "a=b=.5": {"a=b", .5}, "ill=0": {}, "ill=-1": {},
		"ill=NaN": {}, "ill=Inf": {}, "=5": {}, "ill": {}, "ill=x": {}} {
		var c missCost
		if err := c.Set(text); (err == nil) != (want.class != "") || c != want {
			t.Errorf("%s: %+v, %v", text, c, err)
		}
	}
}

// TestLassoTold: λ is told in the target's unit, which classes have none of, beside glmnet's.
func TestLassoTold(t *testing.T) {
	for _, c := range []struct {
		kind   features.TargetKind
		loss   string
		lambda runs.Number
		glmnet bool
	}{{features.Class, squared, .5, true}, {features.Value, squared, 1.5, true}, {features.Value, huber, 1.5, false},
		{features.Counts, squared, .5, true}} {
		one, note := plainTune([3]int{9, 9, 9}, 3), ""
		one.loss, one.prepared.Recipe.Target = c.loss, features.Target{Kind: c.kind, Deviation: 3}
		f := experiment.FinishedRun{Folder: runs.Folder(t.TempDir()), Lasso: &runs.Lasso{Lambda: .5, Ratio: 1, Of: 2},
			Note: func(format string, args ...any) { note += fmt.Sprintf(format, args...) }}
		var a runs.Assessment
		testkit.OK(tellPenalties(one, f, &a, []runs.Penalty{{Name: "a", Kept: true}, {Name: "b"}}))
		if fmt.Sprint(a.Lasso.Lambda) != fmt.Sprint(c.lambda) || len(a.Lasso.Names) != 1 ||
			strings.Contains(note, "glmnet") != c.glmnet || !strings.Contains(note, "has 1 of 2 features") {
			t.Errorf("%+v: %+v, %s", c, a.Lasso, note)
		}
	}
}

// TestEffectRows: effects are of the rows that made the model, and without folds of those that
// chose its penalties; weights that are whole count rows, others do not;
// of survival times they count in risk sets.
func TestEffectRows(t *testing.T) {
	part := func(classes ...uint8) data.Examples {
		return data.Examples{X: testkit.Get(ad.FloatTable(len(classes), 4, make([]float64, 4*len(classes)))),
			Target: testkit.Get(ad.LabelTable(classes, 2))}
	}
	for _, c := range []struct {
		folds int
		whole bool
		want  []float64
	}{{0, true, []float64{1, 0, 1}}, {5, true, []float64{1, 0}}, {5, false, []float64{1, 0}}} {
		one := plainTune([3]int{2, 1, 3}, c.folds)
		one.prepared.Whole = c.whole
		one.prepared.Data.Shards = []data.Shard{{Train: part(1, 0), Val: part(1), Test: part(0, 0)}}
		all := judge{tune: one, run: experiment.FinishedRun{Collective: alone{}}}.tables()
		s := all.Sites[0]
		if !slices.Equal(s.Target, c.want) || (len(s.Count) == len(c.want)) != c.whole ||
			(len(s.Weight) == len(c.want)) == c.whole || all.Kind != assess.Class || s.Rows != len(c.want) {
			t.Errorf("%+v: %+v", c, s)
		}
	}
	for kind, want := range map[features.TargetKind][]float64{features.Class: {2, 3}, features.Survival: {4, 5}} {
		one, train := plainTune([3]int{2, 0, 0}, 5), part(1, 0)
		train.Count, train.Columns = numbers(2, 3), []data.Column{{Name: models.RiskWeights, Table: numbers(4, 5)}}
		one.prepared.Whole, one.prepared.Recipe.Target.Kind = true, kind
		one.prepared.Data.Shards = []data.Shard{{Train: train}}
		all := judge{tune: one, run: experiment.FinishedRun{Collective: alone{}}}.tables()
		if got := all.Sites[0].Count; !slices.Equal(got, want) {
			t.Errorf("%s: rows count %v, want %v", kind, got, want)
		}
	}
}

// TestCardOfTask: numbers that are used have a mean and a deviation; words and what was dropped
// have none. The target's are told of a number, of a count its mean alone.
func TestCardOfTask(t *testing.T) {
	for kind, want := range map[features.TargetKind][2]bool{features.Class: {}, features.Value: {true, true},
		features.Counts: {true, false}, features.Survival: {}} {
		one := plainTune([3]int{9, 9, 9}, 3)
		p := one.prepared
		p.Recipe.Target = features.Target{Kind: kind, Mean: 1, Deviation: 2}
		p.Recipe.Inputs = []features.Input{{Name: "a"}, {Name: "b", Dropped: "no use"}, {Name: "c", Kind: tables.Word}}
		p.Missing, p.OfSites = make([]float64, 3), [][3]int{{4, 0, 5}, {5, 0, 4}}
		card := one.card()
		if got := [2]bool{card.Target.Mean.Known(), card.Target.Deviation.Known()}; got != want {
			t.Errorf("%s: mean and deviation are told %v", kind, got)
		}
		for k, c := range card.Columns {
			if c.Mean.Known() != (k == 0) || c.Deviation.Known() != (k == 0) {
				t.Errorf("%s: %+v", kind, c)
			}
		}
		if card.Sites[1] != [3]int{5, 5, 4} || (len(card.Target.Levels) > 0) != (kind == features.Survival) {
			t.Errorf("%s: sites %v, levels %v", kind, card.Sites, card.Target.Levels)
		}
	}
}
