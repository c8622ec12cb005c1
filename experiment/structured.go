package experiment

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"dsbo"
	"dsbo/data"
	"dsbo/experiment/candidates"
	"dsbo/models"
	"dsbo/runs"
	"dsbo/train"
)

// crossFit returns what the task has for a choice of structures before the iterations, or after
// them; nil: it has none there.
func (r *base) crossFit(before bool) *CrossFit {
	if r.Task.CrossFit == nil {
		return nil
	}
	if c := r.Task.CrossFit(); c != nil && before == (c.Begin != nil) {
		return c
	}
	return nil
}

// startStructured finds the structures of penalties before the iterations, where the task asks for
// that, and makes the problem that starts at their λ. It is among what was found together, where a
// run that goes on has it.
func (r *poser) startStructured(ctx context.Context) error {
	c, l := r.crossFit(true), &r.loaded
	if c == nil || r.givenFlags["x0"] {
		return nil
	}
	if r.team == nil {
		if err := r.resumeSetup(); err != nil {
			return err
		}
	}
	p, _ := l.model.Dims()
	start, err := l.setup.foundBy(p, func() (start runs.Found, err error) {
		e := r.startEpoch()
		r.problem.Problem, r.problem.data, c.All = r.startProblem(), memberData(r.problem.data, e), memberData(c.All, e)
		r.problem.Sent = &l.setup.Sent
		r.view.Log("structures of penalties, at whose λ the iterations start")
		fit, err := r.foldsOf(*c, nil)
		if err != nil {
			return start, err
		}
		found, err := fit.Structures(ctx, r.X0)
		if err != nil {
			return start, err
		}
		return runs.Found{Sum: found.Penalties, Texts: []string{found.Note("λ starts at")}}, nil
	})
	if err != nil {
		return err
	}
	if l.model, err = c.Begin(start.Sum); err != nil {
		return err
	}
	l.notes = start.Texts
	r.view.Log("%s", l.notes[0])
	return r.makeAnew()
}

// resumeSetup has a run of one process that goes on take what is found after the data are loaded
// from its folder, if they and the settings are as they were.
func (r *poser) resumeSetup() (err error) {
	s := r.loaded.setup
	if s.Of, err = r.digest(); err != nil || r.mode != runs.Resume {
		return err
	}
	var before setup
	if err := before.read(r.folder); err != nil || before.Of == "" {
		return err // it ended before it was written, or an earlier version began it
	}
	loaded := len(s.Found)
	if before.Of != s.Of || len(before.Found) <= loaded ||
		loaded > 0 && !reflect.DeepEqual(before.Found[:loaded], s.Found) {
		return dsbo.ConfigErrorf(
			"-resume: %s has what a run of other data or with other settings found: they must be as they were",
			r.folder.Path(runs.SetupFile))
	}
	*s = setup{Setup: before.Setup, next: loaded}
	return nil
}

// digest stands for the data of all agents and the settings on which structures depend.
func (r *poser) digest() (string, error) {
	text, err := json.Marshal(map[string]any{"data": r.problem.Digests, "settings": r.checkpointSettings(),
		"average": r.problem.Average, "x0": r.X0, "members": r.startEpoch().Members})
	return fmt.Sprintf("%x", sha256.Sum256(text)), err
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
	case r.Preset == tunedPreset().Name && r.crossFit(false) != nil:
		r.Settings.Iterations = structuredIterations
	}
}

// finishStructured finds the models of all structures of penalties, from the λ of the iterations
// on, and keeps the better one of their mean and one penalty for all; or a network, where there are
// some and the best is better than that mean.
func (r *finisher) finishStructured(ctx context.Context, c CrossFit, best train.Best) error {
	c.All = memberData(c.All, r.finalEpoch)
	found, parts, err := r.keptStructures(ctx, c, best.X[0])
	if err != nil {
		return err
	}
	one, mean, err := found.Models(ctx)
	if err != nil {
		return err
	}
	r.summary.Constants = found.Tried
	final, notes, tuned := (*finalist)(nil), []string{found.Note("The tuned λ is")}, mean
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
	if err := r.compareSites(ctx, &c, one, tuned); err != nil {
		return err
	}
	return r.writeFinished(ctx)
}

