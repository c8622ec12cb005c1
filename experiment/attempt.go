package experiment

import (
	"context"
	"fmt"
	"io"

	"dsbo/experiment/site"
	"dsbo/internal/cli"
	"dsbo/internal/wording"
	"dsbo/runs"
	"dsbo/train"
)

// prepare chooses the view and checks all settings that can be checked without data and other
// processes. Of several processes only the leading one shows progress on stderr.
func (r *run) prepare(stderr io.Writer) (err error) {
	if r.view = r.job.View; r.view == nil {
		if !r.layout.leads() {
			stderr = io.Discard
		}
		r.view = onScreen{Progress: cli.NewProgress(stderr, r.settings.Quiet)}
	}
	if r.params, r.graph, err = r.job.resolve(nil); err != nil {
		return err
	}
	return r.readChanges()
}

// attempt runs the method from a beginning on and then finds the models. With an error it also
// returns an ending with all results so far, for the summary of a failed run.
func (r *run) attempt(ctx context.Context, at beginning) (*ending, error) {
	e := &ending{run: r}
	r.job.Sent.Begin(site.Loading)
	l, err := r.load(ctx, at, r.localAgents(at))
	if err != nil {
		return e, err
	}
	p, err := r.pose(ctx, at, l)
	if err == nil {
		p, err = r.startStructured(ctx, at, l, p)
	}
	if err == nil {
		p, err = r.findStart(ctx, p)
	}
	if err != nil {
		return e, err
	}
	e.problem = p // of all agents in the roster; iterate narrows it to the last members
	if e.config, e.warnings, err = r.chooseSteps(ctx, at, &p); err != nil {
		return e, err
	}
	if err := e.iterate(ctx, l.duration.Seconds()); err != nil {
		return e, err
	}
	switch c := r.job.Task.crossFit(false); {
	case p.guard != nil:
		err = e.finishPrivate()
	case c != nil:
		err = e.finishStructured(ctx, *c)
	default:
		err = e.finish(ctx)
	}
	if err == nil {
		err = e.writeFinished(ctx)
	}
	e.written = err == nil
	return e, err
}

// iterate checks the configuration, logs the problem and the seconds that loading took, prepares
// the run folder and runs the iterations. What follows them concerns the members of the last epoch,
// so e.problem is narrowed to these. The noise of differential privacy is added to a copy of
// e.config.
func (e *ending) iterate(ctx context.Context, took float64) (err error) {
	r, c, p := e.run, e.config, &e.problem
	// validateStart compares digests of the data with the checkpoint's, which are keyed by the
	// secrets of the noise: on a resume the noise must come first. At a start the secrets are made
	// in the run folder, which must be open.
	if err := p.guard.protect(&c, c.Resume); err != nil {
		return err
	}
	if err := r.settings.validateStart(c); err != nil {
		return err
	}
	if err := r.settings.completeConfig(c, p); err != nil {
		return err
	}
	r.layout.describe(&r.settings.Config)
	for _, w := range e.warnings {
		r.view.Log("warning: %s", w)
	}
	r.view.Note(Note{
		Text: fmt.Sprintf("%s; %v; loaded in %.1f s", p.line, r.graph, took),
		Name: "loaded", Facts: []any{"problem", p.line, "graph", r.graph.Name, "seconds", took},
	})
	if err := r.openFolder(ctx, c.Membership, p.setup); err != nil {
		return err
	}
	if err := p.guard.protect(&c, !c.Resume); err != nil {
		return err
	}
	if e.watch, err = r.watchRun(&c); err != nil {
		return err
	}
	r.job.Sent.Begin(site.Iterations)
	if e.result, err = train.Run(ctx, c); err != nil {
		return err
	}
	e.over = true
	r.job.Sent.Begin(site.Models)
	e.summary.FloatsFormula = e.floatsByFormula()
	of := e.result.Epoch
	if of.Number < len(c.Membership) {
		e.warnings = append(e.warnings,
			fmt.Sprintf("the run ended after %s, before epoch %d of the membership log began",
				wording.Count(e.result.Iterations, "iteration"), of.Number+1))
	}
	if e.problem, err = p.ofMembers(of); err != nil {
		return err
	}
	return e.writeIterates()
}

// protect adds noise to the agents' answers in c, if it is due. A nil guard is of a run without
// differential privacy, and adds none.
func (g *guard) protect(c *train.Config, due bool) (err error) {
	if g != nil && due {
		c.Problem, err = g.addNoise(c.Problem, runs.Folder(c.Dir))
	}
	return err
}
