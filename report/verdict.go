package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"dsbo/runs"
)

// A headline is the first sentence of the page: what tuning gave against one penalty for all.
type headline struct {
	Outcome  runs.Outcome
	Sentence string
	Notes    []string
}

// Word is the outcome in a few words, for readers who do not see its colour.
func (h headline) Word() string {
	switch h.Outcome {
	case runs.Better:
		return "Tuning helped"
	case runs.Same:
		return "No clear difference"
	case runs.Worse:
		return "Tuning lost"
	case mixed:
		return "Tuning helped in some runs"
	}
	return "No verdict"
}

// mixed is the outcome of several runs, of which no more have lost than won.
const mixed runs.Outcome = "mixed"

// bestConstant returns the best single penalty that a run has tried and its exact Φ, NaN if it has tried none.
func (r *Run) bestConstant() (best runs.Constant) {
	best.Phi = math.NaN()
	if r.Summary == nil {
		return best
	}
	for _, c := range r.Summary.Constants {
		if !(c.Phi >= best.Phi) {
			best = c
		}
	}
	return best
}

// tunedPhi returns the exact Φ of the hyperparameters that a run keeps, which are those of its last model.
func (r *Run) tunedPhi() float64 {
	if r.Summary != nil {
		if n := len(r.Summary.Models); n > 0 && r.Summary.Models[n-1].Phi.Known() {
			return float64(r.Summary.Models[n-1].Phi)
		}
	}
	return ofLast(phi)(r)
}

// phiGain returns Φ of a run less that of its own best constant. As the data of both are the same, this difference of a
// seed is comparable with that of another seed.
func (r *Run) phiGain() float64 { return r.tunedPhi() - r.bestConstant().Phi }

// relativeGain is that difference as a share of the constant's Φ.
func (r *Run) relativeGain() float64 { return r.phiGain() / math.Abs(r.bestConstant().Phi) }

// gain returns a number of the verdict's comparison on one set of examples, NaN if there is none.
func gain(set string, of func(runs.Gain) runs.Number) func(*Run) float64 {
	return func(r *Run) float64 {
		if r.Summary != nil {
			for _, g := range r.Summary.Verdict.Gains {
				if g.Set == set {
					return float64(of(g))
				}
			}
		}
		return math.NaN()
	}
}

// headline returns the verdict of a run. Where its folder has none, Φ and the constants give one.
func (r *Run) headline() headline {
	if r.Summary != nil && r.Summary.Verdict.Sentence != "" {
		v := r.Summary.Verdict
		return headline{v.Outcome, v.Sentence, v.Notes}
	}
	best, change := r.bestConstant(), r.relativeGain()
	h := headline{Outcome: runs.Unclear}
	switch state, _ := r.state(); {
	case !math.IsNaN(change):
		h.Outcome = runs.Same
		if math.Abs(change) > 1e-3 {
			h.Outcome = runs.Better
			if change > 0 {
				h.Outcome = runs.Worse
			}
		}
		h.Sentence = fmt.Sprintf("Φ is %s at the tuned λ and %s at the best single penalty, λ = %s: a change of %s.",
			number(r.tunedPhi()), number(best.Phi), number(best.Lambda), signed(percent)(change))
	case state != runs.Finished:
		h.Sentence = "The run has not finished: its hyperparameters were not compared with one penalty for all."
	default:
		h.Sentence = "The run has no single penalty to compare with."
	}
	if names := r.unconverged(); len(names) > 0 {
		h.Notes = append(h.Notes, "Not converged: "+strings.Join(names, ", ")+".")
	}
	return h
}

// unconverged lists the models whose solver has ended before they had converged.
func (r *Run) unconverged() (names []string) {
	if r.Summary != nil {
		for _, m := range r.Summary.Models {
			if !m.Converged {
				names = append(names, m.Name)
			}
		}
	}
	return names
}

