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
	Networks []models.MLP      // with which the linear model is compared, the smallest first; nil: there are none
}

// A finalist is the model that a choice by folds has come to.
type finalist struct {
	*candidates.Model
	network *candidates.Network // of the model; nil: it is linear
	// refit returns the model of other examples, of which there are times as many.
	refit func(ctx context.Context, t data.Task, times float64) ([]float64, error)
}

// crossFit returns what the task has for a choice of structures; nil: it has none.
func (r *finisher) crossFit() *CrossFit {
	if r.Task.CrossFit == nil {
		return nil
	}
	return r.Task.CrossFit()
}

// finishStructured finds the models of all structures of penalties, from the λ of the iterations
// on, and keeps the better one of their mean and one penalty for all; or a network, where there are
// some and the best is better than that mean.
func (r *finisher) finishStructured(ctx context.Context, c CrossFit, best train.Best) error {
	folds := r.data.loaded.model.(models.Folds)
	folds.Of, folds.Apart = r.linear(), true
	parts, err := r.roughProblem(r.poser.problem.data, folds)
	if err != nil {
		return err
	}
	c.All = memberData(c.All, r.finalEpoch)
	all, err := r.roughProblem(c.All, r.linear())
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
	final, notes, tuned := (*finalist)(nil), []string{found.Note()}, mean
	if len(c.Networks) > 0 {
		if final, notes, err = r.networkFinalist(ctx, c, found, one, mean, notes); err != nil {
			return err
		}
	}
	if final != nil {
		tuned = final.Model
	} else if final, err = r.linearFinalist(ctx, parts, found, one, mean, notes); err != nil {
		return err
	}
	if err := r.saveKept(ctx, final.Model, final); err != nil {
		return err
	}
	if r.account.summary.Sites, err = r.sites.compareSites(ctx, one, tuned); err != nil {
		return err
	}
	return r.writeFinished()
}

// linearFinalist compares the mean of all structures with one penalty for all. parts is the problem
// of the models of all folds.
func (r *finisher) linearFinalist(ctx context.Context, parts train.Problem, found *candidates.Structures,
	one, mean *candidates.Model, notes []string) (*finalist, error) {
	all := one.Finder.Problem
	gains, err := all.Compare(ctx, mean.Fit(), all, one.Fit())
	if err != nil {
		return nil, err
	}
	crossFitted, err := parts.Compare(ctx, found.CrossFitted(), parts, found.CrossFittedOne())
	if err != nil {
		return nil, err
	}
	gains = slices.Concat(slices.DeleteFunc(gains, fitted),
		slices.DeleteFunc(crossFitted, func(g runs.Gain) bool { return g.Set == runs.Test }))
	kept := r.conclude("", mean, one, []*candidates.Model{one}, gains, notes)
	if kept == one {
		found.KeepOne()
	}
	r.account.summary.Structures = append(found.Summaries(), r.account.summary.Structures...)
	return &finalist{Model: kept, refit: func(ctx context.Context, t data.Task, times float64) ([]float64, error) {
		all, err := r.roughProblem(t, r.linear())
		if err != nil {
			return nil, err
		}
		return found.Refit(ctx, all, times)
	}}, nil
}

// fitted reports whether a gain is on examples that have trained the models.
func fitted(g runs.Gain) bool { return g.Set != runs.Test }

// networkFinalist tries networks, and compares the best with the mean of all structures; nil: it is
// not better. What was tried comes behind the notes.
func (r *finisher) networkFinalist(ctx context.Context, c CrossFit, found *candidates.Structures,
	one, mean *candidates.Model, notes []string) (*finalist, []string, error) {
	networks := candidates.Networks{Of: c.Networks, Problem: r.roughProblem, Linear: found}
	tried, best, better, err := networks.Choose(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, n := range tried {
		if better && n == best {
			n.Share = 1
		}
		r.account.summary.Structures = append(r.account.summary.Structures, n.Structure)
	}
	one.Name, mean.Name = "linear, "+one.Name, "linear, "+mean.Name
	if notes = append(notes, candidates.NetworkNote(tried, best, better)); !better {
		return nil, notes, nil
	}
	m, err := networks.Model(ctx, best, c.All)
	if err != nil {
		return nil, nil, err
	}
	gains, err := m.Finder.Problem.Compare(ctx, m.Fit(), mean.Finder.Problem, mean.Fit())
	if err != nil {
		return nil, nil, err
	}
	gains = append(slices.DeleteFunc(gains, fitted), best.Gain)
	r.conclude("A "+m.Name, m, mean, []*candidates.Model{one, mean}, gains, notes)
	for _, s := range found.Summaries() {
		s.Share = 0
		r.account.summary.Structures = append(r.account.summary.Structures, s)
	}
	return &finalist{m, best, func(ctx context.Context, t data.Task, times float64) ([]float64, error) {
		return networks.Refit(ctx, best, t, times)
	}}, notes, nil
}

// linear returns the linear model of which the run's model has one for each fold, with a
// log-penalty for each feature, and no prior, which structures have in place of it.
func (r *finisher) linear() models.Linear {
	one := r.data.loaded.model.(models.Folds).Of
	one.Penalties, one.Prior = nil, models.Prior{}
	return one
}

// problemOf returns the problem of a model on data of the agents, with Oracles in float64.
func (r *finisher) problemOf(t data.Task, m models.Model) (train.Problem, error) {
	return r.newProblem(t, m, models.Config{Seed: r.Settings.Seed, Batch: r.Settings.Batch})
}

// roughProblem is problemOf with Oracles in float32, for products.
func (r *finisher) roughProblem(t data.Task, m models.Model) (train.Problem, error) {
	return r.newProblem(t, m, models.Config{Seed: r.Settings.Seed, Float32: true})
}

// newProblem returns the problem of a model on data of the agents.
func (r *finisher) newProblem(t data.Task, m models.Model, c models.Config) (train.Problem, error) {
	prob, err := train.NewPart(r.team, t, m, c)
	if err != nil {
		return prob, fmt.Errorf("model %T: %w", m, err)
	}
	prob.Numbers, prob.W, prob.Average, prob.Sent = r.poser.problem.Numbers, r.poser.problem.W, r.poser.problem.Average,
		r.poser.problem.Sent
	return prob, nil
}