// foldsOf returns the problem whose structures of penalties are sought.
func (r *poser) foldsOf(c CrossFit, watch candidates.Watcher) (fit candidates.CrossFit, err error) {
	fit = candidates.CrossFit{Model: r.loaded.model.(models.Folds), Data: r.problem.data, Blocks: c.Blocks,
		Variance: c.Variance, Watch: watch}
	fit.Model.Of, fit.Model.Apart = r.linear(), true
	if fit.Problem, err = r.roughProblem(fit.Data, fit.Model); err == nil {
		fit.All, err = r.roughProblem(c.All, r.linear())
	}
	return fit, err
}

// keptStructures finds the models of all structures of penalties, from a penalty near the best one
// on, or takes those that all agents have kept. parts is the problem of the models of all folds.
func (r *finisher) keptStructures(ctx context.Context, c CrossFit,
	near float64) (found *candidates.Structures, parts train.Problem, err error) {
	fit, err := r.foldsOf(c, modelWatcher{&r.base})
	if err != nil {
		return nil, parts, err
	}
	data, err := kept(ctx, r, "structures", func() (json.RawMessage, error) {
		if found, err = fit.Structures(ctx, near); err != nil || !r.layout.ownsFiles() {
			return nil, err
		}
		return found.Encode()
	})
	if err == nil && found == nil {
		sent := r.summary.Traffic.Models // which has what the structures took, and what Restore sends
		found, err = fit.Restore(ctx, data)
		r.summary.Traffic.Models = sent
	}
	return found, fit.Problem, err
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
	gains = slices.DeleteFunc(gains, fitted)
	for _, g := range crossFitted { // its test examples are scored by models of parts
		if g.Set == runs.Validation {
			g.Set = runs.CrossFitted
			gains = append(gains, g)
		}
	}
	kept := r.conclude("", mean, one, candidates.CrossFitLost(gains), []*candidates.Model{one}, gains, notes)
	if kept == one {
		found.KeepOne()
	}
	r.summary.Structures = append(found.Summaries(), r.summary.Structures...)
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

// A networkChoice is what [candidates.Networks.Choose] returns, with the place of the best.
type networkChoice struct {
	Tried  []*candidates.Network
	Best   int
	Better bool
}

// networkFinalist tries networks, and compares the best with the mean of all structures; nil: it is
// not better. What was tried comes behind the notes.
func (r *finisher) networkFinalist(ctx context.Context, c CrossFit, found *candidates.Structures,
	one, mean *candidates.Model, notes []string) (*finalist, []string, error) {
	networks := candidates.Networks{Of: c.Networks, Problem: r.roughProblem, Linear: found}
	choice, err := kept(ctx, r, "networks", func() (networkChoice, error) {
		tried, best, better, err := networks.Choose(ctx)
		return networkChoice{tried, slices.Index(tried, best), better}, err
	})
	if err != nil {
		return nil, nil, err
	}
	tried, best, better := choice.Tried, choice.Tried[choice.Best], choice.Better
	for k, n := range tried {
		if n.Of = c.Networks[k]; better && n == best {
			n.Share = 1
		}
		r.summary.Structures = append(r.summary.Structures, n.Structure)
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
		r.summary.Structures = append(r.summary.Structures, s)
	}
	return &finalist{m, best, func(ctx context.Context, t data.Task, times float64) ([]float64, error) {
		return networks.Refit(ctx, best, t, times)
	}}, notes, nil
}

// linear returns the linear model of which the run's model has one for each fold, with a
// log-penalty for each feature, and no prior, which structures have in place of it.
func (r *poser) linear() models.Linear {
	one := r.loaded.model.(models.Folds).Of
	one.Penalties, one.Prior = nil, models.Prior{}
	return one
}
