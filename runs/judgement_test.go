package runs_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"dsbo/internal/num"
	"dsbo/runs"
)

// TestChangeInterval: the interval reaches by Student's quantile of n − 1 degrees at 1 − .05/2S,
// raised by 1/√n.
func TestChangeInterval(t *testing.T) {
	for _, sites := range []int{1, 2, 6} {
		s := runs.Site{Examples: 20, Change: 0.5, ChangeError: 0.25}
		low, high := s.ChangeInterval(sites)
		reach := 0.25 * (1 + 1/math.Sqrt(20)) * num.StudentQuantile(1-.025/float64(sites), 19)
		if !(math.Abs(float64(high-low)/2/reach-1) <= 1e-12) || !(math.Abs(float64(high+low)-1) <= 1e-12) {
			t.Errorf("%d sites: %g to %g, want 0.5 ± %g", sites, low, high, reach)
		}
	}
}

// TestChangeCovers: of three sites, each with a model of its own few rows and one of all rows, the
// intervals of all three hold the true changes in 95 % of draws, of one site alone too. Numbers are
// predicted by least squares, whose true loss is known, on 20, 40 and 80 test rows.
func TestChangeCovers(t *testing.T) {
	const draws = 1500
	r := rand.New(rand.NewPCG(8, 8))
	together, single := 0, 0
	for range draws {
		slopeOf := func(n int) float64 { // of y = x + noise
			var xy, xx float64
			for range n {
				x := r.NormFloat64()
				xy, xx = xy+x*(x+r.NormFloat64()), xx+x*x
			}
			return xy / xx
		}
		joint, all := slopeOf(400), true
		for k, n := range []int{20, 40, 80} {
			own := slopeOf(3 * n / 4)
			var sum, squares float64
			for range n {
				x, e := r.NormFloat64(), r.NormFloat64()
				residual := func(slope float64) float64 { return (1-slope)*x + e }
				d := (residual(joint)*residual(joint) - residual(own)*residual(own)) / 2
				sum, squares = sum+d, squares+d*d
			}
			mean := sum / float64(n)
			s := runs.Site{Examples: n, Change: runs.Number(mean),
				ChangeError: runs.Number(math.Sqrt((squares/float64(n) - mean*mean) / float64(n-1)))}
			truth := runs.Number(((1-joint)*(1-joint) - (1-own)*(1-own)) / 2)
			if low, high := s.ChangeInterval(3); truth < low || truth > high {
				all = false
			}
			if low, high := s.ChangeInterval(1); k == 1 && low <= truth && truth <= high {
				single++
			}
		}
		if all {
			together++
		}
	}
	// .95 less three errors √(.95·.05/1500), and .01 for tails of products of normal numbers
	for what, n := range map[string]int{"three sites": together, "one": single} {
		if share := float64(n) / draws; share < .95-.017-.01 || share > .99 {
			t.Errorf("%s: %.3f of the intervals hold the truth", what, share)
		}
	}
}

