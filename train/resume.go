package train

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"strings"

	"dsbo"
	"dsbo/internal/files"
	"dsbo/internal/linalg"
	"dsbo/internal/wording"
	"dsbo/runs"
)

// Points returns the checkpoints of the agents of a process in a run folder, the newest first, and
// for each damaged file an error that names it. They may belong to a run with other settings, which
// [Run] refuses when it resumes from one. One of another version of the program is an error.
func Points(f runs.Folder, agents []int) (points []Point, damaged []error, err error) {
	for c, err := range checkpoints(f, agents) {
		switch {
		case errors.Is(err, errCorrupt):
			damaged = append(damaged, err)
		case err != nil:
			return nil, nil, err
		default:
			points = append(points, c.point())
		}
	}
	return points, damaged, nil
}

// point describes the checkpoint.
func (c *checkpoint) point() Point {
	p := Point{Iteration: c.Iteration, Epoch: max(c.Epoch, c.EntryEpoch), Session: c.Session, Start: c.Start}
	if scales := c.arraysAfter(scaleArrays, 0); scales != nil {
		sum := sha256.New()
		for _, s := range scales {
			_ = linalg.Write(sum, s.Value) // which never fails
		}
		p.Digest = hex.EncodeToString(sum.Sum(nil))[:16]
	}
	return p
}

// Began returns with how many iterations and which [Config.Settings] the run in a folder with all
// agents in one process began, by its newest checkpoint, for a program whose defaults are others; 0
// where it has none that can be read.
func Began(f runs.Folder) (iterations int, settings json.RawMessage) {
	found, err := newestCheckpoint(f, nil)
	var began struct {
		Iterations int             `json:"iterations"`
		Settings   json.RawMessage `json:"settings"`
	}
	if err != nil || found == nil || json.Unmarshal(found.Config, &began) != nil {
		return 0, nil
	}
	return began.Iterations, began.Settings
}

