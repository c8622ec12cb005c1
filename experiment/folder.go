package experiment

import (
	"context"
	"errors"
	"fmt"

	"dsbo/internal/disk"
	"dsbo/internal/wording"
	"dsbo/runs"
	"dsbo/runs/report"
	"dsbo/train"
)

// runFolder chooses the run folder. Without -out it is the first free one of the task, the preset
// and the seed in the folder for results, or with -resume the newest of them.
func (j *Job) runFolder() (runs.Folder, runs.Mode, error) {
	s := j.Settings
	mode := runs.ModeOf(s.Resume, s.Force)
	if s.Out != "" {
		return runs.Folder(s.Out), mode, nil
	}
	first, err := runs.InResults(fmt.Sprintf("%s-%s-seed%d", j.Task.Name, s.Preset, s.Seed))
	if err != nil {
		return "", mode, err
	}
	base := string(first)
	name, last := base, base
	for i := 2; mode != runs.Replace; i++ {
		if _, err := disk.Stat(name); err != nil {
			break
		}
		last, name = name, fmt.Sprintf("%s-%d", base, i)
	}
	if mode == runs.Resume {
		name = last
	}
	return runs.Folder(name), mode, nil
}

// checkpoints returns the checkpoints of some agents of this process, the newest first.
func (r *base) checkpoints(agents []int) ([]train.Point, error) {
	points, damaged, err := train.Points(r.folder, agents)
	for _, d := range damaged {
		r.view.Log("checkpoint left out: %v", d)
	}
	return points, err
}

// openFolder makes the run folder ready, once.
func (r *runner) openFolder(ctx context.Context) error {
	if r.folderOpen {
		return nil
	}
	if r.layout.leads() {
		if r.Force {
			if err := r.folder.RemoveWithPrefix(runs.NoisePrefix); err != nil {
				return err
			}
		}
		if err := r.folder.Open(r.mode); err != nil {
			return err
		}
		if err := r.folder.WriteConfig(r.Settings.Config); err != nil {
			return err
		}
		if s := r.loaded.setup; !r.setupKept && len(s.Found) > 0 {
			if err := r.layout.save(ctx, func() error { return r.folder.WriteSetup(s.Setup) }); err != nil {
				return err
			}
		}
		if len(r.changes) > 0 && !r.layout.ownsFiles() { // its own agents have them with what they have promised
			if err := r.folder.WriteChanges(r.changes); err != nil {
				return err
			}
		}
	}
	r.folderOpen = true
	return r.layout.awaitFolder(ctx, r)
}

// writeFailure writes the summary of a run that ended with an error, if it had begun, and returns
// that error. There is a page where one is wanted and no iteration will follow.
func (r *runner) writeFailure(err error) error {
	if r.result == nil || !r.layout.leads() || r.hasResult {
		return err
	}
	state := runs.StateOf(err)
	if state == runs.Interrupted && !errors.Is(err, train.ErrInterrupted) { // after the iterations
		err = fmt.Errorf("%w after %s, before the models were found", train.ErrInterrupted,
			wording.Count(r.result.Iterations, "iteration"))
	}
	if w := r.folder.WriteSummary(r.summarize(state, err)); w != nil {
		return fmt.Errorf("%w; summary: %w", err, w)
	}
	if (state == runs.Diverged || r.iterationsOver) && r.Report && len(r.result.Records) > 0 {
		if _, w := report.WriteRun(string(r.folder)); w != nil {
			return fmt.Errorf("%w; report: %w", err, w)
		}
	}
	if state == runs.Interrupted {
		return fmt.Errorf("%w%s", err, r.layout.resumeHint(r.folder))
	}
	return err
}
