package tables

import (
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"

	"dsbo/internal/files"
)

// parquetFormat is Apache Parquet, as parquet-go reads it: flat columns of numbers, texts, truth
// values, dates and timestamps. Truth values are the words true and false, as in a text file.
type parquetFormat struct{}

const parquetMagic = "PAR1"

func (parquetFormat) Match(start []byte) bool {
	return len(start) >= len(parquetMagic) && string(start[:len(parquetMagic)]) == parquetMagic
}

// Read reads one column after the other. It needs memory for the table and a page, and for the
// whole file if that is compressed by gzip. Announced numbers of rows are checked against the
// length of the file before memory is allocated for them: a damaged file must not take all of it.
func (parquetFormat) Read(in *Input, o Options) (t *Table, err error) {
	defer func() {
		if p := recover(); p != nil { // the library panics on some damaged files
			t, err = nil, in.Fail(0, "", "damaged Parquet data (%v)", p)
		}
	}()
	file, length, err := in.ReaderAt()
	if err != nil {
		return nil, err
	}
	if err := checkFooter(file, length); err != nil {
		return nil, in.Error(err)
	}
	p, err := parquet.OpenFile(file, length, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, in.Fail(0, "", "damaged Parquet data (%v)", err)
	}
	var names []string
	for _, field := range p.Schema().Fields() {
		names = append(names, field.Name())
	}
	keep, reason := o.keptColumns(names)
	if reason != "" {
		return nil, in.Fail(0, "", "%s", reason)
	}
	if p.NumRows() == 0 {
		return nil, in.Fail(0, "", "there are no rows")
	}
	room := files.Limit(length) // bytes that a file of this length may unpack to
	if rows := p.NumRows(); rows < 0 || rows > room/4/int64(len(names)) {
		return nil, in.Fail(0, "", "a file of %d bytes may not have %d rows of %d columns", length, rows, len(names))
	}
	t = &Table{Name: in.Name()}
	bad := newBadRows(o.Spare)
	for j, field := range p.Schema().Fields() {
		if !keep[j] {
			continue
		}
		c, err := readParquet(p, field, o, bad, func(column int) error {
			return checkPages(file, length, p, column, &room)
		})
		if err != nil {
			return nil, in.Fail(0, field.Name(), "%v", err)
		}
		if t.Columns = append(t.Columns, c); c.Kind == Word && o.Kinds[c.Name] == "" {
			t.Notes = append(t.Notes, c.wordNotes(c.bestReading(readings, '.'))...)
		}
	}
	if t.rows = t.Columns[0].rows(); int64(t.rows) != p.NumRows() {
		return nil, in.Fail(0, "", "damaged Parquet data: %d rows, %d announced", t.rows, p.NumRows())
	}
	made, err := New(t.Name, t.Columns...)
	if err == nil {
		made.Bad, made.Notes = bad, t.Notes
	}
	return made, err
}

// readParquet reads a column.
func readParquet(p *parquet.File, field parquet.Field, o Options, bad badRows, check func(column int) error) (
	*Column, error) {
	if !field.Leaf() || field.Repeated() {
		return nil, fmt.Errorf("a column must have one value a row; this one has lists or groups: leave it out")
	}
	decode, err := decoderOf(field.Type())
	if err != nil {
		return nil, err
	}
	kind, unit, err := decode.kindFor(o.Kinds[field.Name()])
	if err != nil {
		return nil, err
	}
	m := newMaker(field.Name(), kind, unit, o, bad)
	leaf, _ := p.Schema().Lookup(field.Name())
	if err := check(leaf.ColumnIndex); err != nil {
		return nil, err
	}
	buf := make([]parquet.Value, 1024)
	for _, group := range p.RowGroups() {
		pages := group.ColumnChunks()[leaf.ColumnIndex].Pages()
		err := readPages(pages, buf, func(v parquet.Value) error { return decode.add(m, v) })
		pages.Close()
		if err != nil {
			return nil, err
		}
	}
	return m.column, nil
}

// readPages calls add for each value of the pages, in their order, until it returns an error. buf
// is scratch memory.
func readPages(pages parquet.Pages, buf []parquet.Value, add func(parquet.Value) error) error {
	for {
		page, err := pages.ReadPage()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("damaged Parquet data (%v)", err)
		}
		for values := page.Values(); ; {
			n, err := values.ReadValues(buf)
			for _, v := range buf[:n] {
				if err := add(v); err != nil {
					return err
				}
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				return fmt.Errorf("damaged Parquet data (%v)", err)
			}
		}
		parquet.Release(page)
	}
}
