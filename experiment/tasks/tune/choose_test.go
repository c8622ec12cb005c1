package tune

import (
	"math"
	"testing"

	"dsbo/tables/features"
)

// TestChoose: networks are tried where folds choose, no flag asks of a linear model, and there are
// ten training rows a feature, but for words in fewer rows, and a million numbers at most. Without
// folds each feature has a penalty of its own from four training and validation rows a feature on.
func TestChoose(t *testing.T) {
	folded := tune{kind: "classification", folds: auto, penalty: auto}
	rare := func(rows ...float64) func(t *tune) { return func(t *tune) { t.prepared.Words = rows } }
	single := tune{kind: "classification", folds: "0", penalty: auto}
	for name, c := range map[string]struct {
		of            tune
		change        func(t *tune)
		width         int
		rows          [3]int
		taken, shared string
	}{
		"ten rows":           {folded, nil, 8, [3]int{80, 80}, auto, auto},
		"fewer":              {folded, nil, 8, [3]int{79, 79, 1000}, linear, auto},
		"rare words":         {folded, rare(9, 10, 9.5), 10, [3]int{80}, auto, auto},
		"words":              {folded, rare(10, 11), 9, [3]int{80}, linear, auto},
		"a million numbers":  {folded, nil, 100, [3]int{10000}, auto, auto},
		"more":               {folded, nil, 100, [3]int{10001}, linear, auto},
		"regression":         {folded, func(t *tune) { t.kind = "regression" }, 8, [3]int{80}, auto, auto},
		"survival":           {folded, func(t *tune) { t.kind = "survival" }, 8, [3]int{80}, linear, auto},
		"-model":             {folded, func(t *tune) { t.model = linear }, 8, [3]int{80}, linear, auto},
		"-folds":             {folded, func(t *tune) { t.folds = "5" }, 8, [3]int{80}, linear, auto},
		"-from":              {folded, func(t *tune) { t.earlier = new(earlier) }, 8, [3]int{80}, linear, auto},
		"-group":             {folded, func(t *tune) { t.group = groups{"a=a*"} }, 8, [3]int{80}, linear, auto},
		"-groups":            {folded, func(t *tune) { t.groupsFile = "g.json" }, 8, [3]int{80}, linear, auto},
		"-penalty":           {folded, func(t *tune) { t.penalty = perFeature }, 8, [3]int{80}, linear, perFeature},
		"-model mlp":         {folded, func(t *tune) { t.model = network }, 8, [3]int{9}, network, auto},
		"no folds":           {single, nil, 8, [3]int{800, 1}, linear, perFeature},
		"no folds, 4 rows":   {single, nil, 8, [3]int{30, 2, 90}, linear, perFeature},
		"no folds, fewer":    {single, nil, 8, [3]int{30, 1, 90}, linear, onePenalty},
		"no folds, -penalty": {single, func(t *tune) { t.penalty = perFeature }, 8, [3]int{9}, linear, perFeature},
		"unknown rows":       {single, nil, 8, [3]int{}, linear, perFeature},
	} {
		of := c.of
		of.prepared = &features.Prepared{Rows: c.rows}
		if of.folds != "0" {
			of.prepared.Folds = 5
		}
		for range c.width {
			of.prepared.Recipe.Inputs = append(of.prepared.Recipe.Inputs, features.Input{Name: "x"})
		}
		if c.change != nil {
			c.change(&of)
		}
		said := 0
		of.choose(func(string, ...any) { said++ })
		if of.taken != c.taken || of.shared != c.shared || (said > 0) != (c.shared == onePenalty) {
			t.Errorf("%s: model %s, penalty %s, %d notes; want %s, %s", name, of.taken, of.shared, said, c.taken,
				c.shared)
		}
	}
}

// TestToldImportances: importances are found with twenty test rows and four thousand million
// products at most.
func TestToldImportances(t *testing.T) {
	for _, c := range []struct{ rows, q, want int }{
		{20, 10, 4}, {19, 10, 0}, {1000, 1e6, 4}, {1000, 1e6 + 1, 0},
	} {
		p := &features.Prepared{Rows: [3]int{5, 5, c.rows},
			Recipe: features.Recipe{Inputs: make([]features.Input, 4)}}
		if got := toldImportances(p, c.q); got != c.want {
			t.Errorf("%d rows, %d weights: of %d features, want %d", c.rows, c.q, got, c.want)
		}
	}
}

// TestSavedPerEvent: the mean of 1, 2, 3, 6 with the interval of Student's distribution, whose
// quantile at 0.975 with three degrees of freedom is 3.1824463.
func TestSavedPerEvent(t *testing.T) {
	got, reach := savedPerEvent([]float64{4, 12, 50}), 3.1824463*math.Sqrt((4+1+0+9)/3./4)
	if got.Value != 3 || !(math.Abs(got.High-3-reach) <= 1e-6) || !(math.Abs(got.Low-3+reach) <= 1e-6) {
		t.Errorf("%+v, want 3 ± %g", got, reach)
	}
}
