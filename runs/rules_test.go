package runs

import (
	"errors"
	"strings"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
)

// TestLostHeldOut: a tuned model has lost where its loss on held-out examples is larger by more
// than one standard error, and by no other examples.
func TestLostHeldOut(t *testing.T) {
	for _, c := range []struct {
		set    string
		change Number
		want   bool
	}{{HeldOut, .011, true}, {HeldOut, .01, false}, {HeldOut, -.02, false}, {HeldOut, Unknown(), false},
		{Test, .1, false}, {Validation, .1, false}, {CrossFitted, .1, false}} {
		gains := []Gain{gain(Test, 1, .9, .01), {Set: c.set, LossChange: c.change, LossError: .01}}
		if got := LostHeldOut(gains); got != c.want {
			t.Errorf("%s, %g ± 0.01: %t, want %t", c.set, float64(c.change), got, c.want)
		}
	}
	if LostHeldOut(nil) {
		t.Error("lost without gains")
	}
}

// TestDisagrees: changes disagree from twice the sum of their errors on, with either sign.
func TestDisagrees(t *testing.T) {
	for _, c := range []struct {
		a, b Number
		want bool
	}{{.61, 0, true}, {.59, 0, false}, {-.61, 0, true}, {-.59, 0, false}, {.31, -.3, true}, {-.31, .3, true},
		{.7, .2, false}, {-.7, -.2, false}} {
		a, b := Gain{LossChange: c.a, LossError: .1}, Gain{LossChange: c.b, LossError: .2}
		if a.disagrees(b) != c.want || b.disagrees(a) != c.want {
			t.Errorf("%g ± 0.1 and %g ± 0.2 disagree: %t, want %t", c.a, c.b, !c.want, c.want)
		}
	}
}

// TestByChance: the features may tell nothing where chance alone has them tell as much in more than
// one case of twenty.
func TestByChance(t *testing.T) {
	for p, want := range map[float64]bool{0: false, .049: false, .05: false, .051: true, 1: true} {
		if got := (&Effects{NoFeature: p}).ByChance(); got != want {
			t.Errorf("with a probability of %g by chance: %t", p, got)
		}
	}
	if (*Effects)(nil).ByChance() {
		t.Error("by chance without effects")
	}
	for deviation, want := range map[float64]float64{0: 1, .3: .3, 3: 3} {
		if got := (Coefficient{Deviation: deviation}).Step(); got != want {
			t.Errorf("with a deviation of %g a coefficient is told for %g", deviation, got)
		}
	}
}

// TestSpentOfBoth: of both losses next to nothing is left where the larger one is below 1e-4 of the
// loss at the start, and neither is below 0.
func TestSpentOfBoth(t *testing.T) {
	for _, c := range []struct {
		a, b Number
		want bool
	}{{.9e-4, .1e-4, true}, {1.1e-4, .1e-4, false}, {-1e-9, .1e-4, false}, {0, .1e-4, true}} {
		for _, g := range []Gain{{Loss: c.a, LossAgainst: c.b, LossStart: 1},
			{Loss: c.b, LossAgainst: c.a, LossStart: 1}} {
			if g.spent() != c.want {
				t.Errorf("losses of %g and %g of 1: spent %t", g.LossAgainst, g.Loss, g.spent())
			}
		}
	}
}

