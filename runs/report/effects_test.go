package report

import (
	"strings"
	"testing"

	"dsbo/runs"
)

// rowsOf returns the texts of a table's rows.
func rowsOf(t *table) (list []string) {
	for _, row := range t.Rows {
		var texts []string
		for _, c := range row {
			texts = append(texts, strings.TrimSpace(c.Text+" "+c.Note))
		}
		list = append(list, strings.Join(texts, " | "))
	}
	return list
}

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
		}}
	p := tableProblem{Target: "cost", Task: "value", Loss: "squared"}
	c := newCoefficients(p, a)
	want := []string{"age | 1 beyond chance | 0.5000 to 1.500 | 0.8000 | 2",
		"sex=f | 0 (reference) | – | reference | the word", "sex=m | 3 | −1 to 7 | 2 | the word",
		"sex=x | – | too few rows | 1 | the word"}
	if got := rowsOf(c.Table); strings.Join(got, "\n") != strings.Join(want, "\n") || c.Folded != "" {
		t.Errorf("folded %q:\n%s", c.Folded, strings.Join(got, "\n"))
	}
	if len(c.Bars) != 2 || c.Bars[1].Width != 25 || c.Bars[0].Name != "age: 2 (1 to 3)" {
		t.Errorf("bars %+v", c.Bars)
	}
	for _, part := range []string{"within a site", "by 90 rows. Of the intervals shown 95 % hold the truth on average" +
		": they are wider for being 3 chosen among 7"} {
		if !strings.Contains(c.Intro, part) {
			t.Errorf("%q must have in it %q", c.Intro, part)
		}
	}
	a.Lasso = &runs.KeptFeatures{Names: []string{"age", "sex=m"}, Of: 7}
	if got := newCoefficients(p, a).Intro; !strings.HasPrefix(got, "The model that predicts has 2 of 7 features, age, "+
		"sex=m. Its weights have no intervals") || !strings.HasSuffix(got, c.Intro) {
		t.Errorf("of a lasso: %q", got)
	}
	a.Lasso = nil
	a.Effects.NoFeature, a.Effects.Of, p.Loss = .06, 3, "huber"
	if c = newCoefficients(p, a); c.Folded != "No feature counts beyond chance (p = 0.06)" ||
		strings.Contains(c.Intro, "chosen among") || !strings.Contains(c.Intro, "Huber") {
		t.Errorf("folded %q, %q", c.Folded, c.Intro)
	}
	a.Coefficients[0].Class, a.Coefficients[0].ReferenceClass, a.Coefficients[0].Reference = "b", "a", "a"
	c = newCoefficients(tableProblem{Target: "y", Task: "class", Classes: []string{"a", "b", "c"}}, a)
	if got := rowsOf(c.Table)[0]; got != "age | b | 2.718 beyond chance | 1.649 to 4.482 | 2.226 | 2" ||
		c.Table.Columns[1].Title != "Class, against a" {
		t.Errorf("%q under %q", got, c.Table.Columns[1].Title)
	}
	a.Effects.Refused = "too few rows to say how sure the coefficients are (9 rows, 8 columns)"
	c = newCoefficients(p, a)
	if got := rowsOf(c.Table)[0]; got != "age | 0.8000 | 2" || !strings.Contains(c.Intro, a.Effects.Refused) {
		t.Errorf("refused: %q, %q", got, c.Intro)
	}
	if a.Effects = nil; !strings.Contains(newCoefficients(p, a).Intro, "an older program") {
		t.Error("the intervals of an older program are shown")
	}
}
