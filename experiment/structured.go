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

// crossFit returns the task's choice of structures before, or after, the iterations; nil: it has
// none there.
func (t *Task) crossFit(before bool) *CrossFit {
	if t.CrossFit == nil {
		return nil
	}
	if c := t.CrossFit(); c != nil && before == (c.Begin != nil) {
		return c
	}
	return nil
}

// startStructured chooses structures of penalties before the iterations, if the task asks for that
// and -x0 is not given, and returns the problem of a model that starts at their λ. The starting
// members find them. The λ is kept in the setup, so that a resumed run has it.
func (r *run) startStructured(ctx context.Context, at beginning, l *loaded, p problem) (problem, error) {
	c := r.job.Task.crossFit(true)
	if c == nil || r.settings.given["x0"] {
		return p, nil
	}
	if err := r.resumeSetup(&p); err != nil {
		return p, err
	}
	length, _ := p.model.Dims()
	found, err := p.setup.foundBy(length, func() (of runs.Found, err error) {
		start, err := p.ofMembers(p.epoch)
		if err != nil {
			return of, err
		}
		start.Sent, c.All = &p.setup.Sent, memberData(c.All, p.epoch)
		r.view.Log("structures of penalties, at whose λ the iterations start")
		fit, err := start.foldsOf(*c, nil)
		if err != nil {
			return of, err
		}
		found, err := fit.Structures(ctx, r.settings.X0)
		if err != nil {
			return of, err
		}
		return runs.Found{Sum: found.Penalties(), Texts: []string{found.Note("λ starts at")}}, nil
	})
	if err != nil {
		return p, err
	}
	model, err := c.Begin(found.Sum)
	if err != nil {
		return p, err
	}
	r.view.Log("%s", found.Texts[0])
	p, err = r.makeProblem(at, l, model)
	p.notes = found.Texts
	return p, err
}

// resumeSetup prepares the setup of a resumed run in one process: results that were found after
// loading are taken from the run folder. The data and settings must be unchanged, by their digest,
// and so must the results of loading, which was repeated, since it is quick. Agents of several
// processes have read their folders before.
func (r *run) resumeSetup(p *problem) (err error) {
	s := p.setup
	if p.Team != nil {
		return nil
	}
	if s.Of, err = r.settings.digest(p); err != nil || r.mode != runs.Resume {
		return err
	}
	var before setup
	if err := before.read(r.folder); err != nil || before.Of == "" {
		return err // the run ended before its setup was written, or an earlier version began it
	}
	loaded := len(s.Found)
	sameLoad := len(before.Found) > loaded && (loaded == 0 || reflect.DeepEqual(before.Found[:loaded], s.Found))
	if before.Of != s.Of || !sameLoad {
		return dsbo.ConfigErrorf(
			"-resume: %s has what a run of other data or with other settings found: they must be as they were",
			r.folder.Path(runs.SetupFile))
	}
	*s = setup{Setup: before.Setup, next: loaded}
	return nil
}

// digest returns a digest of all agents' data and the settings on which structures depend.
func (s *Settings) digest(p *problem) (string, error) {
	text, err := json.Marshal(map[string]any{"data": p.Digests, "settings": s.checkpointSettings(p),
		"average": p.Average, "x0": s.X0, "members": p.epoch.Members})
	return fmt.Sprintf("%x", sha256.Sum256(text)), err
}

// structuredIterations is K of the preset tuned where structures follow: one penalty for all is
// within 0.1 of its best then, and structures look for it from there.
const structuredIterations = 6

// chooseIterations sets K if -K is not given: to the resumed run's, or to the number with which the
// choice of structures begins.
func (r *run) chooseIterations() {
	switch s := r.settings; {
	case s.given["K"]:
	case s.resumedK > 0:
		s.Iterations = s.resumedK
	case s.Preset == tunedPreset().Name && r.job.Task.crossFit(false) != nil:
		s.Iterations = structuredIterations
	}
}

