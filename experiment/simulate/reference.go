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

	"dsbo/experiment"
	"dsbo/internal/disk"
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
		if r.files[name], err = folder.ReadFile(name); err != nil {
			return nil, err
		}
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
	defer disk.Mount(folder, newDisk(folder))()
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

// verify compares what each agent has left with what it must be: all that have finished have the
// same membership log, the bits of its replay, and summaries alike. An agent that came too late may
// have a result that did not become final: the bits of its own log's replay.
func (w *world) verify() error {
	var errs []error
	var log membership.Log
	var want, first *reference
	for _, late := range []bool{false, true} {
		for i, m := range w.machines {
			if _, ended := w.ended[i]; ended == late {
				continue
			}
			own, err := m.left()
			state, e := runs.Folder(m.dir).State()
			if err = cmp.Or(err, e); err == nil && late && state != runs.Finished {
				continue
			}
			switch {
			case err != nil:
			case want == nil || late:
				log = own
				want, err = w.reference(log)
			case !bytes.Equal(own.Bytes(), log.Bytes()):
				err = fmt.Errorf("it has the membership log\n%sothers have\n%s", own.Bytes(), log.Bytes())
			}
			var got *reference
			if err == nil {
				got, err = read(runs.Folder(m.dir))
			}
			if err == nil {
				err = want.compare(got, w.cameIn(log, i))
			}
			if err == nil && !late {
				first = cmp.Or(first, got)
				err = first.compareSummaries(got)
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("agent %d: %w", i, err))
			}
		}
	}
	return errors.Join(errs...)
}

// left returns the changes that the folder of an agent has after a loss of power: what it has found
// must be safe.
func (m *machine) left() (membership.Log, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.detach(true, m.of("last crash", m.agent))
	m.attach()
	return runs.Folder(m.dir).ReadChanges()
}

// cameIn returns the epoch in which an agent came in for the last time, or began without its state,
// 0 if it never did. It has the records from then on.
func (w *world) cameIn(log membership.Log, agent int) (epoch int) {
	for ; !log.StateKept(epoch, len(log), agent, w.Agents) && epoch < len(log); epoch++ {
	}
	return epoch
}

// compareSummaries returns an error that names the first difference of the summaries of two agents,
// which the verb collect refuses.
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
