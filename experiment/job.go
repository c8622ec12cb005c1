package experiment

import (
	"context"
	"errors"
	"fmt"
	"io"

	"dsbo/experiment/console"
	"dsbo/internal/cli"
	"dsbo/runs"
	"dsbo/train"
)

// Run runs the job: it checks the settings, runs the method, finds the models, and writes the run
// folder, with its page, and the table to stdout. A nil stdout means no page and no table.
func (j *Job) Run(ctx context.Context, stdout, stderr io.Writer) (err error) {
	if j.ExplainPrivacy {
		plan, err := j.Plan(ctx, 0, nil)
		if err != nil {
			return err
		}
		return plan.Explain(stdout)
	}
	if j.ExplainModel != "" {
		return j.explainModel(ctx, stdout)
	}
	if j.Attached {
		var stop context.CancelFunc
		ctx, stop = cli.UntilStdinEnds(ctx)
		defer stop()
	}
	l, err := j.chooseLayout()
	if err != nil {
		return err
	}
	r := newRunner(j, l)
	defer func() {
		if r.lock != nil {
			r.lock.Close()
		}
		err = l.endRun(ctx, r, stderr, err)
	}()
	return r.run(ctx, stdout, stderr)
}

// printResult writes what the run found.
func (r *account) printResult(w io.Writer) error {
	return console.Result(w, &r.summary, fmt.Sprintf("%s; %v", r.problem.line, r.graph), r.folder, r.Report, r.Verbose)
}

// chooseLayout returns the job's layout, else the layout of -transport.
func (j *Job) chooseLayout() (Layout, error) {
	if j.Layout != nil {
		return j.Layout, nil
	}
	start, err := layoutOf(j.Transport)
	if err != nil {
		return nil, err
	}
	return start()
}

// run runs the method, in as many attempts as it takes, and prints the result, or writes why
// it failed.
func (r *runner) run(ctx context.Context, stdout, stderr io.Writer) (err error) {
	if err = r.prepare(stderr); err != nil {
		return err
	}
	if err = r.layout.join(ctx, r); err != nil {
		return err
	}
	for again := true; again; {
		if !r.finished {
			err = r.attempt(ctx)
		}
		again, err = r.layout.attemptAgain(ctx, r, err)
	}
	r.view.Stop()
	if err != nil {
		r.layout.fail(r, err)
		return r.writeFailure(err)
	}
	if !r.layout.leads() {
		return nil
	}
	if err := errors.Join(r.folder.RemoveWithPrefix(runs.NoisePrefix),
		r.folder.RemoveWithPrefix(runs.KeptPrefix)); err != nil {
		return err
	}
	if !r.KeepCheckpoints {
		if err := train.Shrink(r.folder); err != nil {
			return err
		}
	}
	if r.result == nil || stdout == nil { // it was taken over, or an earlier process has found it
		return nil
	}
	return r.printResult(stdout)
}
