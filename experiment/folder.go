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

// runFolder returns the run folder and how the run begins there. Without -out it is one of BASE,
// BASE-2, BASE-3 and so on in the folder for results, where BASE consists of task, preset and seed:
// the first that does not exist; with -resume the last that does; with -force always BASE.
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

// openFolder prepares the run folder: it writes the configuration, the setup, and the changes of
// members so far. It does so once in a process. With -force the secrets of an earlier run's noise
// are removed, since another run must not reuse them. If several processes share the folder, the
// others wait until the leading one has prepared it.
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

// writeFailure writes the summary of a run that failed with err, and returns err, perhaps with an
// addition. It writes none if no iteration had begun, or if the complete result is in the folder. A
// page is written, if wanted, only if no iterations can follow: after divergence, or after the
// last.
func (e *ending) writeFailure(err error) error {
	r := e.run
	if e.result == nil || !r.layout.leads() || e.written {
		return err
	}
	state := runs.StateOf(err)
	if state == runs.Interrupted && !errors.Is(err, train.ErrInterrupted) { // after the iterations
		err = fmt.Errorf("%w after %s, before all models were found", train.ErrInterrupted,
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
