package experiment

import (
	"slices"
	"strings"
	"testing"

	"dsbo/runs"
)

// TestFeaturesText: columns with a coefficient beyond chance are named once, else those in use;
// none where chance alone does as well in more than 5 %.
func TestFeaturesText(t *testing.T) {
	all := []runs.Coefficient{{Feature: "sex=m", Column: "sex", BeyondChance: true},
		{Feature: "sex=x", Column: "sex", BeyondChance: true}, {Feature: "age", Column: "age"}}
	used := []runs.Coefficient{{Column: "age", Value: -.5, Deviation: 2}, {Column: "dose", Value: .01},
		{Column: "site", Value: .00999}}
	none := []runs.Coefficient{{Column: "age"}} // which the kept lasso leaves out
	for want, a := range map[string]runs.Assessment{
		"": {Coefficients: none, Effects: new(runs.Effects)},
		"Columns that count beyond chance, of those that the model uses most: sex.": {Coefficients: all,
			Effects: &runs.Effects{Shown: 2, Of: 3}},
		"Columns that count beyond chance: sex.":       {Coefficients: all, Effects: &runs.Effects{NoFeature: .05}},
		"Columns that the model uses most: age.":       {Coefficients: used[:1], Effects: new(runs.Effects)},
		"Columns that the model uses most: age, dose.": {Coefficients: used, Effects: new(runs.Effects)},
		"Columns that the model uses most: x.": {Importances: []runs.Importance{{Feature: "x", Rise: .2},
			{Feature: "y", Rise: .001}, {Feature: "z", Rise: -.1}}},
		"No feature counts beyond chance (p = 0.051).": {Coefficients: all, Effects: &runs.Effects{NoFeature: .051}},
		"No feature counts beyond chance (p = 0.06).":  {Coefficients: all, Effects: &runs.Effects{NoFeature: .06}},
	} {
		if got := featuresText(a); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestJoinedRows: each site has the losses, with accuracies where there are classes, of its own
// model and of the kept joint one, with an interval that allows for the number of sites; all sites
// together have their own. Where nothing is known, the reason stands.
func TestJoinedRows(t *testing.T) {
	score := func(loss, accuracy runs.Number) runs.SiteScore { return runs.SiteScore{Loss: loss, Accuracy: accuracy} }
	unknown := score(runs.Unknown(), runs.Unknown())
	for _, accuracy := range []runs.Number{.75, runs.Unknown()} {
		lone := score(.5, accuracy)
		s := &runs.Summary{Models: []runs.Model{{}, {Kept: true}}, Sites: []runs.Site{
			{Examples: 60, Alone: lone, Constant: unknown, Tuned: score(.375, accuracy), Change: -.125,
				ChangeError: .0625},
			{Name: "north", Examples: 19, Alone: unknown, Tuned: unknown, Change: runs.Unknown()},
			{Examples: 20, Alone: unknown, Tuned: lone, Change: runs.Unknown()}},
			AllSites: &runs.Site{Examples: 60, Alone: lone, Tuned: lone, Change: -.125, ChangeError: .0625}}
		// Student's quantiles of 59 degrees are 2.4642 at 1 − .05/6, and 2.0010 at .975, each
		// times 1 + 1/√60
		want := [][]string{{"site", "rows", "own model", "joint model", "change by joining"},
			{"site 0", "60", "0.5000", "0.3750", "−0.1250 (−0.2989 to 0.0489)"},
			{"north", "19", "-", "-", "too few rows to say"},
			{"site 2", "20", "-", "-", "no model of its own"},
			{"all sites", "60", "0.5000", "0.5000", "−0.1250 (−0.2662 to 0.0162)"}}
		if accuracy.Known() {
			for _, row := range []int{1, 4} {
				for column := 2; column < 4; column++ {
					want[row][column] += " (0.750)"
				}
			}
		}
		for i, row := range joinedRows(s) {
			if !slices.Equal(row, want[i]) {
				t.Errorf("%q, want %q", row, want[i])
			}
		}
		if text := s.ChangeMeaning(); strings.Contains(text, "accuracies") != accuracy.Known() {
			t.Errorf("with an accuracy of %v: %s", accuracy, text)
		}
		s.Sites = s.Sites[1:] // none of which has an interval
		if text := s.ChangeMeaning(); strings.Contains(text, "interval") || len(joinedRows(s)) != 4 {
			t.Errorf("without an interval: %s, %q", text, joinedRows(s))
		}
		if s.Sites = s.Sites[1:]; joinedRows(s) != nil {
			t.Errorf("one site: %q", joinedRows(s))
		}
	}
}

// TestNotes: the marks of heavy tails and levels of sites are told, each once.
func TestNotes(t *testing.T) {
	marked := func(name string) runs.Measure { return runs.Measure{Name: name, Note: runs.HeavyTails} }
	a := runs.Assessment{Levels: true, Measures: []runs.Measure{{Name: "MAE"}, marked("RMSE"), marked("R²")}}
	want := []string{"RMSE, R²: " + runs.HeavyTails + ".",
		"Each site predicts with a level of its own: of rows of a new site nothing is judged."}
	if got := answerNotes(new(runs.Summary), a); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := answerNotes(new(runs.Summary), runs.Assessment{Measures: a.Measures[:1]}); got != nil {
		t.Errorf("nothing to note: %q", got)
	}
	harmed := &runs.Summary{AllSites: &runs.Site{Examples: 100, Change: .5, ChangeError: .1}}
	linear := runs.Assessment{Effects: &runs.Effects{}}
	if got := answerNotes(harmed, linear); len(got) != 1 || got[0] != harmed.JoiningAdvice(linear) {
		t.Errorf("of sites that joining harms: %q", got)
	}
}

// TestLossText: an end of an interval near 0 is not written as 0.
func TestLossText(t *testing.T) {
	for n, want := range map[runs.Number]string{0.38: "0.3800", -1234.56: "−1234.6", 0: "0.0000", 0.0012: "0.0012",
		-0.00001412: "−0.000014", 0.000062: "0.0001", 1e-20: "0.000000000000"} {
		if got := lossText(n); got != want {
			t.Errorf("%g is %q, want %q", float64(n), got, want)
		}
	}
}
