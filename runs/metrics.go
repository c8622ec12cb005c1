package runs

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"hash"
	"io"
	"os"

	"dsbo"
	"dsbo/internal/files"
	"dsbo/internal/wording"
)

// Metrics is an open metrics.jsonl to which records are appended. It keeps the length and the hash
// of the run's records so far, so that a resumed run can drop records after its checkpoint. A nil
// Metrics writes nothing.
type Metrics struct {
	folder   Folder
	path     string
	lock     io.Closer // keeps other processes from it
	file     files.File
	size     int64
	sum      hash.Hash
	complete bool   // whether the file has the run's records so far
	pending  []byte // what it has after them, of a run that has gone back: lines that are to come again
}

// OpenMetrics opens a folder's metrics, for this process alone, at the beginning of a run.
func (f Folder) OpenMetrics() (*Metrics, error) {
	m := &Metrics{folder: f, path: f.Path(MetricsFile), sum: sha256.New()}
	var err error
	if m.file, err = files.OpenFile(m.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666); err != nil {
		return nil, err
	}
	if m.lock, err = files.Lock(m.path); err != nil {
		return nil, errors.Join(err, m.file.Close())
	}
	// Otherwise a crash might keep a later checkpoint but lose this file, to which it refers.
	if err := files.SyncDir(string(f)); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// Continue makes m the metrics of a resumed run: the first size bytes of the file, whose SHA-256
// must be sum, are its records so far, which it returns. It must be called before the first Write.
// What follows these bytes is removed by [Metrics.Truncate] or kept by [Metrics.KeepRest].
func (m *Metrics) Continue(size int64, sum []byte) ([]Record, error) {
	if m == nil || size == 0 {
		return nil, nil
	}
	data, err := files.ReadFile(m.path)
	if err != nil {
		return nil, err
	}
	if int64(len(data)) < size {
		return nil, dsbo.ConfigErrorf("%s has %s, the checkpoint knows of %d: it was changed or cut off", m.path,
			wording.Count(len(data), "byte"), size)
	}
	m.size = size
	m.sum.Write(data[:size])
	if !bytes.Equal(m.sum.Sum(nil), sum) {
		return nil, dsbo.ConfigErrorf("%s is not the one that the checkpoint was written with: it was changed", m.path)
	}
	records, _, err := ReadRecords(m.path, bytes.NewReader(data[:size]))
	return records, err
}

// Truncate cuts the file after the run's records so far. The file is taken off the list of sums
// first, because a process may end at any time, and the list must name complete files only.
func (m *Metrics) Truncate() error {
	if m == nil {
		return nil
	}
	if err := setSum(m.folder, MetricsFile, nil); err != nil {
		return err
	}
	err := m.file.Truncate(m.size)
	m.complete, m.pending = err == nil, nil
	return err
}

// KeepRest keeps the file's records after the run's so far, in a run that has gone back. Such a run
// makes the same records again; Write then keeps the old lines, with their times, so that later
// checkpoints, which have the file's digest, remain valid. At the first record that differs the
// rest is removed.
func (m *Metrics) KeepRest() error {
	if m == nil {
		return nil
	}
	if err := setSum(m.folder, MetricsFile, nil); err != nil {
		return err
	}
	data, err := files.ReadFile(m.path)
	if err != nil {
		return err
	}
	m.complete, m.pending = true, data[m.size:]
	return nil
}

// nextPending returns the next kept line if it is the record r apart from times; else nil.
func (m *Metrics) nextPending(r Record) []byte {
	end := bytes.IndexByte(m.pending, '\n') + 1
	var old Record
	if end == 0 || json.Unmarshal(m.pending[:end], &old) != nil {
		return nil
	}
	if d, err := Diff(old.Timeless(), r.Timeless()); err != nil || len(d) > 0 {
		return nil
	}
	return m.pending[:end]
}

// Write appends a record. If [Metrics.KeepRest] has kept the same record at this place, the old
// line stays; if it has kept a different one, that and all after it are removed first.
func (m *Metrics) Write(r Record) error {
	if m == nil {
		return nil
	}
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	line = append(wording.JSON(line), '\n')
	if old := m.nextPending(r); old != nil {
		line, m.pending = old, m.pending[len(old):]
	} else {
		if len(m.pending) > 0 {
			if err := m.Truncate(); err != nil {
				return err
			}
		}
		if _, err := m.file.Write(line); err != nil {
			m.complete = false
			return err
		}
	}
	m.size += int64(len(line))
	m.sum.Write(line)
	return nil
}

// Sync brings the file to the disk, and returns the length and the SHA-256 of the run's records
// so far.
func (m *Metrics) Sync() (size int64, sum []byte, err error) {
	if m == nil {
		return 0, nil, nil
	}
	return m.size, m.sum.Sum(nil), m.file.Sync()
}

// Close closes the file. It lists the digest if the file has exactly the run's records so far.
func (m *Metrics) Close() error {
	if m == nil {
		return nil
	}
	var err error
	if m.complete && len(m.pending) == 0 {
		if err = m.file.Sync(); err == nil {
			digest := [sha256.Size]byte(m.sum.Sum(nil))
			err = setSum(m.folder, MetricsFile, &digest)
		}
	}
	return errors.Join(err, m.file.Close(), m.lock.Close())
}
