package report

import (
	"math"
	"slices"
	"strings"
	"testing"

	"dsbo/runs"
)

// judged is a run with a verdict.
func judged(name string, outcome runs.Outcome, notes ...string) *Run {
	r := &Run{Name: name, Records: make([]runs.Record, 1)}
	r.Summary.Verdict = runs.Verdict{Outcome: outcome, Sentence: "It is so.", Notes: notes,
		Gains: []runs.Gain{{Set: runs.Test, Loss: .9, LossAgainst: 1, LossChange: -.1}}}
	return r
}

// TestHeadlines: all runs together are better where all that are judged are, mixed where some are,
// worse where none is and some lost; runs without a verdict are counted apart.
func TestHeadlines(t *testing.T) {
	const better, same, worse, unclear = runs.Better, runs.Same, runs.Worse, runs.Unclear
	for _, c := range []struct {
		outcomes []runs.Outcome
		want     runs.Outcome
		sentence string
	}{
		{[]runs.Outcome{better, better}, better, "won in 2 of 2 runs, lost in 0 and made no clear difference in 0."},
		{[]runs.Outcome{better, unclear}, better, "won in 1 of 1 run, lost in 0 and made no clear difference in 0. R"},
		{[]runs.Outcome{better, same, worse}, mixed,
			"won in 1 of 3 runs, lost in 1 and made no clear difference in 1."},
		{[]runs.Outcome{worse, same, same}, worse, "won in 0 of 3 runs, lost in 1 and made no clear difference in 2."},
		{[]runs.Outcome{same, same}, same, "won in 0 of 2 runs, lost in 0 and made no clear difference in 2."},
		{[]runs.Outcome{unclear, same, unclear}, same, "difference in 1. Runs without a verdict: 2."},
		{[]runs.Outcome{unclear, unclear}, unclear, "No run was compared"},
	} {
		var g group
		for _, outcome := range c.outcomes {
			g.runs = append(g.runs, judged("run", outcome))
		}
		h := headlines([]group{g})
		text, _ := section(t, "headline", &page{Verdict: h})
		if h.Outcome != c.want || !strings.Contains(text, c.sentence) {
			t.Errorf("%v: %s, %q", c.outcomes, h.Outcome, text)
		}
	}
	old := judged("old", better) // judged by examples that had chosen something
	old.Summary.Verdict.Gains[0].Set = runs.Validation
	h := headlines([]group{{runs: []*Run{old}}})
	if text, _ := section(t, "headline", &page{Verdict: h, Run: old}); text != "No verdict It is so." {
		t.Errorf("by validation examples: %q", text)
	}
	for state, want := range map[runs.State]string{runs.Finished: "was not compared",
		runs.Unfinished: "has not finished"} {
		r := &Run{Records: make([]runs.Record, 1)}
		r.Summary.State = state
		if text, _ := section(t, "headline", &page{Verdict: h, Run: r}); !strings.Contains(text, want) {
			t.Errorf("state %q: %q", state, text)
		}
	}
	notes := sharedNotes([]*Run{judged("a", same, "one", "two"), judged("b", same, "two"), judged("c", same, "three")})
	if !slices.Equal(notes, []string{"a: one", "2 runs: two", "c: three"}) {
		t.Errorf("notes %q", notes)
	}
}

// TestGainOfPhi: Φ of the constant that the tuned model was compared with, else the least one
// that was tried; the gain is beside it, as a share of its size.
func TestGainOfPhi(t *testing.T) {
	r := judged("", runs.Same)
	if !math.IsNaN(r.bestConstant().Phi) {
		t.Errorf("of none that was tried Φ is %g", r.bestConstant().Phi)
	}
	r.Summary.Constants = []runs.Constant{{Lambda: 0, Phi: -1}, {Lambda: 1, Phi: -2}, {Lambda: 2, Phi: -2},
		{Lambda: 3, Phi: 4}}
	if best := r.bestConstant(); best.Lambda != 1 || best.Phi != -2 {
		t.Errorf("the best that was tried is %+v", best)
	}
	r.Summary.Verdict.Against = "one"
	r.Summary.Models = []runs.Model{{Name: "one", Lambda: 7, Phi: -4}, {Name: "tuned", Lambda: runs.Unknown(), Phi: -5}}
	if r.phi("tuned") == -5 { // it has not converged
		t.Error("the tuned model has a Φ without a solution")
	}
	r.Summary.Models[1].Converged = true
	if best := r.bestConstant(); best.Lambda != 7 || best.Phi != -4 || r.phi("gain") != -1 || r.phi("share") != -.25 {
		t.Errorf("it was compared with %+v; gains %g and %g", best, r.phi("gain"), r.phi("share"))
	}
	r.Summary.Models[0].Lambda = runs.Unknown() // no constant
	if best := r.bestConstant(); best.Lambda != 1 {
		t.Errorf("instead of what is no constant it is %+v", best)
	}
	if r.unconverged(); !r.unconverged() {
		t.Error("models that have not converged")
	}
	for k := range r.Summary.Models {
		r.Summary.Models[k].Converged = true
	}
	if r.unconverged() {
		t.Error("all models have converged")
	}
}