// headlines returns the verdict of all runs together.
func headlines(all []*Run) headline {
	if len(all) == 1 {
		return all[0].headline()
	}
	var h headline
	count, said := map[runs.Outcome]int{}, map[string][]string{}
	var notes []string
	for _, r := range all {
		one := r.headline()
		count[one.Outcome]++
		for _, n := range one.Notes {
			if said[n] == nil {
				notes = append(notes, n)
			}
			said[n] = append(said[n], r.Name)
		}
	}
	for _, n := range notes {
		who := said[n][0]
		if len(said[n]) > 1 {
			who = plural(len(said[n]), "run")
		}
		h.Notes = append(h.Notes, who+": "+n)
	}
	won, lost, same, judged := count[runs.Better], count[runs.Worse], count[runs.Same], len(all)-count[runs.Unclear]
	switch {
	case judged == 0:
		h.Outcome, h.Sentence = runs.Unclear, "No run has been compared with one penalty for all."
		return h
	case won == judged:
		h.Outcome = runs.Better
	case lost > won:
		h.Outcome = runs.Worse
	case won == 0 && lost == 0:
		h.Outcome = runs.Same
	default:
		h.Outcome = mixed
	}
	var parts []string
	for _, p := range []struct {
		n    int
		text string
	}{{won, "beat the best single penalty in %d of %d runs"}, {lost, "lost against the best single penalty in %d of %d runs"},
		{same, "made no clear difference in %d of %d runs"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf(p.text, p.n, judged))
		}
	}
	h.Sentence = "Tuning " + strings.Join(parts, ", ") + "."
	if mid, low, high := spread(all, (*Run).relativeGain); !math.IsNaN(mid) {
		show := signed(percent)
		h.Sentence += fmt.Sprintf(" Against the best constant of the same run, Φ changed by %s in the median, by %s to %s in all.", show(mid), show(low), show(high))
	}
	if len(all) > judged {
		h.Sentence += fmt.Sprintf(" Runs without a verdict: %d.", len(all)-judged)
	}
	return h
}

// gains is the table of the verdict's comparisons, nil where there are none: tuned less constant, with the standard error over
// the examples, each of which both models have answered.
func gains(s *runs.Summary) *table {
	if s == nil || len(s.Verdict.Gains) == 0 {
		return nil
	}
	const perExample, share = "mean per example", "share of right answers"
	t := &table{Name: "Tuned against " + s.Verdict.Against, Columns: []column{{Title: "Examples"}, {Title: "Number", Numeric: true},
		{Title: "Loss, tuned", Hint: perExample, Numeric: true}, {Title: "Loss, constant", Hint: perExample, Numeric: true},
		{Title: "Change of loss", Hint: "tuned less constant, ± standard error over the paired examples", Numeric: true}}}
	classes := slices.ContainsFunc(s.Verdict.Gains, func(g runs.Gain) bool { return g.Accuracy.Known() })
	if classes {
		t.Columns = append(t.Columns, column{Title: "Accuracy, tuned", Hint: share, Numeric: true}, column{Title: "Accuracy, constant", Hint: share, Numeric: true},
			column{Title: "Change of accuracy", Hint: "in percentage points, ± standard error over the paired examples", Numeric: true})
	}
	for _, g := range s.Verdict.Gains {
		row := []cell{textCell(g.Set), numberCell(runs.Number(g.Examples), count), numberCell(g.Loss, number), numberCell(g.LossAgainst, number),
			changeCell(g.LossChange, g.LossError, 1, "", -1)}
		if classes {
			row = append(row, numberCell(g.Accuracy, percent), numberCell(g.AccuracyAgainst, percent), changeCell(g.AccuracyChange, g.AccuracyError, 100, "\u202fpp", 1))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// changeCell shows a change with its uncertainty, times a factor and with a unit, and whether it is good beyond two standard
// errors: a change of the given sign is.
func changeCell(change, e runs.Number, factor float64, unit string, good runs.Number) cell {
	c := numberCell(change, func(v float64) string { return uncertain(factor*v, factor*float64(e)) + unit })
	switch {
	case good*change > 2*e:
		c.Kind = string(runs.Better)
	case -good*change > 2*e:
		c.Kind = string(runs.Worse)
	}
	return c
}
