package experiment

import (
	"slices"
	"strings"
	"testing"

	"dsbo/algo"
	"dsbo/experiment/candidates"
	"dsbo/runs"
	"dsbo/train"
)

// TestRiseNotes: over-fitting is noted after two records in a row whose held-out loss is above the
// least by more than chance, where the printed losses show it; a run that ended early has the
// reason.
func TestRiseNotes(t *testing.T) {
	records := func(holdout, val runs.Number) []runs.Record {
		return []runs.Record{{Iteration: 0, HoldoutLoss: 0.5, ValLoss: 0.5},
			{Iteration: 3, HoldoutLoss: 0.0301, ValLoss: 0.03}, {Iteration: 6, HoldoutLoss: holdout, ValLoss: val}}
	}
	const overfit, ended = "fit the validation examples alone", "ended after 6 of 9"
	if notes := riseNotes(records(.04, .02), train.Best{Iteration: 5, Rose: 2}, 6, 9, "λ"); notes != nil {
		t.Errorf("notes %q of a best iterate that has no record", notes)
	}
	for name, c := range map[string]struct {
		holdout, val runs.Number
		rose, all    int
		want, not    string
	}{
		"once":            {0.04, 0.02, 1, 9, "", overfit},
		"twice":           {0.04, 0.02, 2, 6, "After iteration 3 the held-out loss rose (0.0301 → 0.0400)", ended},
		"ended":           {0.04, 0.02, 2, 9, "Therefore the iterations " + ended, "chance"},
		"not ended":       {0.04, 0.02, 2, 6, "the λ of the iterations is that one's.", "Therefore"},
		"digits alike":    {0.03013, 0.02, 2, 6, "", overfit},
		"ended, alike":    {0.03013, 0.02, 3, 9, "3 evaluations the held-out loss was above iteration 3's", overfit},
		"validation":      {0.04, 0.03004, 2, 6, "", overfit},
		"by no digit":     {0.04, 0.02996, 2, 6, "", overfit},
		"validation rose": {0.04, 0.05, 2, 9, ended + ", and the λ of the iterations is that one's.", overfit},
	} {
		best, all := train.Best{Iteration: 3, Rose: c.rose}, records(c.holdout, c.val)
		notes := strings.Join(riseNotes(all, best, 6, c.all, "λ"), " ")
		if first := strings.Join(riseNotes(all[1:], best, 6, c.all, "λ"), " "); first != notes {
			t.Errorf("%s: where the first record is the best, notes are %q, else %q", name, first, notes)
		}
		if !strings.Contains(notes, c.want) || c.want == "" && notes != "" || strings.Contains(notes, c.not) {
			t.Errorf("%s: notes %q must have %q and not %q", name, notes, c.want, c.not)
		}
	}
}

// TestReachedNotes: where the lower problem is not known to be convex, a note has the solutions
// that had not settled, by what two starts differ, and the least eigenvalues at the start and at
// the end, whichever records have one.
func TestReachedNotes(t *testing.T) {
	at := func(iteration int, least runs.Number) runs.Record {
		return runs.Record{Iteration: iteration, LeastEigenvalue: least}
	}
	models := []runs.Model{{Name: "one", Reached: true, Converged: true, Spread: .031}, {Name: "two", Reached: true},
		{Name: "three", Converged: true, Spread: .5}, {Name: "four", Spread: .5}}
	note := strings.Join(reachedNotes(models, []runs.Record{at(0, -.23), at(5, .17), at(9, .43)}), " ")
	for _, want := range []string{"whose Φ differ by 0.031 (one).", "had not settled when the solves of two ended",
		"averaged Hessian: -0.23 after iteration 0, 0.43 after iteration 9."} {
		if !strings.Contains(note, want) {
			t.Errorf("%q must have %q", note, want)
		}
	}
	if note := strings.Join(reachedNotes(models[1:2], nil), " "); strings.Contains(note, "better of two") {
		t.Errorf("%q: there is one start", note)
	}
	note = strings.Join(reachedNotes(models, []runs.Record{at(0, runs.Unknown()), at(9, runs.Unknown())}), " ")
	if strings.Contains(note, "eigenvalue") {
		t.Errorf("%q: none is known", note)
	}
	if note := strings.Join(reachedNotes(models[:1], nil), " "); strings.Contains(note, "settled") {
		t.Errorf("%q: all have settled", note)
	}
	if notes := reachedNotes(models[2:], []runs.Record{at(0, .1)}); notes != nil {
		t.Errorf("%q of a convex problem", notes)
	}
}