// TestSentences: what a sentence has beside the outcome.
func TestSentences(t *testing.T) {
	below := func(g Gain) Gain { g.Loss, g.LossAgainst = g.Loss-2, g.LossAgainst-2; return g }
	verdict := func(gains ...Gain) string {
		return Contest{Count: 2, Meaning: Penalties, Against: "λ = 0", Constant: 0, Gains: gains}.Verdict().Sentence
	}
	of := func(c Contest, outcome Outcome) string { return c.lostText(outcome) }
	for name, c := range map[string][2]string{
		// shares mean nothing below 0, and the difference has its sign
		"below 0": {verdict(below(gain(Test, 1, 1.1, .01))), "raised the test loss by 0.1000 ("},
		"below 0, beside": {verdict(gain(Test, 1, .9, .01), below(gain(HeldOut, 1, 1.1, .01))),
			"held-out +0.1000 (rows"},
		"no error known": {verdict(gain(Test, 1, 1, Unknown())), "to the test loss (1.0000 → 1.0000) against"},
		"how sure not known": {verdict(gain(Test, 1, .8, Unknown())),
			"changed the test loss by −20.0 % (1.0000 → 0.8000)"},
		"falls by ten times": {percent(-10), "−10 times"},
		// found .1 ± .045, promised .312 ± .026
		"worse than found": {verdict(gain(Test, 1, 1.1, .045), gain(CrossFitted, 1, 1.3, .02)),
			"; on new rows some 25.9 % is to be expected"},
		// found .3 ± .01, promised .23 ± .065
		"worse as found": {verdict(gain(Test, 1, 1.3, .01), gain(CrossFitted, 1, 1.2, .05)),
			", of which some 29.8 % is to be expected"},
		"worse, of networks": {of(Contest{Head: "A network"}, Worse),
			"; it is kept all the same, as the cross-fitted loss, which decides, is lower"},
		"worse, by folds": {of(Contest{Gains: []Gain{gain(CrossFitted, 1, .9, .1)}}, Worse),
			"; it is kept all the same, as the cross-fitted loss, which decides, is lower"},
		"worse, of another": {of(Contest{Foreign: true, Against: "linear", Meaning: Penalties}, Worse),
			"as linear is another model"},
		"worse": {of(Contest{Meaning: Penalties}, Worse), "as Φ, which decides, is not higher"},
		"worse, beside held-out rows": {
			of(Contest{Meaning: Penalties, Gains: []Gain{gain(HeldOut, 1, 1.1, .2)}}, Worse),
			"as Φ is not higher, nor the held-out loss by a standard error"},
		"worse, beside held-out rows without an error": {
			of(Contest{Meaning: Penalties, Gains: []Gain{gain(HeldOut, 1, 1.1, Unknown())}}, Worse),
			"as Φ, which decides, is not higher"},
		"rows chose the iterate": {verdict(gain(Test, 1, .8, .01), gain(HeldOut, 1, .9, .01)),
			"held-out −10.0 % (rows that chose the iterate)"},
		"a search found λ": {Contest{Meaning: Penalties, Count: 2, NotBy: "madsbo", Against: "λ = 1", Constant: 1,
			Gains: []Gain{gain(Test, 1, .8, .01), gain(HeldOut, 1, .9, .01)}}.Verdict().Sentence,
			"held-out −10.0 % (rows that chose which model is kept)"},
		"a search found λ, no test rows": {Contest{Meaning: Penalties, Count: 2, NotBy: "madsbo", Against: "λ = 1",
			Constant: 1, Gains: []Gain{gain(HeldOut, 1, .9, .01)}}.Verdict().Sentence,
			" Which model is kept was chosen by"},
	} {
		if !strings.Contains(c[0], c[1]) {
			t.Errorf("%s: %q has no %q", name, c[0], c[1])
		}
	}
	for _, c := range []Contest{{Lost: true}, {}} {
		if got := of(c, Same) + of(Contest{Lost: true}, Worse); got != "" {
			t.Errorf("%q of what is not kept, or not worse", got)
		}
	}
	of1 := func(name string, value, low Number) Measure { return Measure{Name: name, Value: value, Low: low} }
	times := Assessment{Judged: 40, Events: 1, Measures: []Measure{of1("concordance", .6, .51)}}
	numbers := Assessment{Judged: 50, Measures: []Measure{of1("MAE", 4.8, Unknown()), of1("R²", .6, .5)}}
	classes := Assessment{Judged: 100, Confusion: [][]float64{{25, 35}, {20, 20}}, Classes: []ClassCurves{{}, {}},
		Measures: []Measure{of1("accuracy", .45, Unknown())}}
	for got, want := range map[string]string{
		times.Judgement():                 "On 40 rows with 1 event that it",
		Assessment{Judged: 1}.Judgement(): "1 test row",
		numbers.Judgement():               "by 4.8 on average and explains",
		// 20 rows won and 35 lost of 102: −.147 ± 1.96·√((56/102 − .147²)/102) is −.147 ± .141
		classes.Judgement(): "15.0 points less (0.6 to 28.8) than",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q has no %q", got, want)
		}
	}
}

