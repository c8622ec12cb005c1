package peer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"dsbo/experiment"
	"dsbo/internal/files"
	"dsbo/internal/testkit"
	"dsbo/network/membership"
	"dsbo/runs"
)

// A finding is what a run leaves that has the same bits whatever happens to it.
type finding struct {
	Lambda, Omega []byte
	Records       map[string]runs.Record // by epoch and iteration, without times
	summary       runs.Summary           // of the same members, without times
	log           membership.Log
}

// read returns what is in a folder; nil: the run has not finished there.
func read(folder runs.Folder) (f *finding, err error) {
	err = testkit.Catch(func() {
		if testkit.Get(folder.State()) != runs.Finished {
			return
		}
		f = &finding{Lambda: testkit.Get(folder.ReadFile(runs.LambdaFile)),
			Omega:   testkit.Get(folder.ReadFile(runs.OmegaFile)),
			Records: map[string]runs.Record{}, summary: testkit.Get(folder.ReadSummary()).Timeless(),
			log: testkit.Get(folder.ReadChanges())}
		for _, r := range testkit.Get(folder.Records()) {
			f.Records[fmt.Sprintf("epoch %d iteration %d", r.Epoch, r.Iteration)] = r.Timeless()
		}
	})
	return f, err
}

// replay returns what one process finds in which members change as a log has it.
func (c Case) replay(log membership.Log) (*finding, error) {
	const folder = "/simulated/replay"
	defer files.Mount(folder, testkit.NewMemory())()
	out := filepath.Join(folder, "run")
	args := slices.Concat(fixed, c.Flags, []string{"-out=" + out})
	if len(log) > 0 {
		changes := filepath.Join(folder, "changes.jsonl")
		if err := cmp.Or(files.MkdirAll(folder), files.WriteBytes(changes, log.Bytes())); err != nil {
			return nil, err
		}
		args = append(args, "-membership="+changes)
	}
	if err := experiment.Run(context.Background(), c.task, args, nil, io.Discard); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", strings.Join(c.Flags, " "), err, log.Bytes())
	}
	return read(runs.Folder(out))
}

// verify returns an error unless all that have finished have the same membership log, summaries
// alike, and the bits of the log's replay. An agent that came too late may have a result that did
// not become final: the bits of its own log's replay.
func (w *world) verify() error {
	var errs []error
	var first *finding
	replays := map[string]*finding{}
	for i, m := range w.machines {
		got, err := m.left()
		late := m.finished().IsZero()
		if err == nil && got == nil && late {
			continue
		}
		if err == nil && got == nil {
			err = errors.New("its result is not on its disk")
		}
		if err == nil {
			err = w.compare(got, replays)
		}
		if err == nil && !late {
			first = cmp.Or(first, got)
			a, b := string(first.log.Bytes()), string(got.log.Bytes())
			if d, _ := runs.Diff(first.summary, got.summary); len(d) > 0 || a != b {
				err = fmt.Errorf("other agents have another summary, %v, or log\n%sthan\n%s", d, a, b)
			}
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("agent %d: %w", i, err))
		}
	}
	return errors.Join(errs...)
}

// left returns what the folder of an agent has after a loss of power: what it has found must be
// safe.
func (m *machine) left() (*finding, error) {
	m.crash(Unpowered, 0)
	m.mu.Lock()
	m.mount()
	m.mu.Unlock()
	return read(runs.Folder(m.dir))
}

// compare returns an error that names the first differences of what an agent has found from the
// replay of its log. Records may be missing of epochs before a member of the end came in, or began
// without its state: it may have handed over the result, and with it the records that it has.
func (w *world) compare(got *finding, replays map[string]*finding) (err error) {
	key := string(got.log.Bytes())
	if replays[key] == nil {
		if replays[key], err = w.replay(got.log); err != nil {
			return err
		}
	}
	since := 0
	for _, agent := range got.log.Last(w.Agents).Members {
		for since < len(got.log) && !got.log.StateKept(since, len(got.log), agent, w.Agents) {
			since++
		}
	}
	want := *replays[key]
	want.Records = map[string]runs.Record{}
	for name, r := range replays[key].Records {
		if _, has := got.Records[name]; has || r.Epoch >= since {
			want.Records[name] = r
		}
	}
	d, err := runs.Diff(want, got)
	if err == nil && len(d) > 0 {
		err = fmt.Errorf("wrong bits, in %d values: %v", len(d), d[:min(len(d), 5)])
	}
	return err
}
