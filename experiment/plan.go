package experiment

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"dsbo"
	"dsbo/algo"
	"dsbo/data"
	"dsbo/experiment/site"
	"dsbo/internal/cli"
	"dsbo/models"
	"dsbo/runs"
	"dsbo/train"
)

// Plan predicts the traffic of the job's run. It loads the data, and exchanges nothing. If within
// is positive it also runs a pilot: the job, in this process and a temporary folder, for at most
// that long. A pilot that ends in time replaces predicted ranges by counts. stderr shows its
// progress.
func (j *Job) Plan(ctx context.Context, within time.Duration, stderr io.Writer) (*site.Plan, error) {
	r, posed, err := j.poseHere(ctx)
	if err != nil {
		return nil, err
	}
	p, err := r.plan(posed)
	if err != nil || within <= 0 {
		return p, err
	}
	pilot, err := r.runPilot(ctx, within, stderr)
	if err != nil {
		return nil, fmt.Errorf("pilot: %w", err)
	}
	if pilot != nil {
		p.Use(*pilot)
	}
	return p, nil
}

// plan returns the plan of the run of a problem, whose steps are not bound: messages are the same
// whatever they are.
func (r *run) plan(p problem) (*site.Plan, error) {
	m := algo.Clone(r.params.method)
	r.adaptMethod(m, &p)
	if p.guard != nil {
		if err := p.guard.plan(r.settings, m); err != nil {
			return nil, err
		}
	}
	return site.NewPlan(r.planned(&p, r.trainConfig(beginning{changes: r.changes}, &p, m, nil)))
}

// poseHere loads the data, as far as they are in this process, and makes the problem of them.
func (j *Job) poseHere(ctx context.Context) (r *run, p problem, err error) {
	r = newRun(j, inProcess{})
	if err := r.prepare(io.Discard); err != nil {
		return nil, p, err
	}
	at := beginning{changes: r.changes}
	l, err := r.load(ctx, at, r.localAgents(at))
	if err == nil {
		p, err = r.pose(ctx, at, l)
	}
	return r, p, err
}

// explainModel writes the steps of the losses of this process's first agent.
func (j *Job) explainModel(ctx context.Context, w io.Writer) error {
	_, p, err := j.poseHere(ctx)
	if err != nil {
		return err
	}
	c := p.config
	c.Agent = p.local[0]
	o, err := models.NewOracle(p.model, p.whole.Shards[c.Agent], c)
	if err != nil {
		return err
	}
	return o.WriteModel(w, j.Settings.ExplainModel == "dot")
}

// showData writes how the tables of this process's agents are read (-check): a description, a table
// of their columns, notes on odd values, and, for several sites, a table of sites.
func (j *Job) showData(ctx context.Context, w io.Writer) error {
	if j.Task.Card == nil {
		return dsbo.ConfigErrorf("-check must have a task over tables; %s has none", j.Task.Name)
	}
	if _, _, err := j.poseHere(ctx); err != nil {
		return err
	}
	card := j.Task.Card()
	if card == nil {
		return dsbo.ConfigErrorf("-check must have no recipe of other rows, by which no column is looked at")
	}
	if _, err := fmt.Fprintf(w, "%s\n\n", card.About()); err != nil {
		return err
	}
	if err := cli.Table(w, card.Table()); err != nil {
		return err
	}
	for _, note := range card.Odd {
		if err := cli.Paragraph(w, note); err != nil {
			return err
		}
	}
	if card.SiteRows() == nil {
		return nil
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	return cli.Table(w, card.SiteRows())
}

// planned returns the inputs of a plan for the run of a problem. A run that compares sites sends a
// row of each site and one more sum, which belongs to the Ending.
func (r *run) planned(p *problem, c train.Config) site.Run {
	run := site.Run{
		Line: fmt.Sprintf("%s; %v", p.line, r.graph), Config: c,
		Found: p.setup.listed, Privacy: r.settings.Privacy, Rows: r.exchangedRows(p),
		HeldOut: slices.ContainsFunc(p.data.Shards, func(s data.Shard) bool { return s.Holdout.Len() > 0 }),
		Best:    r.settings.startsAtBest(p), Rivals: r.settings.Rivals, Simpler: simplerLength(p.model),
	}
	if held := heldConfig(c, p.Problem); held != nil {
		run.Held = held.Method
	}
	if r.job.Task.Ending != nil {
		run.Ending = r.job.Task.Ending()
		if run.Rows != nil {
			run.Ending.Sums = append(run.Ending.Sums,
				site.Sum("scores over all sites", siteNumbers+1, site.Once))
		}
	}
	return run
}

// runPilot runs the job in this process, on its data, in a temporary folder, and returns what it
// sent; nil if that takes longer than within. It works on copies of r and its settings.
func (r *run) runPilot(ctx context.Context, within time.Duration, stderr io.Writer) (*site.Pilot, error) {
	folder, err := os.MkdirTemp("", "dsbo-pilot-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	pilot, settings := *r, *r.settings
	settings.Report, settings.Resume = false, false
	bar := cli.NewProgress(stderr, settings.Quiet)
	defer bar.Stop()
	pilot.settings, pilot.folder, pilot.mode = &settings, runs.Folder(folder), runs.Fresh
	pilot.view = onScreen{bar, true}
	limited, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	began := time.Now()
	e, err := pilot.attempt(limited, beginning{changes: r.changes})
	switch {
	case err != nil && ctx.Err() == nil && limited.Err() != nil: // only the pilot's time is over
		return nil, nil
	case err != nil:
		return nil, err
	}
	return &site.Pilot{Traffic: e.summary.Traffic, Iterations: e.result.Iterations, Elapsed: time.Since(began)}, nil
}