// finishStructured searches structures of penalties, starting at the λ of the iterations, and keeps
// the model of the best one; or, if the task has networks and the best is better, that. Levels of
// sites are tried first, if the task asks for them. For the comparison with sites alone, models
// have one level (c.alone), since a site has no other sites' levels.
func (e *ending) finishStructured(ctx context.Context, c CrossFit) error {
	c.All = memberData(c.All, e.result.Epoch)
	// x of the iterations is one penalty for all
	found, parts, err := e.keptStructures(ctx, c, e.result.Best.X[0], "structures")
	if err != nil {
		return err
	}
	var notes []string
	if c.alone = found.Problem(); c.Levels.Rows > 0 { // levels are asked for
		var note string
		if c, found, parts, note, err = e.chooseLevels(ctx, c, found, parts); err != nil {
			return err
		}
		notes = append(notes, note)
	}
	one, tuned, err := found.Models(ctx)
	if err != nil {
		return err
	}
	e.summary.Constants = found.Tried
	final, notes := (*finalist)(nil), append([]string{found.Note("The tuned λ is")}, notes...)
	if len(c.Networks) > 0 {
		if final, notes, err = e.networkFinalist(ctx, c, found, one, tuned, notes); err != nil {
			return err
		}
	}
	if final != nil {
		tuned = final.Model
	} else if final, err = e.linearFinalist(ctx, c, parts, found, one, tuned, notes); err != nil {
		return err
	}
	if err := e.saveKept(ctx, final.Model, final); err != nil {
		return err
	}
	return e.compareSites(ctx, &c, one, tuned)
}

// allRows ends the names of what models of all rows send.
const allRows = ", all rows"

// foldsOf returns the problems in which structures of penalties are searched: Problem has the
// models of the folds, each trained on all folds but one, and All has one model of all examples.
// The shrinkage of levels is scaled by the share of the examples that a model trains on.
func (p *problem) foldsOf(c CrossFit, watch candidates.Watcher) (fit candidates.CrossFit, err error) {
	fit = candidates.CrossFit{Model: p.model.(models.Folds), Data: p.data, Blocks: c.Blocks,
		Variance: c.Variance, Lasso: c.lassoOf(c.All.Shards), Watch: watch}
	one := linearOf(p.model)
	fit.Model.Of, fit.Model.Apart = c.Levels.Of(one, 1-1/float64(fit.Model.Count)), true
	if fit.Problem, err = p.roughProblem(fit.Data, fit.Model); err == nil {
		fit.All, err = p.roughProblem(c.All, c.Levels.Of(one, 1))
	}
	fit.Problem.Of, fit.All.Of = ", all folds", allRows
	return fit, err
}

// lassoOf returns the settings of a lasso on the examples of shards; nil: no lasso is asked for.
func (c CrossFit) lassoOf(shards []data.Shard) *candidates.Lasso {
	if c.Lasso == nil {
		return nil
	}
	l := *c.Lasso
	l.All = shards
	return &l
}

// keptStructures searches structures of penalties, starting at the single penalty near, or restores
// those that all agents have kept under a name. parts is the problem of the folds' models. Encoding
// is skipped unless agents may be lost; if kept did not call find, found is nil and data is
// decoded.
func (e *ending) keptStructures(ctx context.Context, c CrossFit, near float64,
	name string) (found *candidates.Structures, parts train.Problem, err error) {
	fit, err := e.problem.foldsOf(c, e.watch)
	if err != nil {
		return nil, parts, err
	}
	data, err := kept(ctx, e, name, func() (json.RawMessage, error) {
		if found, err = fit.Structures(ctx, near); err != nil || !e.run.layout.ownsFiles() {
			return nil, err
		}
		return found.Encode()
	})
	if err == nil && found == nil {
		sent := *e.problem.Sent // the search's traffic, as kept; Restore's is not part of the run's
		found, err = fit.Restore(ctx, data)
		*e.problem.Sent = sent
	}
	return found, fit.Problem, err
}

