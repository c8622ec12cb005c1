package files

import (
	"fmt"

	"dsbo"
)

// An Error is the place and the fault of a file of data. It matches [dsbo.ErrConfig].
type Error struct {
	File   string // "" where the name of the input is not known
	Line   int    // from 1; 0 where there are no lines
	Row    int    // from 1, where there are no lines; 0 where the error is of no single row
	Column string // the column's name; "" where the error is of no single column
	Reason string // which may reveal a value
}

func (e *Error) Error() string { return e.location() + ": " + e.Reason }

// Shared implements [dsbo.Confidential]: the place alone.
func (e *Error) Shared() string { return e.location() + ": its own log says what is wrong there" }

// location returns the place of the error.
func (e *Error) location() string {
	where := e.File
	if where == "" {
		where = "input"
	}
	if e.Line > 0 {
		where += fmt.Sprintf(", line %d", e.Line)
	}
	if e.Row > 0 {
		where += fmt.Sprintf(", row %d", e.Row)
	}
	if e.Column != "" {
		where += ", column " + e.Column
	}
	return where
}

// Is reports whether target is dsbo.ErrConfig.
func (e *Error) Is(target error) bool { return target == dsbo.ErrConfig }
