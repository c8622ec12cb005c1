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
)

// finish writes what the run has found, then finds the models that it is compared with, and keeps
// the better one.
func (r *finisher) finish(ctx context.Context) error {
	r.iterationsOver = true
	best := r.result.Best
	if err := r.writeIterates(best); err != nil {
		return err
	}
	r.summary.Best = best.Iteration
	if c := r.crossFit(false); c != nil {
		return r.finishStructured(ctx, *c, best)
	}
	solver := r.result.Exact // warm, where records had exact values
	if solver == nil {
		solver = r.problem.Problem.Solver()
	}
	tuned, found := candidates.NewModel(r.problem.meaning.Symbol+" tuned", runs.Unknown(), best.X),
		r.newFinder(r.problem.Problem, len(best.X), solver)
	found.Second = best.Y
	found.Spent = r.result.Last().HVP / r.Agents
	if err := found.Solve(ctx, tuned, best.Y, best.Z); err != nil {
		return err
	}
	if !r.Rivals {
		return r.finishAlone(ctx, tuned, r.iterationNotes(best))
	}
	others, rival, err := r.rivals(ctx, found)
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
	r.summary.Constants = found.Tried
	kept, err := r.judge(ctx, tuned, rival, others, slices.Concat(r.iterationNotes(best), backtracked, descended))
	if err != nil {
		return err
	}
	if err := r.saveKept(ctx, kept, nil); err != nil {
		return err
	}
	if err := r.compareSimpler(ctx, kept); err != nil {
		return err
	}
	if err := r.compareSites(ctx, nil, rival, tuned); err != nil {
		return err
	}
	return r.writeFinished(ctx)
}

// finishAlone keeps the tuned model, which is compared with no other.
func (r *finisher) finishAlone(ctx context.Context, tuned *candidates.Model, notes []string) error {
	tuned.Kept = true
	s := &r.summary
	s.Models = []runs.Model{tuned.Model}
	s.Verdict = runs.Verdict{Outcome: runs.Unclear, Gains: []runs.Gain{}, Notes: append([]string{}, notes...),
		FoundBy: r.Algorithm, Sentence: r.iterateSentence(tuned)}
	if err := r.saveKept(ctx, tuned, nil); err != nil {
		return err
	}
	return r.writeFinished(ctx)
}

// iterateSentence gives Φ and the test accuracy of an iterate, as far as they are known, and claims
// nothing.
func (r *finisher) iterateSentence(tuned *candidates.Model) string {
	iterate, facts := fmt.Sprintf("the iterate after iteration %d", r.result.Best.Iteration), []string(nil)
	if last := r.result.Last(); r.result.Best.Iteration == last.Iteration {
		iterate = "the last iterate"
		if last.TestAccuracy.Known() {
			facts = []string{fmt.Sprintf("the test accuracy of the agents' average y is %.4f", last.TestAccuracy)}
		}
	}
	if tuned.Phi.Known() {
		facts = slices.Insert(facts, 0, fmt.Sprintf("Φ is %.4f", tuned.Phi))
	}
	return fmt.Sprintf("%s of %s, compared with no other model; at %s of %s %s.",
		wording.Count(r.result.Iterations, "iteration"), r.Algorithm, iterate,
		wording.Count(len(tuned.X), r.problem.meaning.One), cmp.Or(strings.Join(facts, " and "), "no loss is known"))
}

// judge compares the tuned model with the best of the others, puts all of them and the verdict into
// the summary, and returns the model that the run keeps. notes come before what it has to
// say itself.
func (r *finisher) judge(ctx context.Context, tuned, rival *candidates.Model, others []*candidates.Model,
	notes []string) (kept *candidates.Model, err error) {
	var gains []runs.Gain
	if tuned.Y != nil && rival.Y != nil {
		if gains, err = r.problem.Compare(ctx, tuned.Fit(), rival.Finder.Problem, rival.Fit()); err != nil {
			return nil, err
		}
		if err := addSpread(ctx, gains, tuned, rival); err != nil {
			return nil, err
		}
		if start := r.result.Start.ValLoss; start.Known() { // a rank that does not lead knows none
			for i := range gains {
				gains[i].LossStart = start
			}
		}
	}
	// the y of another model is no y of this one
	lost := rival.Finder == tuned.Finder && tuned.LosesTo(rival, gains)
	return r.conclude("", tuned, rival, lost, others, gains, notes), nil
}
