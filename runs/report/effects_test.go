package report

import (
	"strings"
	"testing"

	"dsbo/runs"
)

// TestCoefficients: the word that others are told against comes before them, once; effects are of a
// step, with their intervals, marks and the kept weight; what has no interval has its reason. No
// feature counts with a probability above 5 %.
func TestCoefficients(t *testing.T) {
	unknown := runs.Unknown()
	a := runs.Assessment{Effects: &runs.Effects{Rows: 90, Shown: 3, Of: 7, NoFeature: .05,
		Columns: []runs.ColumnEffect{{Column: "age", Value: 2, Low: 1, High: 3}, {Column: "sex", Value: .5, High: 1}}},
		Coefficients: []runs.Coefficient{
			{Feature: "age", Column: "age", Estimate: .5, Error: .1, Low: .25, High: .75, Value: .4, Deviation: 2,
				BeyondChance: true},
			{Feature: "sex=m", Column: "sex", Estimate: 3, Error: 1, Low: -1, High: 7, Value: 2, Reference: "sex=f"},
			{Feature: "sex=x", Column: "sex", Estimate: unknown, Error: unknown, Low: unknown, High: unknown, Value: 1,
				Reference: "sex=f", Why: "too few rows"},
			{Feature: "sex missing", Column: "sex", Estimate: 4, Error: 1, Low: 2, High: 6, Value: 3},
		}}
	told := func(problem string) (string, []string) {
		t.Helper()
		r := &Run{Assessment: a}
		r.Config.Problem = []byte(problem)
		return section(t, "features", r)
	}
	const cost = `{"target":"cost","task":"value","loss":"squared"}`
	text, rows := told(cost)
	want := []string{"age | 1 beyond chance | 0.5000 to 1.500 | 0.8000 | 2",
		"sex=f | 0 (reference) | – | reference | the word", "sex=m | 3 | −1 to 7 | 2 | the word",
		"sex=x | – | too few rows | 1 | the word", "sex missing | 4 | 2 to 6 | 3 | no value"}
	if strings.Join(rows[1:], "\n") != strings.Join(want, "\n") {
		t.Errorf("%s", strings.Join(rows, "\n"))
	}
	for _, part := range []string{"within a site", "by 90 rows. Of the intervals shown 95 % hold the truth on average" +
		": they are wider for being 3 chosen among 7", "age: 2 (1 to 3)", "Which features count A step",
		"the word in place of the reference, or no value in place of the mean: it"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q must have in it %q", text, part)
		}
	}
	a.Lasso = &runs.KeptFeatures{Names: []string{"age", "sex=m"}, Of: 7}
	if got, _ := told(cost); !strings.Contains(got, "count The model that predicts has 2 of 7 features, age, "+
		"sex=m. Its weights have no intervals") || !strings.Contains(got, " all the same. A step is") {
		t.Errorf("of a lasso: %q", got)
	}
	a.Lasso = nil
	a.Effects.NoFeature, a.Effects.Of = .06, 3
	if got, _ := told(`{"target":"cost","task":"value","loss":"huber"}`); !strings.Contains(got,
		"No feature counts beyond chance (p = 0.06)") || strings.Contains(got, "chosen among") ||
		!strings.Contains(got, "95 % of runs. They are of least squares") {
		t.Errorf("by chance: %q", got)
	}
	a.Coefficients[0].Class, a.Coefficients[0].ReferenceClass, a.Coefficients[0].Reference = "b", "a", "a"
	const classes = `{"target":"y","task":"class","classes":["a","b","c"]}`
	if _, rows := told(classes); rows[1] != "age | b | 2.718 beyond chance | 1.649 to 4.482 | 2.226 | 2" ||
		!strings.HasPrefix(rows[0], "Feature | Class, against a | Odds ratio") {
		t.Errorf("%q", rows)
	}
	a.Effects.Refused = "too few rows to say how sure the coefficients are (9 rows, 8 columns)"
	if text, rows := told(`{"target":"y","task":"class","classes":["a","b"]}`); rows[1] != "age | 0.8000 | 2" ||
		!strings.Contains(text, a.Effects.Refused) {
		t.Errorf("refused: %q, %q", rows[1], text)
	}
	a = runs.Assessment{Lasso: &runs.KeptFeatures{Of: 7}, Effects: &runs.Effects{NoFeature: .06}}
	if text, _ := told(cost); !strings.Contains(text, "has none of 7 features. No feature counts beyond chance (p =") {
		t.Errorf("of a lasso without features: %q", text)
	}
	if text, _ := section(t, "about", &Run{Assessment: a}); strings.Contains(text, "made the model") {
		t.Errorf("rows that are not counted: %q", text)
	}
	a = runs.Assessment{Coefficients: []runs.Coefficient{{Feature: "age"}}}
	if text, _ := told(cost); !strings.Contains(text, "an older program") {
		t.Error("the intervals of an older program are shown")
	}
}
