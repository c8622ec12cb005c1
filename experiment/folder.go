package experiment

import (
	"context"
	"errors"
	"fmt"

	"dsbo/internal/files"
	"dsbo/internal/wording"
	"dsbo/network/membership"
	"dsbo/runs"
	"dsbo/runs/report"
	"dsbo/train"
)

// runFolder chooses the run folder, and how it is begun. Without -out it is the first free one of
// BASE, BASE-2, BASE-3 and so on in the folder for results, with a BASE of the task, the preset and
// the seed; with -resume the last that is not free, and with -force BASE.
func (s *Settings) runFolder() (runs.Folder, runs.Mode, error) {
	mode := runs.ModeOf(s.Resume, s.Force)
	if s.Out != "" {
		return runs.Folder(s.Out), mode, nil
	}
	first, err := runs.InResults(fmt.Sprintf("%s-%s-seed%d", s.Task, s.Preset, s.Seed))
	if err != nil {
		return "", mode, err
	}
	base := string(first)
	name, last := base, base
	for i := 2; mode != runs.Replace; i++ {
		if _, err := files.Stat(name); err != nil {
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
func (r *run) checkpoints(agents []int) ([]train.Point, error) {
	points, damaged, err := train.Points(r.folder, agents)
	for _, d := range damaged {
		r.view.Log("checkpoint left out: %v", d)
	}
	return points, err
}

// openFolder prepares the run folder, once, with the changes of members so far and the common
// results. -force begins a new run, whose noise must have new secrets. Processes that share the
// folder wait until the leading one has prepared it.
func (r *run) openFolder(ctx context.Context, changes membership.Log, found *setup) error {
	if r.folderOpen {
		return nil
	}
	if r.layout.leads() {
		if r.settings.Force {
			if err := r.folder.RemoveWithPrefix(runs.NoisePrefix); err != nil {
				return err
			}
		}
		if err := r.folder.Open(r.mode); err != nil {
			return err
		}
		if err := r.folder.WriteConfig(r.settings.Config); err != nil {
			return err
		}
		isNew := found.exchange != nil // else it was read from the folder
		if isNew && len(found.Found) > 0 {
			if err := r.layout.save(ctx, func() error { return r.folder.WriteSetup(found.Setup) }); err != nil {
				return err
			}
		}
		// an agent with its own folder keeps the changes in its register
		if len(changes) > 0 && !r.layout.ownsFiles() {
			if err := r.folder.WriteChanges(changes); err != nil {
				return err
			}
		}
	}
	r.folderOpen = true
	return r.layout.awaitFolder(ctx)
}

// writeFailure writes the summary of a run that ended with an error, if its iterations had begun
// and their results are not complete in the folder, and returns that error. There is a page where
// one is wanted and no iteration will follow: after a divergence, or once iterations are over.
func (e *ending) writeFailure(err error) error {
	r := e.run
	if e.result == nil || !r.layout.leads() || e.written {
		return err
	}
	state := runs.StateOf(err)
	if state == runs.Interrupted && !errors.Is(err, train.ErrInterrupted) { // after the iterations
		err = fmt.Errorf("%w after %s, before the models were found", train.ErrInterrupted,
			wording.Count(e.result.Iterations, "iteration"))
	}
	if w := r.folder.WriteSummary(e.summarize(state, err)); w != nil {
		return fmt.Errorf("%w; summary: %w", err, w)
	}
	if (state == runs.Diverged || e.over) && r.settings.Report && len(e.result.Records) > 0 {
		if _, w := report.WriteRun(string(r.folder)); w != nil {
			return fmt.Errorf("%w; report: %w", err, w)
		}
	}
	if state == runs.Interrupted {
		return fmt.Errorf("%w%s", err, r.layout.resumeHint(r.folder))
	}
	return err
}
