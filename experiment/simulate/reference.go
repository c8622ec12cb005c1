package simulate

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dsbo/experiment"
	"dsbo/internal/disk"
	"dsbo/internal/testkit"
	"dsbo/network/membership"
	"dsbo/runs"
)

// A reference is what a run leaves that nothing happens to: one in one process.
type reference struct {
	files   map[string][]byte
	records []runs.Record
	summary runs.Summary
}

// compared are the files of a run folder that have the same bytes whatever happens to a run.
var compared = []string{runs.LambdaFile, runs.OmegaFile}

// read reads what a folder has of a finished run.
func read(folder runs.Folder) (*reference, error) {
	if state, err := folder.State(); err != nil || state != runs.Finished {
		return nil, fmt.Errorf("the folder must hold a finished run; it is %q (%v)", state, err)
	}
	r := &reference{files: map[string][]byte{}}
	var err error
	if r.summary, err = folder.ReadSummary(); err != nil {
		return nil, err
	}
	for _, name := range compared {
		data, err := disk.ReadFile(folder.Path(name))
		if err != nil {
			return nil, err
		}
		r.files[name] = data
	}
	r.records, err = folder.Records()
	for i := range r.records {
		r.records[i] = r.records[i].Timeless()
	}
	return r, err
}

// reference returns the reference of a case in which members change so.
func (c Case) reference(log membership.Log) (*reference, error) {
	const folder = "/simulated/reference"
	files := testkit.NewMemory()
	if err := files.MkdirAll(folder); err != nil {
		return nil, err
	}
	defer disk.Mount(folder, files)()
	out := filepath.Join(folder, "run")
	args := slices.Concat(c.Flags, fixed, []string{"-out=" + out})
	if len(log) > 0 {
		changes := filepath.Join(folder, "changes.jsonl")
		if err := disk.WriteBytes(changes, log.Bytes()); err != nil {
			return nil, err
		}
		args = append(args, "-membership="+changes)
	}
	if err := experiment.Run(context.Background(), *c.task, args, nil, io.Discard); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", strings.Join(c.Flags, " "), err, log.Bytes())
	}
	return read(runs.Folder(out))
}

// verify compares what each agent has left with what it must be: all have the same membership log,
// or as much of it as they saw, and those that have ended have the bits of its replay.
func (w *world) verify() error {
	log, err := w.changes()
	if err != nil {
		return err
	}
	want, err := w.reference(log)
	if err != nil {
		return err
	}
	var errs []error
	var first *reference
	for i, m := range w.machines {
		if m.refused || m.leftOut.Load() {
			continue
		}
		got, err := read(runs.Folder(m.dir))
		if err == nil {
			err = want.compare(got, w.cameIn(log, i))
		}
		if _, member := log.Last(w.Agents).Position(i); err == nil && member {
			first = cmp.Or(first, got)
			err = first.compareSummaries(got)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("agent %d: %w", i, err))
		}
	}
	return errors.Join(errs...)
}

// cameIn returns the epoch in which an agent came in for the last time, or began without its state,
// 0 if it never did. It has the records from then on.
func (w *world) cameIn(log membership.Log, agent int) (epoch int) {
	for ; !log.StateKept(epoch, len(log), agent, w.Agents) && epoch < len(log); epoch++ {
	}
	return epoch
}

// changes returns the membership log of the run. All agents that have ended must have it, and
// others its beginning.
func (w *world) changes() (log membership.Log, err error) {
	logs := make([]membership.Log, len(w.machines))
	for i, m := range w.machines {
		m.drive.detach(true, m.of("last crash", i)) // what each agent has found must be safe
		if logs[i], err = m.log(); err != nil {
			return nil, fmt.Errorf("agent %d: %w", i, err)
		}
		if len(logs[i]) > len(log) {
			log = logs[i]
		}
	}
	for i, own := range logs {
		if !bytes.HasPrefix(log.Unsigned().Bytes(), own.Unsigned().Bytes()) || w.ended[i] && len(own) < len(log) {
			return nil, fmt.Errorf("agent %d has the membership log\n%sothers have\n%s", i, own.Bytes(), log.Bytes())
		}
	}
	id := w.machines[0].identity
	return log, log.VerifyVotes(func(text []byte, s membership.Signature, at time.Time) error {
		_, err := id.Verify(s.Agent, s.Certificate, text, s.Signature, at)
		return err
	})
}

// compareSummaries returns an error that names the first difference of what two agents say of the
// run, which the verb collect refuses.
func (r *reference) compareSummaries(got *reference) error {
	d, err := runs.Diff(r.summary.Timeless(), got.summary.Timeless())
	if err == nil && len(d) > 0 {
		err = fmt.Errorf("wrong summary: %v", d)
	}
	return err
}

// compare returns an error that names the first difference. Records of epochs before one may
// be missing.
func (r *reference) compare(got *reference, since int) error {
	for _, name := range compared {
		if !bytes.Equal(r.files[name], got.files[name]) {
			return fmt.Errorf("wrong bits: %s is %x; it must be %x", name, got.files[name], r.files[name])
		}
	}
	left := got.records
	for _, want := range r.records {
		missing := len(left) == 0 || left[0].Iteration != want.Iteration || left[0].Epoch != want.Epoch
		if missing && want.Epoch >= since {
			return fmt.Errorf("wrong records: that of iteration %d, in epoch %d, is missing",
				want.Iteration, want.Epoch)
		}
		if missing {
			continue
		}
		if d, err := runs.Diff(want, left[0]); err != nil || len(d) > 0 {
			return errors.Join(fmt.Errorf("wrong bits in the record of iteration %d: %v", want.Iteration, d), err)
		}
		left = left[1:]
	}
	if len(left) > 0 {
		return fmt.Errorf("wrong records: there is one of iteration %d", left[0].Iteration)
	}
	return nil
}
