package tables

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strconv"

	"dsbo/internal/files"
)

// mostColumns is the largest number of columns of a table that is not sparse.
const mostColumns = 1 << 20

// An arrayFormat is a file of one array of numbers: rows by its first index, columns, which are
// named "1", "2" and so on, by the others.
type arrayFormat struct {
	match func(start []byte) bool
	open  func(io.Reader) (*files.Reader, error)
}

var (
	npyFormat = arrayFormat{files.IsNPY, files.NPY}
	idxFormat = arrayFormat{files.IsIDX, files.IDX}
)

func (f arrayFormat) Match(start []byte) bool { return f.match(start) }

// Read reads the array, some 64 Ki numbers at a time, so that it needs no more memory than the
// table. Indices after the first are columns, in the order of the file.
func (f arrayFormat) Read(in *Input, o Options) (*Table, error) {
	r, err := in.Reader()
	if err != nil {
		return nil, err
	}
	a, err := f.open(bufio.NewReader(r))
	if err == nil {
		err = a.Fits(in.Most())
	}
	if err != nil {
		return nil, in.Error(err)
	}
	rows := a.Shape[0]
	cols := a.Len() / rows
	if cols > mostColumns {
		return nil, in.Fail(0, "", "there must be at most %d columns; there are %d", mostColumns, cols)
	}
	bad := newBadRows(o.Spare)
	makers, err := newMakers(in, cols, o, bad)
	if err != nil {
		return nil, err
	}
	if err := readArray(makers, a, rows); err != nil {
		return nil, in.Error(err)
	}
	t := &Table{Name: in.Name(), rows: rows, Bad: bad}
	for _, m := range makers {
		if m != nil {
			t.Columns = append(t.Columns, m.column)
		}
	}
	return t, nil
}

// newMakers returns makers of the columns of an array that Options select, and nil for the others.
func newMakers(in *Input, cols int, o Options, bad badRows) ([]*maker, error) {
	names := make([]string, cols)
	for j := range names {
		names[j] = strconv.Itoa(j + 1)
	}
	keep, reason := o.keptColumns(names)
	if reason != "" {
		return nil, in.Fail(0, "", "%s", reason)
	}
	makers := make([]*maker, cols)
	for j, name := range names {
		kind := cmp.Or(o.Kinds[name], Number)
		switch {
		case !keep[j]:
		case kind == Time:
			return nil, in.Fail(0, name, "numbers without a unit cannot be times")
		default:
			makers[j] = newMaker(name, kind, "", o, bad)
		}
	}
	return makers, nil
}

// readArray reads all numbers of an array into columns. A file in Fortran order has columns one
// after the other, else it has rows. Numbers of columns that are not kept (nil) are read and
// ignored.
func readArray(makers []*maker, a *files.Reader, rows int) error {
	const stretch = 1 << 16 // numbers at a time
	across, along := len(makers), rows
	if a.Fortran {
		across, along = along, across
	}
	// The file has `along` lines of `across` numbers each.
	buf := make([]float64, min(across, stretch))
	for line := range along {
		for begin := 0; begin < across; begin += len(buf) {
			numbers := buf[:min(len(buf), across-begin)]
			if err := a.Next(numbers); err != nil {
				return err
			}
			for i, v := range numbers {
				column := begin + i
				if a.Fortran {
					column = line
				}
				if m := makers[column]; m != nil {
					if reason := m.skip(m.number(v)); reason != "" {
						return fmt.Errorf("%s: %s", a.Place(line*across+begin+i), reason)
					}
				}
			}
		}
	}
	return a.End()
}
