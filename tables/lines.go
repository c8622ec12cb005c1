package tables

import (
	"fmt"
	"slices"
)

// lines say on which line of a file its rows begin: a row that is not here follows on the line
// after the row before. They ascend.
type lines []lineOfRow

// A lineOfRow is a row, from 0, and its line, from 1.
type lineOfRow struct{ row, line int }

// lineOf returns the line of a row, 0 where no lines are known.
func (l lines) lineOf(row int) int {
	k, found := slices.BinarySearchFunc(l, row, func(at lineOfRow, row int) int { return at.row - row })
	if !found {
		k--
	}
	if k < 0 {
		return 0
	}
	return l[k].line + row - l[k].row
}

// add sets the line of a row after all others.
func (l *lines) add(row, line int) {
	if len(*l) == 0 || l.lineOf(row) != line {
		*l = append(*l, lineOfRow{row, line})
	}
}

// badRows are [Table.Bad]: nil where bad values are errors.
type badRows map[int]string

func newBadRows(spare bool) badRows {
	if spare {
		return badRows{}
	}
	return nil
}

// add keeps the reason of a row, unless it has one.
func (b badRows) add(row int, column, reason string) {
	if b == nil || b[row] != "" {
		return
	}
	if column != "" {
		reason = "column " + column + ": " + reason
	}
	b[row] = reason
}

// Fail returns an error about a row, from 0, and a column, with the row's line where the file
// has lines.
func (t *Table) Fail(row int, column, format string, args ...any) *Error {
	e := &Error{File: t.Name, Column: column, Reason: fmt.Sprintf(format, args...)}
	if at, isLine := t.placeOf(row); isLine {
		e.Line = at
	} else {
		e.Row = at
	}
	return e
}

// placeOf returns the line of a row, from 0, where the file has lines, else which row of the file
// it is, from 1.
func (t *Table) placeOf(row int) (at int, isLine bool) {
	if at = t.lines.lineOf(row); at == 0 {
		return row + 1, false
	}
	return at, !t.byRow
}
