package runs

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
)

// Metrics is an open metrics.jsonl to which records are appended. It keeps the length and the hash of the run's records so far, so
// that a resumed run can drop records after its checkpoint. A nil Metrics writes nothing.
type Metrics struct {
	file *os.File
	size int64
	sum  hash.Hash
}

// OpenMetrics opens a folder's metrics, for this process alone. [Metrics.Cut] leaves the first size bytes, whose SHA-256 has to be
// sum; their records are returned.
func (f Folder) OpenMetrics(size int64, sum []byte) (*Metrics, []Record, error) {
	m := &Metrics{size: size, sum: sha256.New()}
	var records []Record
	path := f.Path(MetricsFile)
	if size > 0 {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, nil, err
		}
		if int64(len(data)) < size {
			return nil, nil, fmt.Errorf("%s has %d bytes, the checkpoint knows of %d: it was changed or cut off", path, len(data), size)
		}
		m.sum.Write(data[:size])
		if !bytes.Equal(m.sum.Sum(nil), sum) {
			return nil, nil, fmt.Errorf("%s is not the one that the checkpoint was written with: it was changed", path)
		}
		if records, _, err = ReadRecords(path, bytes.NewReader(data[:size])); err != nil {
			return nil, nil, err
		}
	}
	var err error
	if m.file, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644); err != nil {
		return nil, nil, err
	}
	if err := lock(m.file); err != nil {
		return nil, nil, errors.Join(err, m.file.Close())
	}
	return m, records, nil
}

// Cut makes the file end after the run's records so far.
func (m *Metrics) Cut() error {
	if m == nil {
		return nil
	}
	if err := m.file.Truncate(m.size); err != nil {
		return err
	}
	_, err := m.file.Seek(m.size, io.SeekStart)
	return err
}

// Write appends one record.
func (m *Metrics) Write(r Record) error {
	if m == nil {
		return nil
	}
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	line = append(line, '\n')
	if _, err := m.file.Write(line); err != nil {
		return err
	}
	m.size += int64(len(line))
	m.sum.Write(line)
	return nil
}

// Sync brings the file to the disk, and returns the length and the SHA-256 of the run's records so far.
func (m *Metrics) Sync() (size int64, sum []byte, err error) {
	if m == nil {
		return 0, nil, nil
	}
	return m.size, m.sum.Sum(nil), m.file.Sync()
}

// Close closes the file.
func (m *Metrics) Close() error {
	if m == nil {
		return nil
	}
	return m.file.Close()
}