// checkpoints reads the checkpoints of the agents of a process, the newest first. The error of a
// damaged one matches errCorrupt.
func checkpoints(f runs.Folder, agents []int) iter.Seq2[*checkpoint, error] {
	return func(yield func(*checkpoint, error) bool) {
		paths, err := f.Checkpoints(agents)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, path := range slices.Backward(paths) {
			c, err := readCheckpoint(path)
			if errors.Is(err, fs.ErrNotExist) {
				continue // the run, still active, has removed it as old
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

// Shrink removes from the folder of a run that has finished all checkpoints but the newest of each
// process, and from these the pairs of the exact solver, with which nothing is solved any more.
func Shrink(f runs.Folder) error {
	kept, err := f.RemoveAllButNewestCheckpoints()
	for _, path := range kept {
		if c, e := readCheckpoint(path); e == nil && c.remove(pairArrays) { // a damaged one stays as it is
			err = cmp.Or(err, files.Write(path, c.writeTo))
		}
	}
	return err
}

// openFiles opens metrics.jsonl and, in a resumed run, restores the agents from the checkpoint.
// Records and checkpoints after that are kept, since the run repeats them, unless an epoch begins
// there; then, and in a new run, later checkpoints are removed.
func (r *runner) openFiles() (err error) {
	if r.Dir == "" {
		return nil
	}
	folder := runs.Folder(r.Dir)
	if r.writesMetrics() { // first, since the open file locks other processes out
		if r.metrics, err = folder.OpenMetrics(); err != nil {
			return err
		}
	}
	if r.Resume {
		err = r.restoreCheckpoint()
	}
	if err == nil && (!r.Resume || r.newEpoch) {
		resumed := -1 // a new run: remove all
		if r.Resume {
			resumed = r.done
		}
		err = folder.RemoveCheckpointsAfter(r.layout.local, resumed)
	}
	switch {
	case err != nil:
	case r.Resume:
		err = r.metrics.KeepRest()
	default:
		err = r.metrics.Truncate()
	}
	if err != nil {
		return errors.Join(err, r.metrics.Close())
	}
	return nil
}

// restoreCheckpoint restores the run from the checkpoint from which it is resumed. One that has
// none yet is at its start.
func (r *runner) restoreCheckpoint() error {
	c, err := r.loadCheckpoint(r.OnDamage)
	if c == nil {
		return err
	}
	if err := r.restore(c); err != nil {
		return fmt.Errorf("%s: %w", c.path, err)
	}
	r.records, err = r.metrics.Continue(c.MetricsBytes, c.MetricsSHA256)
	return err
}

// findCheckpoint returns the checkpoint to resume from, of any configuration, or nil without one.
// damaged, if set, is called with an error for each newer one that is damaged.
func (c *Config) findCheckpoint(damaged func(error)) (*checkpoint, error) {
	g, err := c.Problem.group()
	if err != nil {
		return nil, err
	}
	folder, agents := runs.Folder(c.Dir), c.Problem.layout(g.Local()).local
	switch {
	case c.From != nil:
		return readCheckpoint(folder.CheckpointPath(agents, c.From.Iteration))
	case agents != nil: // the processes have not agreed on one
		return nil, nil
	}
	return newestCheckpoint(folder, damaged)
}

// newestCheckpoint returns the newest checkpoint of all agents in one process that is whole, nil if
// there is none at all. If none is whole the error is the newest's.
func newestCheckpoint(f runs.Folder, damaged func(error)) (*checkpoint, error) {
	var first error
	for found, err := range checkpoints(f, nil) {
		if !errors.Is(err, errCorrupt) {
			return found, err
		}
		if damaged != nil {
			damaged(err)
		}
		first = cmp.Or(first, dsbo.ConfigErrorf("%w", err))
	}
	return nil, first
}

// loadCheckpoint returns the checkpoint to resume from, or nil if there is none yet. Its identity
// must equal this configuration's, up to its epoch, except that a setting that it lacks may have
// the value in c.Defaults. damaged is called as by findCheckpoint.
func (c *Config) loadCheckpoint(damaged func(error)) (*checkpoint, error) {
	found, err := c.findCheckpoint(damaged)
	if err != nil || found == nil {
		return nil, err
	}
	if err := c.checkEpoch(found); err != nil {
		return nil, fmt.Errorf("%s: %w", found.path, err)
	}
	own, err := c.identity(found.Epoch)
	if err == nil && found.Handover {
		own, err = dropExamples(own)
	}
	if err != nil {
		return nil, err
	}
	diff, err := runs.Diff(found.Config, own)
	if err != nil {
		return nil, err
	}
	diff = slices.DeleteFunc(diff, func(d runs.Difference) bool {
		value, ok := c.Defaults[strings.TrimPrefix(d.Name, "settings.")]
		return ok && d.IsNew() && d.This == value
	})
	if len(diff) > 0 {
		return nil, dsbo.ConfigErrorf("%s is of a run with other settings: %v", found.path, diff)
	}
	if !found.Handover && len(found.Usage) != len(c.Problem.agents().Local()) || found.Iteration > c.K {
		return nil, fmt.Errorf("%s: %w", found.path,
			corruptError("%s after %s", wording.Count(len(found.Usage), "agent"),
				wording.Count(found.Iteration, "iteration")))
	}
	return found, nil
}

// restore sets the agents and the evaluator to their state at a checkpoint. Agents that share a
// method restore its state once.
func (r *runner) restore(c *checkpoint) error {
	if c.Epoch < r.epoch.Number || c.Handover {
		return r.restoreEpochStart(c)
	}
	scales := c.arraysAfter(scaleArrays, 0)
	if len(scales) != 2 {
		return corruptError("the scales of averages are missing")
	}
	r.eval.SetScales(scales[1].Value)
	for k, i := range r.Local() {
		a := r.agents[i]
		a.mixer.SetScales(scales[0].Value)
		state := a.state()
		if k == 0 || r.shared == nil { // else the method is the first agent's
			if err := c.restore(a.id, state); err != nil {
				return err
			}
		}
		a.mixer.SetState(c.arraysAfter(a.id, len(state)))
		a.k, a.usageBefore = c.Iteration, c.Usage[k]
	}
	r.done, r.evaluated, r.seconds = c.Iteration, c.Evaluated, c.Seconds
	r.eval.sent, r.Start = c.Evaluation, c.Start
	r.eval.restoreShared(c)
	if c.arraysAfter(pairArrays, 0) != nil {
		_, pairs := r.eval.solverState()
		if err := c.restore(pairArrays, pairs); err != nil {
			return err
		}
	}
	return c.restore(evaluationArrays, r.eval.state())
}
