package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"dsbo/internal/wording"
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

// bestConstant returns the single penalty that the tuned ones were compared with, and its exact Φ;
// else the best one that a run has tried, NaN if it has tried none.
func (r *Run) bestConstant() (best runs.Constant) {
	for _, m := range r.Summary.Models {
		if m.Name == r.Summary.Verdict.Against && m.Lambda.Known() && m.Phi.Known() {
			return runs.Constant{Lambda: float64(m.Lambda), Phi: float64(m.Phi)}
		}
	}
	best.Phi = math.NaN()
	for _, c := range r.Summary.Constants {
		if !(c.Phi >= best.Phi) {
			best = c
		}
	}
	return best
}

// headline returns the verdict of a run.
func (r *Run) headline() headline {
	if r.Summary.Verdict.Sentence != "" {
		v := r.Summary.Verdict
		if !v.ByTest() { // earlier versions judged by examples that had chosen something
			v.Outcome = runs.Unclear
		}
		notes := make([]string, len(v.Notes))
		for i, n := range v.Notes {
			notes[i] = withoutBreaks(n)
		}
		return headline{v.Outcome, withoutBreaks(v.Sentence), notes}
	}
	if r.End() != runs.Finished {
		return headline{Outcome: runs.Unclear,
			Sentence: "The run has not finished: its hyperparameters were not compared with others."}
	}
	return headline{Outcome: runs.Unclear, Sentence: "The run was not compared with one penalty for all."}
}

// withoutBreaks keeps a number and the unit or the change after it on one line.
func withoutBreaks(s string) string {
	return strings.NewReplacer(" %", "\u202f%", " → ", "\u00a0→ ", " ± ", "\u00a0±\u00a0",
		"λ = ", "λ\u00a0=\u00a0").Replace(s)
}

// headlines returns the verdict of all runs together: how many won and lost, and the changes of
// each group.
func headlines(gs []group) (h headline) {
	all := runsOf(gs)
	if len(all) == 1 {
		return all[0].headline()
	}
	count := map[runs.Outcome]int{}
	for _, r := range all {
		count[r.headline().Outcome]++
	}
	won, lost, judged := count[runs.Better], count[runs.Worse], len(all)-count[runs.Unclear]
	switch {
	case judged == 0:
		return headline{runs.Unclear, "No run was compared with one penalty for all.", sharedNotes(all)}
	case won == judged:
		h.Outcome = runs.Better
	case won > 0:
		h.Outcome = mixed
	case lost > 0:
		h.Outcome = runs.Worse
	default:
		h.Outcome = runs.Same
	}
	h.Sentence = fmt.Sprintf("Against the best single penalty of the same data, tuning won in %d of %s, lost in %d "+
		"and made no clear difference in %d.", won, wording.Count(judged, "run"), lost, count[runs.Same])
	if len(all) > judged {
		h.Sentence += fmt.Sprintf(" Runs without a verdict: %d.", len(all)-judged)
	}
	for _, g := range gs {
		if changes := g.changes(); changes != "" {
			h.Notes = append(h.Notes, g.label+": "+changes)
		}
	}
	h.Notes = append(h.Notes, sharedNotes(all)...)
	return h
}

// changes says by how much test loss and Φ changed, each run's against the best constant of its
// own: median and range.
func (g group) changes() string {
	show := withSign(func(v float64) string { return share(v, 1) })
	var parts []string
	for _, name := range []string{"test loss", "Φ"} {
		of, _, _ := strings.Cut(name, " ")
		mid, low, high := spread(g.runs, func(r *Run) float64 { return r.value(of + " share") })
		text := name + " " + show(mid)
		if show(low) != show(high) {
			text += " in the median (" + show(low) + " to " + show(high) + ")"
		}
		if !math.IsNaN(mid) {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, ", ")
}

// sharedNotes lists the notes of all runs once, each with the run that has it, or with the number
// of those.
func sharedNotes(all []*Run) (list []string) {
	var notes []string
	said := map[string][]string{}
	for _, r := range all {
		for _, n := range r.headline().Notes {
			if said[n] == nil {
				notes = append(notes, n)
			}
			said[n] = append(said[n], r.Name)
		}
	}
	for _, n := range notes {
		who := said[n][0]
		if len(said[n]) > 1 {
			who = wording.Count(len(said[n]), "run")
		}
		list = append(list, who+": "+n)
	}
	return list
}

// unconverged reports whether the solver of one of the run's models has ended before the model
// had converged.
func (r *Run) unconverged() bool {
	return slices.ContainsFunc(r.Summary.Models, func(m runs.Model) bool { return !m.Converged })
}

// roles says what each set of examples has chosen, so that a reader knows which losses to believe.
var roles = map[string]string{
	runs.Test: "nothing: they judge", runs.HeldOut: "the iterate, and what is kept",
	runs.CrossFitted: "strengths of penalties, by models of other rows", runs.Validation: "the hyperparameters",
}

// lossChange and accuracyChange are the changes of a comparison with their intervals.
func lossChange(g runs.Gain) []cell {
	low, high := g.Interval()
	return changeCells(g, [3]runs.Number{g.LossChange, low, high}, 1, 1, "")
}

func accuracyChange(g runs.Gain) []cell {
	low, high := g.AccuracyInterval()
	return changeCells(g, [3]runs.Number{g.AccuracyChange, low, high}, -1, 100, "\u202fpp")
}

// changeCells show a change and the ends of its interval, times a factor and with a unit, and
// whether it is good beyond chance, of test examples alone: worse is the sign of a bad one.
func changeCells(g runs.Gain, change [3]runs.Number, worse runs.Number, factor float64, unit string) []cell {
	half := factor * float64(change[2]-change[1]) / 2
	show := func(v float64) string { return withSign(toDigitsOf(half))(factor*v) + unit }
	c := numberCell(change[0], show)
	if g.Set != runs.Test || !change[1].Known() {
		return []cell{c, textCell("")}
	}
	counts := worse < 0 || g.Outcome() != runs.Same
	switch low, high := worse*change[1], worse*change[2]; {
	case counts && min(low, high) > 0:
		c.Kind = string(runs.Worse)
	case counts && max(low, high) < 0:
		c.Kind = string(runs.Better)
	}
	return []cell{c, textCell(show(float64(change[1])) + " to " + show(float64(change[2])))}
}
