package simulate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"dsbo/experiment"
	"dsbo/internal/disk"
	"dsbo/runs"
)

// A Reference is what a run leaves that nothing happens to: one in one process.
type Reference struct {
	files   map[string][]byte
	records []runs.Record
}

// compared are the files of a run folder that have the same bytes whatever happens to a run.
var compared = []string{runs.LambdaFile, runs.OmegaFile}

// read reads what a folder has of a finished run.
func read(folder runs.Folder) (*Reference, error) {
	if state, err := folder.State(); err != nil || state != runs.Finished {
		return nil, fmt.Errorf("the folder must hold a finished run; it is %q (%v)", state, err)
	}
	r := &Reference{files: map[string][]byte{}}
	for _, name := range compared {
		data, err := disk.ReadFile(folder.Path(name))
		if err != nil {
			return nil, err
		}
		r.files[name] = data
	}
	var err error
	r.records, err = folder.Records()
	for i := range r.records {
		r.records[i] = r.records[i].Timeless()
	}
	return r, err
}

// References makes and keeps those of command lines. The zero value has none.
type References struct {
	mu  sync.Mutex
	all map[string]*Reference
}

// Of returns the reference of a case.
func (r *References) Of(c Case) (*Reference, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := strings.Join(c.Flags, " ")
	if found := r.all[key]; found != nil {
		return found, nil
	}
	const folder = "/simulated/reference"
	files := disk.NewMemory()
	if err := files.MkdirAll(folder); err != nil {
		return nil, err
	}
	defer disk.Mount(folder, files)()
	out := filepath.Join(folder, "run")
	args := slices.Concat(c.Flags, fixed, []string{"-out=" + out})
	if err := experiment.Run(context.Background(), quadratic{}, args, nil, io.Discard); err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	found, err := read(runs.Folder(out))
	if err != nil {
		return nil, err
	}
	if r.all == nil {
		r.all = map[string]*Reference{}
	}
	r.all[key] = found
	return found, nil
}

// verify compares what each agent has left with what it must be.
func (w *world) verify(want *Reference) error {
	var errs []error
	for i, m := range w.machines {
		if m.refused {
			continue
		}
		// What each agent has found must be safe.
		m.drive.lose(true, m.of("last crash", i))
		m.drive.attach()
		got, err := read(runs.Folder(m.dir))
		if err == nil {
			err = want.compare(got)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("agent %d: %w", i, err))
		}
	}
	return errors.Join(errs...)
}

// compare returns an error that names the first difference.
func (r *Reference) compare(got *Reference) error {
	for _, name := range compared {
		if !bytes.Equal(r.files[name], got.files[name]) {
			return fmt.Errorf("wrong bits: %s is %x; it must be %x", name, got.files[name], r.files[name])
		}
	}
	if len(got.records) != len(r.records) {
		return fmt.Errorf("wrong records: there are %d; there must be %d", len(got.records), len(r.records))
	}
	for k := range got.records {
		if d, err := runs.Diff(r.records[k], got.records[k]); err != nil || len(d) > 0 {
			return fmt.Errorf("wrong bits in record %d: %v %w", k, d, err)
		}
	}
	return nil
}
