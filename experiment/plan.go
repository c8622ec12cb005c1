package experiment

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"dsbo/algo"
	"dsbo/data"
	"dsbo/experiment/plan"
	"dsbo/internal/cli"
	"dsbo/models"
	"dsbo/runs"
)

// Plan returns what the job's run will send. It loads the data, and exchanges nothing. A pilot runs
// the job in this process, in a folder that it removes, and its counts take the place of ranges,
// unless it takes longer than within; 0: there is none. stderr shows how far it is.
func (j *Job) Plan(ctx context.Context, within time.Duration, stderr io.Writer) (*plan.Plan, error) {
	r := newRunner(j, inProcess{})
	p, err := r.plan(ctx)
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

// plan loads the data and returns the plan of the run.
func (r *runner) plan(ctx context.Context) (*plan.Plan, error) {
	if err := r.pose(ctx); err != nil {
		return nil, err
	}
	r.method = algo.Clone(r.params.method)
	r.chooseStart()
	if g := r.problem.guard; g != nil {
		if err := g.plan(r.Settings, r.method); err != nil {
			return nil, err
		}
	}
	return plan.New(r.planned())
}

// pose loads the data, as far as they are in this process, and makes the problem of them.
func (r *runner) pose(ctx context.Context) error {
	if err := r.prepare(io.Discard); err != nil {
		return err
	}
	if err := r.load(ctx, r.localAgents()); err != nil {
		return err
	}
	return r.makeProblem(ctx)
}

// explainModel writes what the losses of the first agent here compute.
func (j *Job) explainModel(ctx context.Context, w io.Writer) error {
	r := newRunner(j, inProcess{})
	if err := r.pose(ctx); err != nil {
		return err
	}
	task, c := r.loaded, models.Config{Agent: r.localAgents()[0], Batch: r.Batch,
		Seed: r.Seed, Float32: r.DType == "float32"}
	o, err := models.NewOracle(task.model, task.data.Shards[c.Agent], c)
	if err != nil {
		return err
	}
	return o.WriteModel(w, r.ExplainModel == "dot")
}

// planned returns what a plan has to know of the run, whose problem and method are made.
func (r *runner) planned() plan.Run {
	run := plan.Run{
		Line: fmt.Sprintf("%s; %v", r.problem.line, r.graph), Config: r.trainConfig(),
		Found: r.loaded.setup.Found, Privacy: r.Privacy, HeldOut: r.hasHoldout(), Rows: r.exchangedRows(),
		Best: r.startsAtBest(), Rivals: r.Rivals, Simpler: r.simplerLength(),
	}
	if held := r.trainingConfig(r.problem.Problem); held != nil {
		run.Held = held.Method
	}
	if r.Task.Ending != nil {
		run.Ending = r.Task.Ending()
		if run.Rows != nil {
			run.Ending.Sums = append(run.Ending.Sums,
				plan.Sum("sums of such scores over all sites", siteNumbers+1, plan.Range{Least: 1, Most: 1}))
		}
	}
	return run
}

// hasHoldout reports whether an agent here has held-out examples.
func (r *loader) hasHoldout() bool {
	return slices.ContainsFunc(r.loaded.data.Shards, func(s data.Shard) bool { return s.Holdout.Len() > 0 })
}

// runPilot runs the job in this process, on the data that are here; nil if that takes longer
// than within.
func (r *runner) runPilot(ctx context.Context, within time.Duration, stderr io.Writer) (*plan.Pilot, error) {
	folder, err := os.MkdirTemp("", "dsbo-pilot-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	job, settings := *r.Job, *r.Settings
	settings.Report, settings.Resume = false, false
	job.Settings = &settings
	bar := cli.NewProgress(stderr, settings.Quiet)
	defer bar.Stop()
	r.Job, r.folder, r.mode, r.view = &job, runs.Folder(folder), runs.Fresh, barOnly{onScreen{bar}}
	limited, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	began := time.Now()
	err = r.attempt(limited)
	if r.lock != nil {
		err = errors.Join(err, r.lock.Close())
	}
	switch {
	case err != nil && ctx.Err() == nil && limited.Err() != nil:
		return nil, nil // the ranges stay
	case err != nil:
		return nil, err
	}
	return &plan.Pilot{Traffic: r.summary.Traffic, Iterations: r.result.Iterations, Elapsed: time.Since(began)},
		nil
}

// barOnly shows how far a run is, and no more.
type barOnly struct{ onScreen }

func (barOnly) Log(string, ...any) {}

func (barOnly) Note(Note) {}

func (barOnly) Record(runs.Record, []string) {}