// TestConsistent: curves that belong together have one length each, and the confusion matrix is
// square, with a row for each class.
func TestConsistent(t *testing.T) {
	two, three := make([]float64, 2), make([]float64, 3)
	whole := func() Assessment {
		return Assessment{Classes: []ClassCurves{{}, {Wrong: two, Right: two, Predicted: three, Observed: three}},
			Confusion: [][]float64{two, two}, Counts: &CountCurves{Predicted: two, True: two},
			Residuals: &ResidualCurves{Residual: two, Share: two, Predicted: three, Mean: three, Size: three}}
	}
	if a := whole(); !a.consistent() || !(Assessment{}).consistent() {
		t.Error("whole curves are refused")
	}
	for name, spoil := range map[string]func(a *Assessment){
		"the first":   func(a *Assessment) { a.Classes[0].Right = three },
		"ROC curve":   func(a *Assessment) { a.Classes[1].Right = three },
		"calibration": func(a *Assessment) { a.Classes[1].Observed = two },
		"a row":       func(a *Assessment) { a.Confusion[1] = three },
		"classes":     func(a *Assessment) { a.Classes = a.Classes[:1] },
		"rows":        func(a *Assessment) { a.Confusion = [][]float64{two, two, two} },
		"counts":      func(a *Assessment) { a.Counts.True = three },
		"residuals":   func(a *Assessment) { a.Residuals.Share = three },
		"means":       func(a *Assessment) { a.Residuals.Mean = two },
		"sizes":       func(a *Assessment) { a.Residuals.Size = two },
	} {
		a := whole()
		if spoil(&a); a.consistent() {
			t.Errorf("%s of another length are accepted", name)
		}
	}
}

// TestSiteModels: the last score of a model is the mean over all test examples, by sites' shares.
func TestSiteModels(t *testing.T) {
	score := func(v Number) SiteScore { return SiteScore{Loss: v, Accuracy: 2 * v} }
	sites := []Site{
		{Name: "north", Examples: 30, Constant: score(1), Tuned: score(3),
			OthersAlone: []SiteScore{score(5), score(9)}},
		{Examples: 10, Constant: score(2), Tuned: score(7), OthersAlone: []SiteScore{score(6), score(8)}},
		// without test examples
		{Constant: score(4), Tuned: score(4), OthersAlone: []SiteScore{score(Unknown()), score(1)}},
	}
	want := []SiteModel{{"north alone", []SiteScore{score(5), score(6), score(Unknown()), score(5.25)}},
		{"site 1 alone", []SiteScore{score(9), score(8), score(1), score(8.75)}},
		{"all, one penalty", []SiteScore{score(1), score(2), score(4), score(1.25)}},
		{"all, tuned", []SiteScore{score(3), score(7), score(4), score(4)}}}
	got := SiteModels(sites)
	if len(got) != len(want) || SiteModels(nil) != nil {
		t.Fatalf("%d models, and %v of no site", len(got), SiteModels(nil))
	}
	for k, m := range got {
		for at, s := range m.Scores {
			w := want[k].Scores[at]
			if m.Name != want[k].Name || s.Loss.Known() != w.Loss.Known() || s.Loss.Known() && s != w {
				t.Errorf("%s: %v, want %s: %v", m.Name, m.Scores, want[k].Name, want[k].Scores)
			}
		}
	}
	s := Summary{Models: []Model{{Kept: true}}}
	if !s.TunedKept() {
		t.Error("the only model is kept, and not the tuned one")
	}
	of := Threshold{Cost: 3, Own: 6, Others: 14}
	if paid := of.Paid(Taken{Found: 4, Alarms: 5}); paid != 11./20 { // two are missed, and 5 are false alarms
		t.Errorf("%g is paid for each", paid)
	}
}

