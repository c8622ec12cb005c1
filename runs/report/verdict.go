package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"dsbo/internal/wording"
	"dsbo/runs"
)

// A headline is what tuning gave against one penalty for all: the outcome of all runs together, how
// many runs have each outcome, and which were judged.
type headline struct {
	Outcome runs.Outcome
	Count   map[string]int
	Judged  int
	Notes   []string
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

// BestByPrior reports whether a constant of lower exact Φ was tried than the best one: where folds
// choose, strengths of classes have a prior.
func (r *Run) BestByPrior() bool {
	best := r.bestConstant()
	return len(r.Summary.Structures) > 0 && slices.ContainsFunc(r.Summary.Constants,
		func(c runs.Constant) bool { return c.Phi < best.Phi })
}

// Outcome is the verdict of a run. Earlier versions judged by examples that had chosen something.
func (r *Run) Outcome() runs.Outcome {
	if v := r.Summary.Verdict; v.Sentence != "" && v.ByTest() {
		return v.Outcome
	}
	return runs.Unclear
}

// withoutBreaks keeps a number and the unit or the change after it on one line.
func withoutBreaks(s string) string {
	return strings.NewReplacer(" %", "\u202f%", " → ", "\u00a0→ ", " ± ", "\u00a0±\u00a0",
		"λ = ", "λ\u00a0=\u00a0").Replace(s)
}

// headlines returns the verdict of all runs together: how many won and lost, and the changes of
// each group.
func headlines(gs []group) headline {
	all := runsOf(gs)
	h := headline{Count: map[string]int{}}
	for _, r := range all {
		h.Count[string(r.Outcome())]++
	}
	h.Judged = len(all) - h.Count["unclear"]
	if len(all) == 1 {
		h.Outcome, h.Notes = all[0].Outcome(), all[0].Summary.Verdict.Notes
		return h
	}
	switch won := h.Count["better"]; {
	case h.Judged == 0:
		h.Outcome = runs.Unclear
	case won == h.Judged:
		h.Outcome = runs.Better
	case won > 0:
		h.Outcome = mixed
	case h.Count["worse"] > 0:
		h.Outcome = runs.Worse
	default:
		h.Outcome = runs.Same
	}
	for _, g := range gs {
		if changes := g.changes(); changes != "" && h.Judged > 0 {
			h.Notes = append(h.Notes, g.label+": "+changes+g.foundByOthers())
		}
	}
	if slices.ContainsFunc(byProblem(gs), unlikeSeeds) {
		h.Notes = append(h.Notes, "Lines have other seeds, and with them other data: how they differ is not of what "+
			"they are named by alone.")
	}
	h.Notes = append(h.Notes, sharedNotes(all)...)
	return h
}

// unlikeSeeds reports whether groups of one problem are of other draws of its data.
func unlikeSeeds(gs []group) bool {
	var first []uint64
	for i, g := range gs {
		var seeds []uint64
		for _, r := range g.runs {
			seeds = append(seeds, r.Config.Seed)
		}
		if slices.Sort(seeds); i == 0 {
			first = slices.Compact(seeds)
		} else if !slices.Equal(first, slices.Compact(seeds)) {
			return true
		}
	}
	return false
}

// foundByOthers tells of how many runs something other than their method has found the tuned
// hyperparameters, and what; "" for none.
func (g group) foundByOthers() string {
	var by []string
	for _, r := range g.runs {
		if found := r.Summary.Verdict.FoundBy; found != "" && found != r.method() {
			by = append(by, found)
		}
	}
	if by == nil {
		return ""
	}
	n := len(by)
	slices.Sort(by)
	names := strings.Join(slices.Compact(by), " and ")
	return fmt.Sprintf("; %d of %s by %s", n, wording.Count(len(g.runs), "run"), names)
}

// changes returns the changes of test loss and Φ, each run's against its own best constant: median
// and range.
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
		for _, n := range r.Summary.Verdict.Notes {
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
