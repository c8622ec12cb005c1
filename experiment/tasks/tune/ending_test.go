package tune

import (
	"fmt"
	"strings"
	"testing"

	"dsbo/experiment/tasks"
	"dsbo/tables"
	"dsbo/tables/features"
)

// plainTune returns the task behind Load, with four numbers as features and two classes.
func plainTune(rows [3]int, folds int) *tune {
	r := features.Recipe{Target: features.Target{Kind: features.Class, Classes: []string{"no", "yes"}}}
	for _, name := range []string{"a", "b", "c", "d"} {
		r.Inputs = append(r.Inputs, features.Input{Name: name, Kind: tables.Number, Deviation: 1})
	}
	return &tune{taken: linear, shared: auto, penalty: auto, prior: auto, refit: auto, hidden: tasks.DefaultHidden,
		sites: 2, prepared: &features.Prepared{Rows: rows, Folds: folds, Recipe: r}}
}

// TestEnding: the plan has what a run sends behind its iterations, and nothing that it does not:
// sums, by the last words of their names, with how often at most; and what is solved.
func TestEnding(t *testing.T) {
	const (
		judged = "predictions 1, row 1, "
		fitted = "columns 1, targets 1, columns 1, penalties 120, penalties 40, slopes 1, "
		cox    = "columns 1, signs 1, derivatives 42, slopes 1, "
	)
	nothing := func(*tune) {}
	cost := func(t *tune) { t.cost = missCost{"yes", 5} }
	feature := func(t *tune) { t.shared = perFeature }
	survival := func(t *tune) {
		t.prepared.Recipe.Target = features.Target{Kind: features.Survival}
		t.prepared.Times = [][]float64{{}}
	}
	for name, c := range map[string]struct {
		rows       [3]int
		folds      int
		change     func(*tune)
		sums, rest string
	}{
		"folds":         {[3]int{60, 60, 20}, 5, nothing, judged + fitted, "10 2 50 false false [] 0"},
		"19 test rows":  {[3]int{60, 60, 19}, 5, nothing, fitted, "10 2 50 false false [] 0"},
		"no test row":   {[3]int{60, 60, 0}, 5, nothing, fitted, "10 1 50 false false [] 0"},
		"no folds":      {[3]int{60, 30, 20}, 0, feature, judged + fitted, "10 1 0 false false [] 0"},
		"none, no rest": {[3]int{60, 30, 0}, 0, feature, fitted, "0 0 0 false false [] 0"},
		"feature":       {[3]int{60, 60, 20}, 5, feature, judged + fitted, "10 2 50 true false [] 0"},
		"one": {[3]int{60, 60, 20}, 5, func(t *tune) { t.shared = onePenalty }, judged + fitted,
			"10 2 0 false false [] 0"},
		"cost": {[3]int{60, 60, 20}, 5, cost, judged + "predictions 1, " + fitted, "10 7 50 false false [] 0"},
		"cost, lasso": {[3]int{60, 60, 20}, 5, func(t *tune) { cost(t); t.penalty, t.shared = lasso, lasso },
			judged + "predictions 1, " + fitted, "10 2 50 false false [] 4"},
		"cost, 19 test rows": {[3]int{60, 60, 19}, 5, cost, fitted, "10 2 50 false false [] 0"},
		"levels": {[3]int{60, 60, 20}, 5, func(t *tune) { t.levels.Rows = 60 }, judged + fitted,
			"10 2 50 false true [] 0"},
		"slopes": {[3]int{60, 60, 20}, 5, func(t *tune) { t.siteSlopes, t.levels.Rows = list{"b", "d"}, 60 },
			judged + "own 2 of 5, " + fitted, "10 2 50 false true [] 0"},
		"network": {[3]int{60, 30, 20}, 0, func(t *tune) { t.taken, t.shared = network, onePenalty },
			judged + "feature 1 of 4, ", "0 0 0 false false [] 0"},
		"network, one feature": {[3]int{60, 30, 20}, 0, func(t *tune) {
			t.taken, t.shared, t.prepared.Recipe.Inputs = network, onePenalty, t.prepared.Recipe.Inputs[:1]
		}, judged + "feature 1 of 1, ", "0 0 0 false false [] 0"},
		"auto": {[3]int{60, 60, 20}, 5, func(t *tune) { t.taken = auto }, judged + fitted + "feature 1 of 4, ",
			"10 2 50 false false [58 226 898] 0"},
		"private": {[3]int{}, 0, feature, "", "0 0 0 false false [] 0"},
		"survival": {[3]int{60, 60, 20}, 5, survival,
			"less 1, bins 1, errors 1, times 2, risk 2, hazards 2, leave 1, " + cox, "5 2 25 false false [] 0"},
		"survival, 19 test rows": {[3]int{60, 60, 19}, 5, survival, "times 1, risk 1, hazards 1, leave 1, " + cox,
			"5 2 25 false false [] 0"},
	} {
		one, sums := plainTune(c.rows, c.folds), ""
		c.change(one)
		e := one.ending()
		for _, s := range e.Sums {
			words := strings.Fields(s.Name)
			last := words[len(words)-1]
			sums += fmt.Sprintf("%s %g", last, s.Times.Most)
			if last == "own" || last == "feature" {
				sums += fmt.Sprintf(" of %g", s.Length)
			}
			sums += ", "
		}
		rest := fmt.Sprint(e.Model, e.Solves, e.Parts, e.Before, e.Levels, e.Networks, e.Scales)
		if sums != c.sums || rest != c.rest {
			t.Errorf("%s:\n%q, %s; want\n%q, %s", name, sums, rest, c.sums, c.rest)
		}
	}
}

// TestJudgedRows: losses are a mean of the rows of a set, and with survival times of its events,
// where the rows of folds validate too.
func TestJudgedRows(t *testing.T) {
	for _, c := range []struct {
		kind  features.TargetKind
		folds int
		want  [3]int
	}{
		{features.Class, 0, [3]int{60, 30, 20}}, {features.Class, 5, [3]int{60, 30, 20}},
		{features.Survival, 0, [3]int{41, 12, 7}}, {features.Survival, 5, [3]int{41, 41, 7}},
	} {
		p := &features.Prepared{Rows: [3]int{60, 30, 20}, Folds: c.folds, Events: [3]float64{40.6, 12.4, 7}}
		p.Recipe.Target.Kind = c.kind
		for set, want := range c.want {
			if got := judgedRows(p, set); got != want {
				t.Errorf("%s, %d folds, set %d: %d, want %d", c.kind, c.folds, set, got, want)
			}
		}
	}
}