// TestUnconvergedNotes: the models that have not converged are named, but those whose Φ is at the
// solution that was reached.
func TestUnconvergedNotes(t *testing.T) {
	is := []runs.Model{{Name: "is", Converged: true}, {Name: "reached", Reached: true}}
	for _, c := range []struct{ name, want string }{
		{"is not", "The model of is not has"}, {"neither", "The models of is not; neither have"},
	} {
		if notes := unconvergedNotes(is, "λ"); len(is) == 2 && notes != nil {
			t.Errorf("notes %q, want none", notes)
		}
		is = append(is, runs.Model{Name: c.name})
		if notes := strings.Join(unconvergedNotes(is, "λ"), " "); !strings.HasPrefix(notes, c.want) {
			t.Errorf("notes %q must begin with %q", notes, c.want)
		}
	}
}

// TestSpreads: the spread of a gain is the largest change, of whatever sign, by another start.
func TestSpreads(t *testing.T) {
	gains := []runs.Gain{{LossSpread: .3}, {LossSpread: .3}, {}}
	widenSpreads(gains, []runs.Gain{{LossChange: -.5}, {LossChange: .2}, {LossChange: -.1}})
	for i, want := range []runs.Number{.5, .3, .1} {
		if gains[i].LossSpread != want {
			t.Errorf("spread %d is %g, want %g", i, gains[i].LossSpread, want)
		}
	}
}

// TestIterateSentence: Φ of the tuned model, the test accuracy of the last iterate where that is
// the best one, and neither where it is not known, nor Φ of a model that has not converged.
func TestIterateSentence(t *testing.T) {
	weights := runs.Meaning{One: "weight of the body", Many: "weights of the body"}
	const last = "at the last iterate of 2 weights of the body "
	const accuracy = "the test accuracy of the agents' average y is 0.7500."
	for _, c := range []struct {
		best          int
		phi, accuracy runs.Number
		solved        bool
		want          string
	}{
		{6, .25, .75, false, last + accuracy},
		{6, .25, .75, true, last + "Φ is 0.2500 and " + accuracy},
		{6, .25, runs.Unknown(), true, last + "Φ is 0.2500."},
		{6, runs.Unknown(), .75, true, last + accuracy},
		{6, runs.Unknown(), runs.Unknown(), true, last + "no loss is known."},
		{3, .25, .75, true, "at the iterate after iteration 3 of 2 weights of the body Φ is 0.2500."},
	} {
		result := &train.Result{Iterations: 6, Best: train.Best{Iteration: c.best},
			Records: []runs.Record{{Iteration: 0}, {Iteration: 6, TestAccuracy: c.accuracy}}}
		tuned := candidates.NewModel("", runs.Unknown(), make([]float64, 2))
		tuned.Phi, tuned.Converged = c.phi, c.solved
		got := iterateSentence("madsbo", weights.Text(2), result, tuned)
		if want := "6 iterations of madsbo, compared with no other model; " + c.want; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for _, c := range [][2][]float64{{nil, {1}}, {{1}, nil}} {
		tuned, rival := &candidates.Model{Y: c[0]}, &candidates.Model{Y: c[1]}
		if gains, err := gainsOf(t.Context(), tuned, rival, 1); gains != nil || err != nil {
			t.Errorf("solutions %v and %v have gains %v, error %v", c[0], c[1], gains, err)
		}
	}
}

// TestStartsAtBest: x starts at the best constant where -best-start asks for it, -x0 names none, x
// is penalties, and nothing else gives it a start; a box has to contain it, and a preset's is
// widened.
func TestStartsAtBest(t *testing.T) {
	for _, c := range []struct{ asked, given, penalties, known, want bool }{
		{true, false, true, false, true}, {false, false, true, false, false}, {true, true, true, false, false},
		{true, false, false, false, false}, {true, false, true, true, false},
	} {
		s := &Settings{given: map[string]bool{"x0": c.given}}
		p := problem{penalties: c.penalties}
		if s.X0Best = c.asked; c.known {
			p.startX = []float64{1}
		}
		if got := s.startsAtBest(&p); got != c.want {
			t.Errorf("%+v: %t", c, got)
		}
	}
	for x0, inside := range map[float64]bool{-2.1: false, -2: true, 0: true, 3: true, 3.1: false} {
		for _, asked := range []bool{true, false} {
			s := new(Settings)
			s.X0, s.X0Best = x0, asked
			c := train.Config{K: 9, Method: &algo.Tuned{Clip: []float64{-2, 3}}}
			err := s.validateStart(c)
			want := []float64{-2, 3}
			if asked {
				want = []float64{min(-2, x0), max(3, x0)}
			}
			if notes := s.widenBox(c); !slices.Equal(c.Box(), want) || (notes != nil) == inside && asked {
				t.Errorf("x starts at %g, the best constant %t: in %v, notes %q", x0, asked, c.Box(), notes)
			}
			refused := err != nil && strings.Contains(err.Error(), "clip must contain")
			if refused != (asked && !inside) {
				t.Errorf("x starts at %g, the best constant %t: %v", x0, asked, err)
			}
		}
	}
}
