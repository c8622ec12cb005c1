package data

import (
	"errors"
	"fmt"
	"io"

	"dsbo"
)

// A FileError says where a data file is not what it should be. It matches [dsbo.ErrConfig].
type FileError struct {
	File   string // "" where the name of the input is not known
	Line   int    // from 1; 0 where there are no lines
	Reason string
}

func (e *FileError) Error() string {
	name := e.File
	if name == "" {
		name = "input"
	}
	if e.Line > 0 {
		name = fmt.Sprintf("%s, line %d", name, e.Line)
	}
	return name + ": " + e.Reason
}

// Is reports whether target is dsbo.ErrConfig.
func (e *FileError) Is(target error) bool { return target == dsbo.ErrConfig }

// nameOf returns the name of a file, "" for other readers.
func nameOf(r io.Reader) string {
	if f, ok := r.(interface{ Name() string }); ok {
		return f.Name()
	}
	return ""
}

// readExactly reads want bytes and checks that no more follow. It allocates as the bytes come in,
// beginning with at most guess, so that a false want costs no more memory than the input is long.
func readExactly(r io.Reader, want, guess int) ([]byte, error) {
	buf := make([]byte, 0, min(want, guess))
	for len(buf) < want {
		if len(buf) == cap(buf) {
			grown := make([]byte, len(buf), min(want, max(2*cap(buf), 4096)))
			copy(grown, buf)
			buf = grown
		}
		n, err := io.ReadFull(r, buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err != nil {
			return nil, fmt.Errorf("cut short: %d bytes of data, want %d%s", len(buf), want, because(err))
		}
	}
	// Reading to the end also makes gzip check its sum.
	n, err := io.ReadFull(r, make([]byte, 1))
	if n > 0 {
		return nil, fmt.Errorf("too long: more than the %d bytes that its header announces", want)
	}
	if err != io.EOF {
		return nil, fmt.Errorf("damaged at its end%s", because(err))
	}
	return buf, nil
}

// because names an error unless it only says that the input ended.
func because(err error) string {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return ""
	}
	return fmt.Sprintf(" (%v)", err)
}
