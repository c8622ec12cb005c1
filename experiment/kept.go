package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"dsbo"
	"dsbo/data"
	"dsbo/experiment/candidates"
	"dsbo/models"
	"dsbo/runs"
	"dsbo/train"
)

// conclude adds the table of models, others and then the tuned one, and the verdict to the summary.
// It returns the model to keep and marks it: the tuned one, or rival, which is among others, if the
// tuned one has lost. The name of a rival with one λ for all (Lambda is known) becomes "best
// constant"; this must precede the table, which copies the models. head replaces the subject of the
// verdict if it is not tuning. If a search after the iterations found the tuned λ, the verdict does
// not credit the method.
func (e *ending) conclude(head string, tuned, rival *candidates.Model, lost bool, others []*candidates.Model,
	gains []runs.Gain, notes []string) *candidates.Model {
	kept := tuned
	if lost {
		kept = rival
	}
	kept.Kept = true
	if rival.Lambda.Known() {
		rival.Name += ", best constant"
	}
	for _, m := range append(others, tuned) {
		e.summary.Models = append(e.summary.Models, m.Model)
	}
	method, notBy := e.run.settings.Algorithm, ""
	if tuned.FoundBy == candidates.FoundBySearch || tuned.FoundBy == candidates.FoundByHalving {
		notBy = method
	}
	e.summary.Verdict = runs.Contest{
		Head: head, Count: len(tuned.X), Meaning: e.problem.meaning,
		FoundBy: cmp.Or(tuned.FoundBy, method), NotBy: notBy,
		Constant: rival.Lambda, Against: rival.Name, Lost: lost,
		Asked: tuned.FoundBy == candidates.FoundByPath, TestFlag: e.run.job.Task.TestFlag,
		Foreign: rival.Finder != tuned.Finder, Counted: e.problem.whole.Counted,
		Gains: gains, Phi: tuned.Phi, PhiAgainst: rival.Phi,
		PhiSpread: max(tuned.Spread, rival.Spread),
		Notes: slices.Concat(notes, unmovedNotes(tuned, rival, e.problem.meaning.Symbol), rival.BeyondNotes(),
			unconvergedNotes(e.summary.Models, e.problem.meaning.Symbol),
			reachedNotes(e.summary.Models, e.result.Records)),
	}.Verdict()
	return kept
}

// unmovedNotes returns a note where the iterations have left x where the rival has it; nil
// elsewhere.
func unmovedNotes(tuned, rival *candidates.Model, symbol string) []string {
	if tuned.FoundBy != "" || !slices.Equal(tuned.X, rival.X) {
		return nil
	}
	return []string{fmt.Sprintf("The %s of the iterations has not moved from %s: both are one model.", symbol,
		rival.Name)}
}

// addSpread widens the spreads of gains by the differences between the two solutions, from two
// starts, of models whose lower problem is not convex. A model with one solution changes nothing.
func addSpread(ctx context.Context, gains []runs.Gain, of ...*candidates.Model) error {
	for _, m := range of {
		other, ok := m.Other()
		if !ok {
			continue
		}
		changes, err := m.Finder.Problem.Compare(ctx, m.Fit(), m.Finder.Problem, other)
		if err != nil {
			return err
		}
		widenSpreads(gains, changes)
	}
	return nil
}

// widenSpreads makes the spreads of gains at least as large as changes of the losses on the same
// sets.
func widenSpreads(gains, changes []runs.Gain) {
	for i, change := range changes {
		gains[i].LossSpread = max(gains[i].LossSpread, runs.Number(math.Abs(float64(change.LossChange))))
	}
}

// writeFinished writes the summary of a run that has finished. Its epoch is the number of changes
// in the membership log, by which an agent's register finds the session of the result.
func (e *ending) writeFinished(ctx context.Context) error {
	if !e.run.layout.leads() {
		return nil
	}
	e.summary = e.summarize(runs.Finished, nil)
	e.summary.Epoch = len(e.config.Membership)
	return e.run.layout.save(ctx, func() error { return e.run.folder.WriteSummary(e.summary) })
}