// linearFinalist draws the verdict between tuned, the model of the best structure, and one, the
// model with one penalty for all, and returns the kept one. On test examples it compares these
// models, of all rows; on training rows it compares, in the problem parts, the models of the folds
// that have not seen a row.
func (e *ending) linearFinalist(ctx context.Context, c CrossFit, parts train.Problem, found *candidates.Structures,
	one, tuned *candidates.Model, notes []string) (*finalist, error) {
	all := one.Finder.Problem
	gains, err := all.Compare(ctx, tuned.Fit(), all, one.Fit())
	if err != nil {
		return nil, err
	}
	crossFitted, err := parts.Compare(ctx, found.CrossFitted(), parts, found.CrossFittedOne())
	if err != nil {
		return nil, err
	}
	gains = slices.DeleteFunc(gains, fitted)
	for _, g := range crossFitted { // but for test examples, which models of all rows score
		if g.Set == runs.Validation {
			g.Set = runs.CrossFitted
			gains = append(gains, g)
		}
	}
	head := ""
	if found.Lasso() != nil {
		head = "The " + tuned.Name
	}
	kept := e.conclude(head, tuned, one, found.KeepsOne(), []*candidates.Model{one}, gains, notes)
	e.summary.Structures = append(found.Summaries(true), e.summary.Structures...)
	return &finalist{Model: kept, levels: c.Levels, lasso: found.Lasso(), parts: found.LassoParts(), refit: func(
		ctx context.Context, t data.Task, times float64) (train.Fit, error) {
		all, err := e.problem.roughProblem(t, c.Levels.Of(linearOf(e.problem.model), times))
		if err != nil {
			return train.Fit{}, err
		}
		all.Of = allRows
		return found.Refit(ctx, all, t.Shards, times)
	}}, nil
}

// fitted reports whether a gain is on examples that have trained the models.
func fitted(g runs.Gain) bool { return g.Set != runs.Test }

// A networkChoice is the results of [candidates.Networks.Choose], with the place of the best.
type networkChoice struct {
	Tried  []*candidates.Network
	Best   int
	Better bool
}

// networkFinalist tries networks. If the best is better, by cross-fitting, than linear, the model
// of the best structure, it concludes with that network and returns it; else nil. It appends a note
// on what was tried, and renames one, the model with one penalty, and linear, so that tables tell
// linear models from networks.
func (e *ending) networkFinalist(ctx context.Context, c CrossFit, found *candidates.Structures,
	one, linear *candidates.Model, notes []string) (*finalist, []string, error) {
	networks := candidates.Networks{Of: c.Networks, Problem: e.problem.roughProblem, Linear: found}
	choice, err := kept(ctx, e, "networks", func() (networkChoice, error) {
		tried, best, better, err := networks.Choose(ctx)
		return networkChoice{tried, slices.Index(tried, best), better}, err
	})
	if err != nil {
		return nil, nil, err
	}
	tried, best, better := choice.Tried, choice.Tried[choice.Best], choice.Better
	for k, n := range tried {
		n.Of = c.Networks[k] // which JSON leaves out
		n.Kept, n.Rows = better && n == best, n.Gain.Examples
		e.summary.Structures = append(e.summary.Structures, n.Structure)
	}
	one.Name, linear.Name = "linear, "+one.Name, "linear, "+linear.Name
	if notes = append(notes, candidates.NetworkNote(tried, best, better)); !better {
		return nil, notes, nil
	}
	m, err := networks.Model(ctx, best, c.All)
	if err != nil {
		return nil, nil, err
	}
	gains, err := m.Finder.Problem.Compare(ctx, m.Fit(), linear.Finder.Problem, linear.Fit())
	if err != nil {
		return nil, nil, err
	}
	gains = append(slices.DeleteFunc(gains, fitted), best.Gain)
	if c.Levels.Strength > 0 {
		notes = append(notes, "The network has one level for all sites.")
	}
	// a better network is kept whatever the gain on test examples
	e.conclude("A "+m.Name, m, linear, false, []*candidates.Model{one, linear}, gains, notes)
	e.summary.Structures = append(e.summary.Structures, found.Summaries(false)...)
	return &finalist{Model: m, network: &best.Of, parts: best.Parts, refit: func(ctx context.Context, t data.Task,
		times float64) (train.Fit, error) {
		again, err := networks.Refit(ctx, best, t, times)
		if err != nil {
			return train.Fit{}, err
		}
		return train.Fit{X: m.X, Y: again.Y}, nil
	}}, notes, nil
}

// linearOf returns the linear model behind a run's model of folds, with a log-penalty for each
// feature, and without a prior, which structures replace.
func linearOf(model models.Model) models.Linear {
	one := model.(models.Folds).Of
	one.Penalties, one.Prior = nil, models.Prior{}
	return one
}
