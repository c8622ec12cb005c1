package table

import (
	"fmt"

	"dsbo"
)

// A FileError says where a file of data is not what it should be. It matches [dsbo.ErrConfig].
type FileError struct {
	File   string // "" where the name of the input is not known
	Line   int    // from 1; 0 where there are no lines
	Column string // the column's name; "" where the error is of no single column
	Reason string
}

func (e *FileError) Error() string {
	where := e.File
	if where == "" {
		where = "input"
	}
	if e.Line > 0 {
		where += fmt.Sprintf(", line %d", e.Line)
	}
	if e.Column != "" {
		where += ", column " + e.Column
	}
	return where + ": " + e.Reason
}

// Is reports whether target is dsbo.ErrConfig.
func (e *FileError) Is(target error) bool { return target == dsbo.ErrConfig }
