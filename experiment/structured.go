package experiment

import (
	"context"
	"slices"

	"dsbo/data"
	"dsbo/experiment/candidates"
	"dsbo/models"
	"dsbo/runs"
	"dsbo/train"
)

// crossFit returns what the task has for a choice of structures; nil: it has none.
func (r *runner) crossFit() *CrossFit {
	if r.Task.CrossFit == nil {
		return nil
	}
	return r.Task.CrossFit()
}

// structuredIterations is K of the preset tuned where structures follow: one penalty for all is
// within 0.1 of its best then, and structures look for it from there.
const structuredIterations = 6

// chooseIterations sets K, where -K leaves it open, as in the run that goes on, or to what the
// choice of structures begins with.
func (r *poser) chooseIterations() {
	switch {
	case r.givenFlags["K"]:
	case r.resumedK > 0:
		r.Settings.Iterations = r.resumedK
	case r.Settings.Preset == tunedPreset().Name && r.crossFit() != nil:
		r.Settings.Iterations = structuredIterations
	}
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
	kept := r.conclude("", mean, one, candidates.CrossFitLost(gains), []*candidates.Model{one}, gains, notes)
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
	r.conclude("A "+m.Name, m, mean, false, []*candidates.Model{one, mean}, gains, notes)
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