// TestJudgement: what the sentence says of guessing follows from the confusion matrix, with an
// interval of paired rows.
func TestJudgement(t *testing.T) {
	class := func(name string) runs.ClassCurves { return runs.ClassCurves{Name: name} }
	accuracy := runs.Measure{Name: "accuracy", Value: .8, Low: .7, High: .88}
	for want, a := range map[string]runs.Assessment{
		"On 100 rows that it has not seen the model is right in 80.0 % (70.0 to 88.0): 30.0 points more (16.9 to " +
			"41.9) than always guessing a. It puts a row of b above another one in 90.0 % (80.0 to 95.0) of pairs; " +
			"guessing does in 50 %.": {Judged: 100, Confusion: [][]float64{{40, 10}, {10, 40}},
			Classes:  []runs.ClassCurves{class("a"), class("b")},
			Measures: []runs.Measure{accuracy, {Name: "AUROC of b", Value: .9, Low: .8, High: .95}}},
		"is right in 80.0 % (70.0 to 88.0), which beyond chance is no more and no less than always guessing a.": {
			Judged: 100, Confusion: [][]float64{{70, 8, 0}, {7, 9, 0}, {5, 0, 1}},
			Classes: []runs.ClassCurves{class("a"), class("b"), class("c")}, Measures: []runs.Measure{accuracy}},
		"(70.0 to 88.0), which beyond chance is no more and no less than always guessing x.": { // 8 rows won, 12 lost
			Judged: 100, Confusion: [][]float64{{60, 12, 0}, {18, 8, 0}, {2, 0, 0}},
			Classes:  []runs.ClassCurves{class("x"), class("y"), class("z")},
			Measures: []runs.Measure{accuracy}},
		"points less": {Judged: 100, Confusion: [][]float64{{60, 30, 0}, {5, 5, 0}, {0, 0, 0}},
			Classes: []runs.ClassCurves{class("a"), class("b"), class("c")}, Measures: []runs.Measure{accuracy}},
		"is off by 4.8 on average (3.9 to 5.8) and explains 60.0 % (50.0 to 70.0) of the variance; guessing the mean " +
			"explains none.": {Judged: 50, Measures: []runs.Measure{{Name: "MAE", Value: 4.8, Low: 3.9, High: 5.8},
			{Name: "R²", Value: .6, Low: .5, High: .7}}},
		"explains 6.0 % (−2.0 to 14.0) of the deviance: beyond chance no better than guessing the mean.": {Judged: 50,
			Counts: new(runs.CountCurves), Measures: []runs.Measure{{Name: "MAE", Value: 4.8, Low: 3.9, High: 5.8},
				{Name: "deviance explained", Value: .06, Low: -.02, High: .14}}},
		"explains 6.0 % (0.0 to 14.0) of the variance: beyond chance no better than guessing the mean.": {Judged: 50,
			Measures: []runs.Measure{{Name: "MAE", Value: 4.8, Low: 3.9, High: 5.8},
				{Name: "R²", Value: .06, High: .14}}},
		"On 9 rows with 8 events that it has not seen the model gives the row whose event came first the " +
			"higher hazard in 100.0 % of pairs of the same site; guessing does in 50 %; " +
			"how sure that is, is not known.": {
			Judged: 9, Events: 8, Measures: []runs.Measure{{Name: "concordance", Value: 1, Low: runs.Unknown(),
				High: runs.Unknown()}}},
		"of the same site; guessing does in 50 %, which beyond chance is no less.": {Judged: 90, Events: 40,
			Measures: []runs.Measure{{Name: "concordance", Value: .6, Low: .5, High: .7}}},
		"in 60.0 % (50.1 to 70.0) of pairs of the same site; guessing does in 50 %.": {Judged: 90, Events: 40,
			Measures: []runs.Measure{{Name: "concordance", Value: .6, Low: .501, High: .7}}},
		"cannot be judged: too few pairs of the same site tell which event came first.": {Judged: 90, Events: 40,
			Measures: []runs.Measure{{Name: "concordance", Value: runs.Unknown()}}},
		"19 test rows are too few to judge the model.":                          {Judged: 19},
		"No rows were left to judge the model.":                                 {Made: 9},
		"Differential privacy has no count of rows that could judge the model.": {},
	} {
		if got := a.Judgement(); !strings.Contains(got, want) {
			t.Errorf("%q\nwant %q", got, want)
		}
		if pairs := strings.Contains(a.Judgement(), "It puts a row of"); pairs != (len(a.Classes) == 2) {
			t.Errorf("of %d classes pairs are told: %t", len(a.Classes), pairs)
		}
	}
}

// TestJoiningOutcome: joining is better or worse where 0 is outside of the interval of the change,
// 2.0930·(1 + 1/√20) = 2.5610 errors on either side with 20 examples of one site, and not clear
// where it is not known.
func TestJoiningOutcome(t *testing.T) {
	for change, want := range map[runs.Number]runs.Outcome{-.2562: runs.Better, -.2560: runs.Same, .2560: runs.Same,
		.2562: runs.Worse, runs.Unknown(): runs.Unclear} {
		if got := (runs.Site{Examples: 20, Change: change, ChangeError: .1}).ChangeOutcome(1); got != want {
			t.Errorf("a change of %g: %s, want %s", change, got, want)
		}
	}
}

// TestKeptOfSites: the joint model of a site is the tuned one where that, the last of the table, is
// kept; fewer than 20 rows are too few to say why it has no change.
func TestKeptOfSites(t *testing.T) {
	site := runs.Site{Constant: runs.SiteScore{Loss: 1}, Tuned: runs.SiteScore{Loss: 2}}
	for _, tuned := range []bool{false, true} {
		s := runs.Summary{Models: []runs.Model{{Kept: !tuned}, {Kept: tuned}}}
		if got := site.Joint(s.TunedKept()).Loss; (got == 2) != tuned {
			t.Errorf("the tuned one is kept: %t, and the joint model has a loss of %g", tuned, got)
		}
	}
	if new(runs.Summary).TunedKept() {
		t.Error("a run without models keeps a tuned one")
	}
	for n, want := range map[int]string{19: "too few rows to say", 20: "no model of its own"} {
		if got := (runs.Site{Examples: n}).NoChange(); got != want {
			t.Errorf("%d rows: %q, want %q", n, got, want)
		}
	}
}
