package data

import (
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

// fileError is a [*FileError] with a reason of a format.
func fileError(name string, line int, format string, args ...any) error {
	return &FileError{File: name, Line: line, Reason: fmt.Sprintf(format, args...)}
}

// nameOf returns the name of a file, "" for other readers.
func nameOf(r io.Reader) string {
	if f, ok := r.(interface{ Name() string }); ok {
		return f.Name()
	}
	return ""
}
