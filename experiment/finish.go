package experiment

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"dsbo/experiment/candidates"
	"dsbo/internal/wording"
	"dsbo/runs"
	"dsbo/train"
)

// finish compares the model at the best iterate with its rivals, the models at λ = 0 and at the
// best constant, and keeps the better one. If the best iterate does not beat them, two searches
// look for a better λ: on the line from it to the constant (Backtrack), then by descent on Φ. The
// kept model is written before further comparisons, which may fail.
func (e *ending) finish(ctx context.Context) error {
	r, of, best := e.run, e.result, e.result.Best
	solver := cmp.Or(of.Exact, e.problem.Solver()) // warm, where records had exact values
	notes := slices.Concat(e.problem.notes,
		riseNotes(of.Records, best, of.Iterations, r.settings.Iterations, e.problem.meaning.Symbol))
	tuned := candidates.NewModel(e.problem.meaning.Symbol+" tuned", runs.Unknown(), best.X)
	found := e.newFinder(e.problem.Problem, len(best.X), solver)
	found.Second = best.Y                           // second start of solves where there are several minima
	found.Spent = of.Last().HVP / r.settings.Agents // products of an agent so far; searches may take as many
	if err := found.Solve(ctx, tuned, best.Y, best.Z); err != nil {
		return err
	}
	if !r.settings.Rivals {
		return e.finishAlone(ctx, tuned, notes)
	}
	others, rival, err := e.rivals(ctx, found)
	if err != nil {
		return err
	}
	tuned, backtracked, err := found.Backtrack(ctx, tuned, rival)
	if err != nil {
		return err
	}
	tuned, descended, err := found.Descent(ctx, tuned, rival)
	if err != nil {
		return err
	}
	e.summary.Constants = found.Tried
	gains, err := gainsOf(ctx, tuned, rival, of.Start.ValLoss)
	if err != nil {
		return err
	}
	notes = slices.Concat(notes, backtracked, descended)
	kept := e.conclude("", tuned, rival, tuned.LosesTo(rival, gains), others, gains, notes)
	if err := e.saveKept(ctx, kept, nil); err != nil {
		return err
	}
	if err := e.compareSimpler(ctx, kept); err != nil {
		return err
	}
	return e.compareSites(ctx, nil, rival, tuned)
}

// finishAlone keeps the tuned model, which is compared with no other.
func (e *ending) finishAlone(ctx context.Context, tuned *candidates.Model, notes []string) error {
	tuned.Kept = true
	e.summary.Models = []runs.Model{tuned.Model}
	e.summary.Verdict = withoutVerdict(
		iterateSentence(e.run.settings.Algorithm, e.problem.meaning.Text(len(tuned.X)), e.result, tuned),
		slices.Concat(notes, unconvergedNotes(e.summary.Models, e.problem.meaning.Symbol))...)
	e.summary.Verdict.FoundBy = e.run.settings.Algorithm
	return e.saveKept(ctx, tuned, nil)
}

// withoutVerdict returns the verdict of a run whose result is compared with nothing. Its lists are
// empty in JSON, not null.
func withoutVerdict(sentence string, notes ...string) runs.Verdict {
	return runs.Verdict{Outcome: runs.Unclear, Gains: []runs.Gain{}, Notes: append([]string{}, notes...),
		Sentence: sentence}
}

// iterateSentence returns Φ and the test accuracy of an iterate, as far as they are known, without
// a verdict. x is what its entries are, such as "784 penalties".
func iterateSentence(algorithm, x string, of *train.Result, tuned *candidates.Model) string {
	iterate, facts := fmt.Sprintf("the iterate after iteration %d", of.Best.Iteration), []string(nil)
	if last := of.Last(); of.Best.Iteration == last.Iteration {
		iterate = "the last iterate"
		if last.TestAccuracy.Known() {
			facts = []string{fmt.Sprintf("the test accuracy of the agents' average y is %.4f", last.TestAccuracy)}
		}
	}
	if phi := tuned.PhiSolved(); phi.Known() {
		facts = slices.Insert(facts, 0, fmt.Sprintf("Φ is %.4f", phi))
	}
	return fmt.Sprintf("%s of %s, compared with no other model; at %s of %s %s.",
		wording.Count(of.Iterations, "iteration"), algorithm, iterate,
		x, cmp.Or(strings.Join(facts, " and "), "no loss is known"))
}

// gainsOf returns the gains of the tuned model over a rival, or nil if one of the two is not finite
// (no Y). start is the validation loss at the start, known to the leading rank only.
func gainsOf(ctx context.Context, tuned, rival *candidates.Model, start runs.Number) ([]runs.Gain, error) {
	if tuned.Y == nil || rival.Y == nil {
		return nil, nil
	}
	gains, err := tuned.Finder.Problem.Compare(ctx, tuned.Fit(), rival.Finder.Problem, rival.Fit())
	if err != nil {
		return nil, err
	}
	if start.Known() {
		for i := range gains {
			gains[i].LossStart = start
		}
	}
	return gains, addSpread(ctx, gains, tuned, rival)
}