// TestChangeMeaning: intervals of sites and accuracies are told where there are some, and how many
// intervals, of sites with few rows none.
func TestChangeMeaning(t *testing.T) {
	for _, c := range []struct {
		accuracy, change Number
		shown            int // changes
		beside           bool
		want             string
	}{{Unknown(), 1, 0, false, ""}, {.5, 1, 0, true, ""}, {Unknown(), 0, 3, false, "all 3 intervals contain"},
		{1, 1, 2, true, "all 2 intervals contain"}, {1, 1, 1, true, "the site's interval contains"}} {
		s := &Summary{Sites: make([]Site, 3)}
		for k := range s.Sites {
			s.Sites[k].Alone.Accuracy, s.Sites[k].Change = c.accuracy, Unknown()
			if k < c.shown {
				s.Sites[k].Change = c.change
			}
		}
		text := s.ChangeMeaning()
		if strings.Contains(text, "accuracies") != c.beside || !strings.Contains(text, c.want) ||
			strings.Contains(text, "interval") != (c.want != "") {
			t.Errorf("%+v: %s", c, text)
		}
	}
}

// TestKeepsLasso: a lasso is kept where it is the structure that is.
func TestKeepsLasso(t *testing.T) {
	lasso := new(Lasso)
	for _, c := range []struct {
		of   []Structure
		want bool
	}{{nil, false}, {[]Structure{{Kept: true}, {Lasso: lasso}}, false},
		{[]Structure{{}, {Kept: true, Lasso: lasso}}, true}} {
		if got := (&Summary{Structures: c.of}).KeepsLasso(); got != c.want {
			t.Errorf("%+v: %t", c.of, got)
		}
	}
}

// TestAssessmentIsRead: what is written is read; curves of two lengths are refused.
func TestAssessmentIsRead(t *testing.T) {
	f := Folder(t.TempDir())
	curves := &CountCurves{Predicted: []float64{1}, True: []float64{2}}
	testkit.OK(f.WriteAssessment(Assessment{Judged: 7, Counts: curves}))
	if a, err := f.ReadAssessment(); err != nil || a.Judged != 7 {
		t.Errorf("%+v, %v", a, err)
	}
	testkit.OK(f.WriteAssessment(Assessment{Counts: &CountCurves{Predicted: []float64{1}}}))
	if _, err := f.ReadAssessment(); !errors.Is(err, dsbo.ErrConfig) {
		t.Errorf("curves of two lengths: %v", err)
	}
	testkit.OK(f.WriteFile(AssessmentFile, []byte(`{"counts": {"predicted": [1], "true": 2}}`)))
	if _, err := f.ReadAssessment(); err == nil || strings.Contains(err.Error(), "length") {
		t.Errorf("a number for a curve: %v", err)
	}
}

