package train

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

// metrics appends records to metrics.jsonl, and knows the length and the hash of what belongs to the
// run, so that a resumed run can drop what came after its checkpoint. Without a path it writes nothing.
type metrics struct {
	file *os.File
	size int64
	sum  hash.Hash
}

// createMetrics opens a file that is to be empty after cut.
func createMetrics(path string) (*metrics, error) {
	m := &metrics{sum: sha256.New()}
	return m, m.open(path)
}

// open opens the file for this process alone.
func (m *metrics) open(path string) (err error) {
	if m.file, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644); err != nil {
		return err
	}
	if err = lock(m.file); err != nil {
		return errors.Join(err, m.file.Close())
	}
	return nil
}

// cut makes the file end after the first m.size bytes.
func (m *metrics) cut() error {
	if m == nil {
		return nil
	}
	if err := m.file.Truncate(m.size); err != nil {
		return err
	}
	_, err := m.file.Seek(m.size, io.SeekStart)
	return err
}

// reopenMetrics opens a file of which cut keeps the first size bytes, whose SHA-256 has to be want, and returns the records
// in them.
func reopenMetrics(path string, size int64, want []byte) (*metrics, []Record, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	if int64(len(data)) < size {
		return nil, nil, fmt.Errorf("%s has %d bytes, the checkpoint knows of %d: it was changed or cut off", path, len(data), size)
	}
	m := &metrics{size: size, sum: sha256.New()}
	m.sum.Write(data[:size])
	if !bytes.Equal(m.sum.Sum(nil), want) {
		return nil, nil, fmt.Errorf("%s is not the one that the checkpoint was written with: it was changed", path)
	}
	records, err := ReadRecords(path, bytes.NewReader(data[:size]))
	if err != nil {
		return nil, nil, err
	}
	return m, records, m.open(path)
}

// write appends one record.
func (m *metrics) write(r Record) error {
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

// sync brings the file to the disk.
func (m *metrics) sync() error { return m.file.Sync() }

func (m *metrics) close() error {
	if m == nil {
		return nil
	}
	return m.file.Close()
}
