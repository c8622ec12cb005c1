package site

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"

	"dsbo/internal/files"
	"dsbo/internal/wording"
)

// An Audit is the log of an agent's actions, a JSON object a line. Each line has the SHA-256 of the
// line before, so that changing, removing or inserting a line breaks the chain, and a copy of one
// line elsewhere proves all lines before it. Lines logged before Open wait for it.
type Audit struct {
	mu      sync.Mutex
	file    *os.File // nil: it is not open
	size    int64    // of its whole lines
	waiting [][]byte
	place   auditPlace // of the last line
	err     error      // the first one
}

// An auditPlace is what ties a line to the lines before it.
type auditPlace struct {
	Line     int    `json:"line"`     // from 1
	Previous string `json:"previous"` // SHA-256 of the line before, in hexadecimal; "" of the first
}

// Handler returns the handler of log lines that are to be in the audit. The message of a line is
// its event.
func (a *Audit) Handler() slog.Handler {
	return slog.NewJSONHandler(a, &slog.HandlerOptions{ReplaceAttr: func(groups []string, x slog.Attr) slog.Attr {
		if x.Key == slog.MessageKey && groups == nil {
			x.Key = "event"
		}
		return wording.LogUnits(groups, x)
	}})
}

// Write adds a line, a JSON object.
func (a *Audit) Write(object []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.file == nil {
		a.waiting = append(a.waiting, bytes.Clone(object))
		return len(object), nil
	}
	return len(object), a.append(object)
}

// append writes a line: the fields of JSON object after the number of the line and the hash of the
// line before. The caller must have the lock. If a line cannot be written whole, the file is cut
// back to before it.
func (a *Audit) append(object []byte) error {
	place, err := json.Marshal(auditPlace{a.place.Line + 1, a.place.Previous})
	if err != nil {
		return err
	}
	line := append(place[:len(place)-1], ',')
	line = append(line, bytes.TrimSpace(object)[1:]...)
	if _, err = a.file.WriteAt(append(line, '\n'), a.size); err != nil {
		a.err = cmp.Or(a.err, err)
		return errors.Join(err, a.file.Truncate(a.size))
	}
	a.place, a.size = a.place.after(line), a.size+int64(len(line))+1
	return nil
}

// after returns what the line after a line has.
func (p auditPlace) after(line []byte) auditPlace {
	return auditPlace{p.Line + 1, fmt.Sprintf("%x", sha256.Sum256(line))}
}

// Open opens or creates the file at path and adds the waiting lines. A partial line at the end,
// left by a process that was killed, is removed, and a line about that is added. The hashes are
// computed from the first line on but not checked; [VerifyAudit] does that.
func (a *Audit) Open(path string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	data, err := io.ReadAll(f)
	whole := bytes.LastIndexByte(data, '\n') + 1
	if err == nil {
		err = f.Truncate(int64(whole))
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	a.file, a.size = f, int64(whole)
	for line := range bytes.Lines(data[:whole]) {
		a.place = a.place.after(bytes.TrimSuffix(line, []byte("\n")))
	}
	if cut := len(data) - whole; cut > 0 {
		err = a.append(fmt.Appendf(nil, `{"event":"a line was cut and is taken out","bytes":%d}`, cut))
	}
	for _, object := range a.waiting {
		err = cmp.Or(err, a.append(object))
	}
	a.waiting = nil
	return err
}

// Head returns the SHA-256 of the last line, "" of none.
func (a *Audit) Head() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.place.Previous
}

// Close makes the lines outlive the machine, and returns the first error of any.
func (a *Audit) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.file == nil {
		return nil
	}
	err := cmp.Or(a.err, a.file.Sync())
	err = cmp.Or(err, a.file.Close())
	a.file = nil
	return err
}

// A Chain is what [VerifyAudit] has found of an audit.
type Chain struct {
	Lines       int
	First, Last string // times
	Head        string // SHA-256 of the last line
	heads       map[string]bool
}

// Has reports whether a line has that SHA-256.
func (c Chain) Has(head string) bool { return c.heads[head] }

// VerifyAudit checks the chain of hashes in an audit's file. Its error names the first line that
// does not fit. First and Last skip lines without a time, such as the line on a partial line.
func VerifyAudit(path string) (c Chain, err error) {
	data, err := files.ReadFile(path)
	if err != nil {
		return c, err
	}
	c.heads = map[string]bool{}
	var place auditPlace
	for len(data) > 0 {
		line, rest, ended := bytes.Cut(data, []byte("\n"))
		var read struct {
			auditPlace
			Time string `json:"time"`
		}
		switch err := json.Unmarshal(line, &read); {
		case err != nil || !ended:
			return c, fmt.Errorf("line %d must be a JSON object; it is cut or damaged", c.Lines+1)
		case read.Line != place.Line+1:
			return c, fmt.Errorf("line %d must have this number; it has %d", c.Lines+1, read.Line)
		case read.Previous != place.Previous:
			return c, fmt.Errorf("the line before line %d must be of SHA-256 %q; it is of %q", c.Lines+1,
				read.Previous, place.Previous)
		}
		if place, data = place.after(line), rest; c.First == "" {
			c.First = read.Time
		}
		c.Lines, c.Head = c.Lines+1, place.Previous
		if c.heads[c.Head] = true; read.Time != "" {
			c.Last = read.Time
		}
	}
	return c, nil
}