// saveKept writes the kept model, unless it is not finite (no Y), and the task's results for it. If
// the task's model diverges, a note and a warning replace the task's notes and the run still
// succeeds: the models of the table are valid.
func (e *ending) saveKept(ctx context.Context, kept *candidates.Model, final *finalist) error {
	if kept.Y == nil {
		return nil
	}
	shape := e.problem.shapeY
	if final != nil { // one model of all folds' rows, where y of the problem has a model for each fold
		shape = []int{len(kept.Y)}
	}
	if err := e.run.writeModel(kept.X, kept.Y, shape); err != nil {
		return err
	}
	v := &e.summary.Verdict
	before := v.Notes
	err := e.finishTask(ctx, kept, final)
	if errors.Is(err, dsbo.ErrDiverged) { // the models found so far stay
		v.Notes = append(before, fmt.Sprintf("There is no model to predict with: %v", err))
		e.warnings = append(e.warnings, err.Error())
		e.run.view.Log("warning: %v", err)
		return nil
	}
	return err
}

// finishTask runs the task's Finish on the kept model. final is the choice by folds that the model
// belongs to, if any.
func (e *ending) finishTask(ctx context.Context, kept *candidates.Model, final *finalist) error {
	r, v := e.run, &e.summary.Verdict
	if r.job.Task.Finish == nil {
		return nil
	}
	f := FinishedRun{
		Folder: r.folder, Writes: r.layout.leads(), X: kept.X, Y: kept.Y, Collective: e.problem.Collective(ctx),
		Note:     func(format string, args ...any) { v.Notes = append(v.Notes, fmt.Sprintf(format, args...)) },
		KeptGain: e.keptGain,
		Solve: func(t data.Task, m models.Model, x []float64) (LowerSolution, error) {
			return e.solveOther(ctx, t, m, x)
		},
	}
	if final != nil {
		f.Refit = func(t data.Task, times float64) (train.Fit, error) {
			return final.refit(ctx, memberData(t, e.result.Epoch), times)
		}
		f.Levels = final.levels
		f.Network, f.Parts, f.Lasso = final.network, final.parts, final.lasso
	}
	return r.job.Task.Finish(f)
}

// keptGain adds the expected gain of the kept model, of times as many rows as the judged tuned one,
// to the verdict and returns it; 0: unknown, or the tuned one, the last of the table, is not kept.
func (e *ending) keptGain(times float64) runs.Number {
	v, n := &e.summary.Verdict, len(e.summary.Models)
	if v.ExpectedGain > 0 && n > 0 && e.summary.Models[n-1].Kept {
		v.ExpectedKept = runs.KeptShare(times) * v.ExpectedGain
	}
	return v.ExpectedKept
}

// solveOther returns the solution of the lower problem of a model on other data of the agents in
// the run, at x. One that has not converged is a warning; one that is not finite is
// dsbo.ErrDiverged.
func (e *ending) solveOther(ctx context.Context, t data.Task, m models.Model, x []float64) (LowerSolution, error) {
	f, err := e.finderOf(allRows, memberData(t, e.result.Epoch), m)
	if err != nil {
		return LowerSolution{}, err
	}
	solved := candidates.NewModel("all rows", runs.Unknown(), x)
	if err := f.Solve(ctx, solved, nil, nil); err != nil {
		return LowerSolution{}, err
	}
	if solved.Y == nil {
		return LowerSolution{}, dsbo.Errorf(dsbo.ErrDiverged, "the model of all rows: its solution is not finite")
	}
	if !solved.Solved() {
		const warning = "a model that is solved for after the iterations has not converged"
		e.run.view.Log("warning: %s", warning)
		if !slices.Contains(e.warnings, warning) {
			e.warnings = append(e.warnings, warning)
		}
	}
	return LowerSolution{solved.Y, solved.TestAccuracy}, nil
}

// unconvergedNotes returns a note on the models that have not converged, if any.
func unconvergedNotes(models []runs.Model, symbol string) []string {
	var names []string
	for _, m := range models {
		if !m.Solved() {
			names = append(names, m.Name)
		}
	}
	switch len(names) {
	case 0:
		return nil
	case 1:
		return []string{fmt.Sprintf("The model of %s has not converged: its losses are not those of its %s.",
			names[0], symbol)}
	}
	return []string{fmt.Sprintf("The models of %s have not converged: their losses are not those of their %s.",
		strings.Join(names, "; "), symbol)}
}

