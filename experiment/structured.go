package experiment

import (
	"context"
	"fmt"
	"slices"

	"dsbo/data"
	"dsbo/experiment/candidates"
	"dsbo/models"
	"dsbo/runs"
	"dsbo/train"
)

// A CrossFit is what a task has for a run that chooses how penalties differ from feature to feature
// (package candidates). The problem of the run is a [models.Folds] of one penalty.
type CrossFit struct {
	All      data.Task         // the training examples of all folds, once each
	Blocks   candidates.Blocks // of features; the zero value: none are named
	Variance bool              // losses are half of squares, and count in units of the residual variance
}

// crossFit returns what the task has for a choice of structures; nil: it has none.
func (r *finisher) crossFit() *CrossFit {
	if r.Task.CrossFit == nil {
		return nil
	}
	return r.Task.CrossFit()
}

// finishStructured finds the models of all structures of penalties, from the λ of the iterations
// on, compares their mean with one penalty for all, and keeps the better one.
func (r *finisher) finishStructured(ctx context.Context, c CrossFit, best train.Best) error {
	folds := r.data.loaded.model.(models.Folds)
	folds.Of, folds.Apart = r.linear(), true
	parts, err := r.problemOf(r.poser.problem.data, folds)
	if err != nil {
		return err
	}
	all, err := r.problemOf(memberData(c.All, r.finalEpoch), r.linear())
	if err != nil {
		return err
	}
	found, err := candidates.CrossFit{Model: folds, Problem: parts, Data: r.poser.problem.data, All: all,
		Blocks: c.Blocks, Variance: c.Variance, Watch: modelWatcher{r.runner}}.Structures(ctx, best.X[0])
	if err != nil {
		return err
	}
	one, mean, err := found.Models(ctx)
	if err != nil {
		return err
	}
	r.account.summary.Constants = found.Tried
	gains, err := all.Compare(ctx, mean.Fit(), all, one.Fit())
	if err != nil {
		return err
	}
	fitted := func(g runs.Gain) bool { return g.Set != runs.Test } // examples that have trained the models
	crossFitted, err := parts.Compare(ctx, found.CrossFitted(), parts, found.CrossFittedOne())
	if err != nil {
		return err
	}
	gains = slices.Concat(slices.DeleteFunc(gains, fitted),
		slices.DeleteFunc(crossFitted, func(g runs.Gain) bool { return g.Set == runs.Test }))
	kept := r.conclude(mean, one, []*candidates.Model{one}, gains, []string{found.Note()})
	if kept == one {
		found.KeepOne()
	}
	r.account.summary.Structures = found.Summaries()
	if err := r.saveKept(ctx, kept, found); err != nil {
		return err
	}
	if r.account.summary.Sites, err = r.sites.compareSites(ctx, one, mean); err != nil {
		return err
	}
	return r.writeFinished()
}

// linear returns the linear model of which the run's model has one for each fold, with a
// log-penalty for each feature, and no prior, which structures have in place of it.
func (r *finisher) linear() models.Linear {
	one := r.data.loaded.model.(models.Folds).Of
	one.Penalties, one.Prior = nil, models.Prior{}
	return one
}

// problemOf returns the problem of a model on data of the agents.
func (r *finisher) problemOf(t data.Task, m models.Model) (train.Problem, error) {
	prob, err := train.NewPart(r.team, t, m, models.Config{Seed: r.Settings.Seed, Batch: r.Settings.Batch})
	if err != nil {
		return prob, fmt.Errorf("model %T: %w", m, err)
	}
	prob.Numbers, prob.W, prob.Average, prob.Sent = r.poser.problem.Numbers, r.poser.problem.W, r.poser.problem.Average,
		r.poser.problem.Sent
	return prob, nil
}
