package report

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

// TestCard: the page begins with how columns were read, in red where nothing is learned from one,
// folded where they are many, and of very many the first.
func TestCard(t *testing.T) {
	card := &runs.Card{Columns: []runs.CardColumn{{Name: "age"}, {Name: "one", Dropped: "all have one value"}}}
	r := &Run{Summary: runs.Summary{Card: card}}
	if text, rows := section(t, "data", r); len(rows) != 4 || strings.Contains(text, "How ") ||
		!strings.HasSuffix(rows[3], "dropped: all have one value") {
		t.Errorf("%q in %q", rows, text)
	}
	card.Columns = append(card.Columns, make([]runs.CardColumn, 11)...)
	card.Columns = append(card.Columns, runs.CardColumn{Name: "sex", Levels: []string{"F", "f"}})
	card.Sites = [][3]int{{30, 30, 10}, {50, 50, 11}}
	text, rows := section(t, "data", r)
	if !strings.Contains(text, "How 14 columns were read, of which nothing is learned from one; "+
		"words of sex differ in capitals alone") ||
		!strings.HasSuffix(rows[len(rows)-1], "F and f differ in capitals alone") ||
		rows[2] != "site 1 | 50 | 50 | 11" {
		t.Errorf("of a long card: %q", text)
	}
	card.Sites, card.Columns = nil, make([]runs.CardColumn, 52)
	if text, rows := section(t, "data", r); len(rows) != 51 || !strings.Contains(text, "3 columns more") {
		t.Errorf("%d rows, %q", len(rows), text)
	}
}

// TestJoiningAdvice: the page says what to try where joining raises the loss beyond chance.
func TestJoiningAdvice(t *testing.T) {
	for change, advised := range map[runs.Number]bool{.5: true, -.5: false} {
		site := runs.Site{Examples: 100, Change: change, ChangeError: .1}
		r := &Run{Summary: runs.Summary{Sites: []runs.Site{site, site}, AllSites: &site},
			Assessment: runs.Assessment{Effects: &runs.Effects{}}}
		if text, _ := section(t, "joined", r); strings.Contains(text, "-site-effects auto") != advised {
			t.Errorf("a change of %g: %q", float64(change), text)
		}
	}
}

// TestThresholdOfRareClass: a threshold and costs of a rare class are not told as 0. A threshold
// keeps the digits that separate it from its neighbours among the bins.
func TestThresholdOfRareClass(t *testing.T) {
	h := &runs.Threshold{Class: "ill", Cost: 5, Probability: 3.2e-4, Own: 2, Others: 9998}
	h.At.Found, h.At.Alarms, h.Likeliest.Alarms = 1, 2, 3
	text, _ := section(t, "measures", runs.Assessment{Measures: []runs.Measure{{}}, Threshold: h})
	for _, want := range []string{"a probability of 3.20×10⁻⁴ on", "costs 7.00×10⁻⁴ a row", "costs 1.30×10⁻³"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q has no %q", text, want)
		}
	}
	h.Probability = .02549
	text, _ = section(t, "measures", runs.Assessment{Measures: []runs.Measure{{}}, Threshold: h})
	if !strings.Contains(text, "a probability of 0.0255 on") {
		t.Errorf("%q has another threshold", text)
	}
}

func TestAssessment(t *testing.T) {
	line := []float64{0, .5, 1}
	two := []runs.ClassCurves{
		{Name: "healthy", AUC: .8, Wrong: line, Right: line, Predicted: line, Observed: line},
		{Name: "ill", AUC: .9, Wrong: line, Right: line, Predicted: line, Observed: line},
	}
	var curved runs.Assessment
	curved.Survival.Curve = runs.SurvivalCurve{Times: line[:2], Share: line[:2], Low: line[:2], High: line[:2]}
	for _, c := range []struct {
		name    string
		a       runs.Assessment
		figures []string // none: an error
		text    string
	}{
		{"two classes", runs.Assessment{Classes: two}, []string{"roc", "calibration"}, "ill, area 0.900"},
		{"residuals", runs.Assessment{
			Residuals: &runs.ResidualCurves{Explained: .5, Residual: line, Share: line, Predicted: line,
				Mean: line, Size: line}},
			[]string{"residuals", "residuals_predicted"}, "R² = 0.500"},
		{"a class without examples",
			runs.Assessment{Classes: []runs.ClassCurves{two[0], two[1], {Name: "unknown", AUC: runs.Unknown()}}},
			[]string{"roc", "calibration"}, "healthy, area 0.800"},
		{"two times", curved, []string{"survival"}, ""},
		{"lengths differ", runs.Assessment{Classes: []runs.ClassCurves{{Wrong: line, Right: line[:2]}}}, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			folder := fixture{method: "newtoncg", seed: 1}.write(t, t.TempDir())
			testkit.OK(runs.Folder(folder).WriteAssessment(c.a))
			r, err := Load(folder)
			if c.figures == nil {
				if !errors.Is(err, dsbo.ErrConfig) {
					t.Fatalf("error %v, want dsbo.ErrConfig", err)
				}
				return
			}
			shown := []*Run{testkit.Get(r, err)}
			if page := string(testkit.Get(testkit.Get(newPage(shown, "")).html("page"))); !strings.Contains(page,
				"How good the predictions are") || !strings.Contains(page, c.text) {
				t.Errorf("the page does not show the assessment with %q", c.text)
			}
			testkit.OK(SaveFigures(folder, "", "", shown, c.figures...))
			for _, name := range c.figures {
				testkit.Get(os.Stat(filepath.Join(folder, name+".svg")))
			}
		})
	}
}

// TestImportances: the features of a network are listed as they come, with bars as long as what
// they count for, none for one that does not.
func TestImportances(t *testing.T) {
	r := &Run{Assessment: runs.Assessment{Importances: []runs.Importance{{Feature: "age", Rise: .2},
		{Feature: "dose", Rise: .05}, {Feature: "noise", Rise: -.01}}}}
	if _, rows := section(t, "features", r); !slices.Equal(rows[1:], []string{"age | 0.2000", "dose | 0.0500",
		"noise | −0.0100"}) {
		t.Errorf("%q", rows)
	}
	part := functions["part"].(func(v, of runs.Number) float64)
	for _, c := range [][3]runs.Number{{.05, .2, 25}, {-.01, .2, 0}, {0, 0, 0}, {-.01, -.01, 0}} {
		if got := part(c[0], c[1]); math.Abs(got-float64(c[2])) > 1e-9 {
			t.Errorf("%g of %g is a bar of %g %%, want %g", c[0], c[1], got, c[2])
		}
	}
	if text, _ := section(t, "features", &Run{}); text != "" {
		t.Errorf("of no features: %q", text)
	}
}

// TestPredictedBand: a root of a mean square of 5 around a mean of 3 is a deviation of 4.
func TestPredictedBand(t *testing.T) {
	s := predictedAgainstTrue(&runs.ResidualCurves{Predicted: []float64{1}, Mean: []float64{3}, Size: []float64{5}})
	if s.Y[0] != 4 || s.Low[0] != 0 || s.High[0] != 8 {
		t.Errorf("%+v", s)
	}
}
