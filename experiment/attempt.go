package experiment

import (
	"context"
	"fmt"
	"io"

	"dsbo"
	"dsbo/internal/cli"
	"dsbo/runs"
	"dsbo/train"
)

// prepare checks all settings that can be checked without data and without other processes.
func (r *base) prepare(stderr io.Writer) (err error) {
	if r.view = r.View; r.view == nil {
		if !r.layout.leads() {
			stderr = io.Discard
		}
		r.view = onScreen{cli.NewProgress(stderr, r.Quiet)}
	}
	if r.params, r.graph, err = r.resolve(); err != nil {
		return err
	}
	return r.readChanges()
}

// attempt runs the method from the runner's checkpoint on, and then finds the models.
func (r *runner) attempt(ctx context.Context) error {
	r.result, r.iterationsOver, r.summary = nil, false, runs.Summary{}
	if err := r.load(ctx, r.localAgents()); err != nil {
		return err
	}
	if err := r.makeProblem(ctx); err != nil {
		return err
	}
	if err := r.startStructured(ctx); err != nil {
		return err
	}
	if err := r.findStart(ctx); err != nil {
		return err
	}
	r.stepsSent = dsbo.Traffic{}
	r.problem.Sent = &r.stepsSent
	if err := r.chooseSteps(ctx); err != nil {
		return err
	}
	r.problem.Sent = &r.summary.Traffic.Models // by what follows the run
	cfg := r.trainConfig()
	if err := r.protect(&cfg, cfg.Resume); err != nil {
		return err
	}
	if err := r.validate(cfg); err != nil {
		return err
	}
	if err := r.completeConfig(cfg); err != nil {
		return err
	}
	r.showWarnings()
	took := r.loaded.duration.Seconds()
	r.view.Note(Note{
		Text: fmt.Sprintf("%s; %v; loaded in %.1f s", r.problem.line, r.graph, took),
		Name: "loaded", Facts: []any{"problem", r.problem.line, "graph", r.graph.Name, "seconds", took},
	})
	if err := r.openFolder(ctx); err != nil {
		return err
	}
	err := r.protect(&cfg, !cfg.Resume)
	if err == nil {
		err = r.watch(&cfg)
	}
	if err != nil {
		return err
	}
	if r.result, err = train.Run(ctx, cfg); err != nil {
		return err
	}
	r.summary.FloatsFormula = r.floatsByFormula()
	if err := r.keepMembers(); err != nil {
		return err
	}
	if r.problem.guard != nil {
		return r.finishPrivate(ctx)
	}
	return r.finish(ctx)
}

// protect adds noise to what the agents answer, where there is differential privacy and it is due:
// the folder of a run that goes on has the secrets already.
func (r *poser) protect(cfg *train.Config, due bool) (err error) {
	if g := r.problem.guard; g != nil && due {
		cfg.Problem, err = g.addNoise(cfg.Problem, r.folder)
	}
	return err
}
