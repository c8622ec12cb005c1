package experiment

import (
	"context"
	"errors"
	"fmt"
	"io"

	"dsbo/internal/cli"
	"dsbo/runs"
	"dsbo/train"
)

// Run runs the job: it checks the settings, runs the method, finds the models, and writes the run
// folder, with its page, and the table to stdout. A nil stdout means no page and no table.
func (j *Job) Run(ctx context.Context, stdout, stderr io.Writer) (err error) {
	s := j.Settings
	switch {
	case s.ExplainPrivacy:
		plan, err := j.Plan(ctx, 0, nil)
		if err != nil {
			return err
		}
		return plan.Explain(stdout)
	case s.ShowData:
		return j.showData(ctx, stdout)
	case s.ExplainModel != "":
		return j.explainModel(ctx, stdout)
	case s.Attached:
		var stop context.CancelFunc
		ctx, stop = cli.UntilStdinEnds(ctx)
		defer stop()
	}
	l, err := j.chosenLayout()
	if err != nil {
		return err
	}
	r := newRun(j, l)
	defer func() {
		if r.lock != nil { // released first, since endRun may end the process
			r.lock.Close()
		}
		err = l.endRun(ctx, j.name, stderr, err)
	}()
	return r.finishJob(ctx, stdout, stderr)
}

// chosenLayout returns the job's layout, which starts with the other processes of -transport where
// the caller has given none.
func (j *Job) chosenLayout() (layout, error) {
	if j.Layout != nil {
		return j.Layout, nil
	}
	start, err := layoutOf(j.Settings.Transport)
	if err != nil {
		return nil, err
	}
	return start()
}

// finishJob runs the method, in several attempts if the layout asks for that, and prints the result
// to stdout unless that is nil, or writes why the run failed. A process that received the result
// from another one (e.result is nil) prints nothing. The folder of a finished run loses the files
// that only a resume needs.
func (r *run) finishJob(ctx context.Context, stdout, stderr io.Writer) (err error) {
	if err = r.prepare(stderr); err != nil {
		return err
	}
	at, err := r.layout.join(ctx, r)
	if err != nil {
		return err
	}
	e := new(ending)
	for again := true; again; {
		switch {
		case !at.finished:
			e, err = r.attempt(ctx, at)
		case !e.written: // the result in the folder is another agent's, as this attempt was cut short
			e = new(ending)
		}
		at, again, err = r.layout.attemptAgain(ctx, r, err)
	}
	r.view.Stop()
	if err != nil {
		r.layout.fail(err)
		return e.writeFailure(err)
	}
	if !r.layout.leads() {
		return nil
	}
	// A finished run cannot be resumed: it needs neither the noise's secrets nor kept results.
	if err := errors.Join(r.folder.RemoveWithPrefix(runs.NoisePrefix),
		r.folder.RemoveWithPrefix(runs.KeptPrefix)); err != nil {
		return err
	}
	if !r.settings.KeepCheckpoints {
		if err := train.Shrink(r.folder); err != nil {
			return err
		}
	}
	if e.result == nil || stdout == nil {
		return nil
	}
	return WriteResult(stdout, &e.summary, fmt.Sprintf("%s; %v", e.problem.line, r.graph), r.folder,
		r.settings.Report, r.settings.Verbose)
}