// TestExpectedText: what is to be expected on new rows is a part of the change, or more.
func TestExpectedText(t *testing.T) {
	for _, c := range []struct {
		found            Outcome
		expected, change Number
		want             string
	}{
		{Better, .1, -.2, ", of which some 10.0 % is"}, {Better, .1, -.1, ", of which some 10.0 % is"},
		{Better, .2, -.1, "; on new rows some 20.0 % is"}, {Better, -.1, -.2, ", of which nothing is"},
		{Worse, -.1, .2, ", of which some 10.0 % is"}, {Worse, .1, .2, ", of which nothing is"}, {Better, 0, -.1, ""},
	} {
		got := expectedText(c.found, c.expected, c.change)
		if !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// TestSolved: a model is solved where its solution has converged, or is the one that was reached.
func TestSolved(t *testing.T) {
	for _, converged := range []bool{false, true} {
		for _, reached := range []bool{false, true} {
			if m := (Model{Converged: converged, Reached: reached}); m.Solved() != (converged || reached) {
				t.Errorf("converged %t, reached %t: solved %t", converged, reached, m.Solved())
			}
		}
	}
}

// TestOneRun: parts are of one run where run, cluster file and number of agents are the same.
func TestOneRun(t *testing.T) {
	of := func(run, hash string, agent, agents int) *Merged {
		m := new(Merged)
		m.Run, m.Hash, m.Agent, m.Agents, m.Summary.PerAgent = run, hash, agent, agents, make([]Usage, 2)
		return m
	}
	for name, c := range map[string]struct {
		second *Merged
		want   string
	}{
		"both": {of("a", "b", 1, 2), ""}, "another run": {of("x", "b", 1, 2), "must be of one run"},
		"another file": {of("a", "x", 1, 2), "must be of one run"},
		"of more":      {of("a", "b", 1, 3), "must be of one run"},
		"twice":        {of("a", "b", 0, 2), "each agent must have one run folder"},
	} {
		err := checkOneRun([]*Merged{of("a", "b", 0, 2), c.second})
		if c.want != "" {
			testkit.WantError(t, name, err, dsbo.ErrConfig, c.want)
		} else if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	a, b := of("a", "b", 0, 2), of("a", "b", 1, 2)
	a.Summary.Waited, b.Summary.Waited = []float64{1, 2}, []float64{3} // the other one has come in
	if a.add(b); a.Summary.Waited[0] != 4 || a.Summary.Waited[1] != 2 {
		t.Errorf("waited %v", a.Summary.Waited)
	}
	for want, parts := range map[string][]*Merged{"the run folders of all agents are required": nil,
		"1": {of("a", "b", 0, 2)}} {
		testkit.WantError(t, len(parts), checkOneRun(parts), dsbo.ErrConfig, want)
	}
}

// TestNewSettings: a setting is new where the other run lacks it.
func TestNewSettings(t *testing.T) {
	for _, d := range testkit.Get(Diff(map[string]int{"old": 1}, map[string]int{"old": 2, "new": 3})) {
		if d.IsNew() != (d.Name == "new") {
			t.Errorf("%v: new %t", d, d.IsNew())
		}
	}
}

// TestNoMetrics: where nothing is written, there is nothing to do.
func TestNoMetrics(t *testing.T) {
	var none *Metrics
	records, err := none.Continue(3, nil)
	size, sum, synced := none.Sync()
	err = errors.Join(err, synced, none.Write(Record{}), none.Truncate(), none.KeepRest(), none.Close())
	if err != nil || records != nil || size != 0 || sum != nil {
		t.Errorf("%v, %d bytes, %v", records, size, err)
	}
}

// TestMetricsContinue: records go on after the bytes that a checkpoint knows of, where the file has
// them unchanged.
func TestMetricsContinue(t *testing.T) {
	f := Folder(t.TempDir())
	m := testkit.Get(f.OpenMetrics())
	testkit.OK(m.Write(Record{Iteration: 3}))
	size, sum := testkit.Get2(m.Sync())
	testkit.OK(m.Close())
	for name, c := range map[string]struct {
		size    int64
		sum     []byte
		records int
		want    string
	}{
		"none": {0, nil, 0, ""}, "all": {size, sum, 1, ""}, "cut off": {size + 1, sum, 0, "it was changed or cut off"},
		"changed": {size, []byte("other"), 0, "it was changed"},
	} {
		m := testkit.Get(f.OpenMetrics())
		records, err := m.Continue(c.size, c.sum)
		if c.want != "" {
			testkit.WantError(t, name, err, dsbo.ErrConfig, c.want)
		} else if err != nil || len(records) != c.records {
			t.Errorf("%s: %v, %v", name, records, err)
		}
		testkit.OK(m.Close())
	}
	if s := (Site{Examples: 60}); s.ChangeOutcome(1) != Same {
		t.Errorf("no change at all is %s", s.ChangeOutcome(1))
	}
}

// TestMostOverGuessing: no model is right in more rows than there are, nor wrong.
func TestMostOverGuessing(t *testing.T) {
	const n = 20
	right := Assessment{Confusion: make([][]float64, n), Classes: make([]ClassCurves, n)}
	for k := range n {
		right.Confusion[k] = make([]float64, n)
		right.Confusion[k][k] = 1
	}
	wrong := Assessment{Confusion: [][]float64{{0, n}, {0, 0}}, Classes: make([]ClassCurves, 2)}
	if high, low := right.overGuessing().High, wrong.overGuessing().Low; high != 1 || low != -1 {
		t.Errorf("all of %d classes are right: at most %g more; all are wrong: %g", n, high, low)
	}
}