// reachedNotes returns a note for lower problems that are not known to be convex: Φ is then at the
// minima that the solver reached. It includes how far the minima from two starts differ, solves
// that did not settle, and the least eigenvalue of the Hessian at the first and last records.
func reachedNotes(models []runs.Model, records []runs.Record) []string {
	var reached, unsettled, spreads []string
	for _, m := range models {
		if m.Reached {
			reached = append(reached, m.Name)
		}
		if m.Reached && m.Spread > 0 {
			spreads = append(spreads, fmt.Sprintf("%.2g (%s)", float64(m.Spread), m.Name))
		}
		if m.Reached && !m.Converged {
			unsettled = append(unsettled, m.Name)
		}
	}
	if reached == nil {
		return nil
	}
	note :=
		"The model does not say that its lower problem is strongly convex (method Modulus of " +
			"models.StronglyConvex): Φ is at the solutions that were reached, and others may be elsewhere."
	if spreads != nil {
		note += fmt.Sprintf(" Each is the better of two, by the training loss: from the start of the problem and from "+
			"y of the iterations, whose Φ differ by %s.", strings.Join(spreads, ", "))
	}
	if unsettled != nil {
		note += fmt.Sprintf(" The lower loss had not settled when the solves of %s ended.",
			strings.Join(unsettled, "; "))
	}
	var least []string
	for _, rec := range records {
		if rec.LeastEigenvalue.Known() && (rec.Iteration == 0 || rec.Iteration == records[len(records)-1].Iteration) {
			least = append(least, fmt.Sprintf("%.2g after iteration %d", float64(rec.LeastEigenvalue), rec.Iteration))
		}
	}
	if least != nil {
		note += fmt.Sprintf(" Least eigenvalue of the averaged Hessian: %s.", strings.Join(least, ", "))
	}
	return []string{note}
}

// riseNotes returns a note if the held-out loss rose by more than chance ([train.Best]) after the
// best iterate. If the validation loss fell meanwhile, in its printed digits, λ over-fits the
// validation examples, and the note says so. Otherwise there is a note only if the run ended early
// because of the rise, after done of all iterations. symbol is λ or x.
func riseNotes(records []runs.Record, best train.Best, done, all int, symbol string) []string {
	i := slices.IndexFunc(records, func(rec runs.Record) bool { return rec.Iteration == best.Iteration })
	if i < 0 || best.Rose < train.LeastRose {
		return nil
	}
	then, last := records[i], records[len(records)-1]
	alike := func(a, b runs.Number) bool { return fmt.Sprintf("%.4f", a) == fmt.Sprintf("%.4f", b) } // as printed
	overfit := !alike(then.HoldoutLoss, last.HoldoutLoss) && !alike(then.ValLoss, last.ValLoss) &&
		last.ValLoss < then.ValLoss
	ended := ""
	if done < all {
		ended = fmt.Sprintf("the iterations ended after %d of %d", done, all)
	}
	switch {
	case overfit:
		note := fmt.Sprintf(
			"After iteration %d the held-out loss rose (%.4f → %.4f) while the validation loss fell (%.4f → %.4f)"+
				": %[6]s began to fit the validation examples alone, and the %[6]s of the iterations is that one's.",
			best.Iteration, then.HoldoutLoss, last.HoldoutLoss, then.ValLoss, last.ValLoss, symbol)
		if ended != "" {
			note += " Therefore " + ended + "."
		}
		return []string{note}
	case ended != "":
		return []string{fmt.Sprintf(
			"At the last %d evaluations the held-out loss was above iteration %d's by more than chance: %s, and the "+
				"%s of the iterations is that one's.", best.Rose, best.Iteration, ended, symbol)}
	}
	return nil
}

// writeIterates writes the iterations' results before models are solved, so that nothing is lost if
// that fails: λ, ȳ and the summary.
func (e *ending) writeIterates() error {
	best := e.result.Best
	e.summary.Best = best.Iteration
	if err := e.run.writeModel(best.X, best.Y, e.problem.shapeY); err != nil || !e.run.layout.leads() {
		return err
	}
	return e.run.folder.WriteSummary(e.summarize(runs.Unfinished, nil))
}

// writeModel writes lambda.npy and omega.npy, with y in a shape.
func (r *run) writeModel(x, y []float64, shape []int) error {
	if !r.layout.leads() {
		return nil
	}
	if err := r.folder.WriteArray(runs.LambdaFile, x, len(x)); err != nil {
		return err
	}
	return r.folder.WriteArray(runs.OmegaFile, y, shape...)
}