// TestColours: a change on test examples has the colour of what it is beyond chance, a higher
// accuracy the better one; of other examples, and where the verdict is the same, none.
func TestColours(t *testing.T) {
	for _, c := range []struct {
		set          string
		change, half runs.Number
		worse        runs.Number
		want         string
	}{
		{runs.Test, -.3, .2, 1, "better"}, {runs.Test, .3, .2, 1, "worse"}, {runs.Test, .3, .4, 1, ""},
		{runs.Test, .3, .2, -1, "better"}, {runs.Test, -.3, .2, -1, "worse"}, {runs.Test, -.3, .4, -1, ""},
		{runs.HeldOut, -.3, .2, 1, ""}, {runs.Validation, -.3, .2, 1, ""}, {runs.Test, -.3, runs.Unknown(), 1, ""},
		{runs.Test, -.003, .002, 1, ""}, {runs.Test, -.003, .002, -1, "worse"}, // less than half a percent of the loss
	} {
		g := runs.Gain{Set: c.set, Examples: 100, Loss: 1 + c.change, LossAgainst: 1, LossChange: c.change,
			LossError: c.half / 2}
		cells := changeCells(g, [3]runs.Number{c.change, c.change - c.half, c.change + c.half}, c.worse, 1, "")
		if got := cells[0].Kind; got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
		if told := cells[1].Text != none; told != (c.set == runs.Test && c.half.Known()) {
			t.Errorf("%+v: the interval is %q", c, cells[1].Text)
		}
	}
}

// TestLastValue: a number is of the last evaluation that knows it.
func TestLastValue(t *testing.T) {
	r := &Run{Records: []runs.Record{{Phi: 3}, {Phi: 2}, {Phi: runs.Unknown()}}}
	if got := r.value("last phi"); got != 2 {
		t.Errorf("Φ is %g, want 2", got)
	}
	if got := (&Run{Records: r.Records[2:]}).value("last phi"); !math.IsNaN(got) {
		t.Errorf("Φ that is not known is %g", got)
	}
}

// TestWholeValue: a number of the whole run is the summary's, which comes after the last
// evaluation, and the last evaluation's where there is no summary yet.
func TestWholeValue(t *testing.T) {
	r := &Run{Records: []runs.Record{{PeakRSSMiB: 90}}}
	if got := r.value("whole peak_rss_mib"); got != 90 {
		t.Errorf("a peak of %g while the run goes on, want 90", got)
	}
	r.Summary = runs.Summary{State: runs.Finished, PeakRSSMiB: 95}
	if got := r.value("whole peak_rss_mib"); got != 95 {
		t.Errorf("a peak of %g at the end, want 95", got)
	}
}

// TestLinesNotAlike: notes say where lines are of other seeds, and where a search has found what a
// line's method has not.
func TestLinesNotAlike(t *testing.T) {
	of := func(method, foundBy string, seeds ...uint64) (g group) {
		g.label = method
		for _, seed := range seeds {
			r := judged(method, runs.Better)
			r.Config.Algorithm, r.Config.Seed, r.Summary.Verdict.FoundBy = method, seed, foundBy
			g.runs = append(g.runs, r)
		}
		return g
	}
	const seeds, search = "Lines have other seeds", "; 2 of 2 runs by a search"
	two := of("b", "a search", 1, 2)
	two.runs = append(two.runs, of("b", "a fit", 3).runs...)
	if got := two.foundByOthers(); got != "; 3 of 3 runs by a fit and a search" {
		t.Error(got)
	}
	for name, c := range map[string]struct {
		gs           []group
		seeds, found bool
	}{
		"alike":         {[]group{of("a", "a", 1, 2), of("b", "b", 2, 1)}, false, false},
		"other seeds":   {[]group{of("a", "a", 1), of("b", "", 2)}, true, false},
		"fewer seeds":   {[]group{of("a", "a", 1, 2), of("b", "b", 1)}, true, false},
		"a search":      {[]group{of("a", "a", 1, 2), of("b", "a search", 1, 2)}, false, true},
		"one and twice": {[]group{of("a", "a", 1, 1), of("b", "b", 1)}, false, false},
	} {
		notes := strings.Join(headlines(c.gs).Notes, "\n")
		if strings.Contains(notes, seeds) != c.seeds || strings.Contains(notes, search) != c.found {
			t.Errorf("%s: %q", name, notes)
		}
	}
}
