package tables

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"unicode/utf8"
)

// csvFormat is text with a separator between values: RFC 4180, and what else people call CSV
// or TSV.
type csvFormat struct{}

// Match takes any text: it is the last format that is tried.
func (csvFormat) Match(start []byte) bool { return true }

// Read reads a table in parts of about 1 MiB, on all cores. It takes the memory of the table and a
// few parts.
//
// The kinds of columns are guessed from the first records, and the table is read with them. If a
// guess turns out wrong, the table is read again with another one. Blank lines are no rows.
func (csvFormat) Read(in *Input, o Options) (*Table, error) {
	layout, err := newLayout(in, o)
	if err != nil {
		return nil, err
	}
	for {
		pass, err := readPass(layout)
		if err != nil {
			return nil, err
		}
		again, err := pass.decideReadings()
		if err != nil {
			return nil, err
		}
		if !again {
			return pass.table()
		}
		runtime.GC() // frees this pass's memory before the next one allocates as much
	}
}

// A layout is what is known of a text file before its values are read.
type layout struct {
	in      *Input         // whose start was read
	dialect                // found
	skip    int            // bytes before the first record with values
	lines   int            // lines in them
	header  []byte         // the header's line, nil if there is none
	columns []layoutColumn // all of the file
	spare   bool           // what cannot be read is missing
	notes   []string       // a sentence each
}

type layoutColumn struct {
	name    string
	keep    bool
	missing map[string]bool // words
	can     []*reading      // candidates, in order of preference; of a forced kind only its own
	forced  bool            // Options give the kind
	settled bool            // a pass over all values has decided the reading
	others  string          // for errors: why a settled reading is used, and values that do not fit it
	*reading
}

// newLayout finds a file's separator, decimal sign, header and kinds of columns from its beginning
// and the options.
func newLayout(in *Input, o Options) (*layout, error) {
	data, err := readStart(in, o.Spare)
	if err != nil {
		return nil, err
	}
	begin, separator := preamble(data)
	if separator == 0 {
		separator = findSeparator(data, begin)
	}
	s, line, reason := readSample(data, begin, separator, sampleRecords)
	if len(s.records) == 0 {
		if reason == "" {
			line, reason = 0, "the file has no values"
		}
		return nil, in.Fail(line, "", "%s", reason)
	}
	var doubt string
	s.decimal, doubt = s.findDecimal()
	l := &layout{in: in, dialect: s.dialect, skip: s.begin, lines: s.lines[0] - 1, spare: o.Spare}
	if s.hasHeader() {
		l.header = bytes.TrimRight(data[s.begin:s.begin+s.length], "\r\n")
		l.skip += s.length
		l.lines += 1 + bytes.Count(l.header, []byte{'\n'})
	}
	if doubt != "" {
		l.notes = append(l.notes, fmt.Sprintf("numbers such as %s are read with %q as the decimal sign: no other "+
			"number shows whether it is one, or parts groups of digits", doubt, s.decimal))
	}
	return l, l.nameColumns(s, o)
}

// nameColumns sets the names of the columns, which of them to keep, and a first guess of how to
// read each, from the sample. Without a header names are numbers from 1. An empty name is an error,
// but for the first column: pandas and R write row numbers without a name, so it is dropped, unless
// Options.Keep lists columns.
func (l *layout) nameColumns(s sample, o Options) error {
	names, values := slices.Clone(s.records[0]), s.records
	if len(names) > mostColumns {
		return l.in.Fail(s.lines[0], "", "there must be at most %d columns; there are %d", mostColumns, len(names))
	}
	if l.header != nil {
		values = values[1:]
	}
	seen := map[string]int{}
	for i := range names {
		if l.header == nil {
			names[i] = strconv.Itoa(i + 1)
		}
		if names[i] == "" && i > 0 {
			return l.in.Fail(s.lines[0], strconv.Itoa(i+1), "the header must name each column; this name is empty: "+
				"give it one, or take the column out of the file")
		}
		if names[i] == "" && o.Keep == nil {
			o.Drop = append(slices.Clone(o.Drop), "")
			l.notes = append(l.notes,
				"the first column has no name, as the row numbers of pandas and R: it is left out")
		}
		if other, twice := seen[names[i]]; twice {
			return l.in.Fail(s.lines[0], names[i],
				"the header must give each name once; columns %d and %d have this one", other+1, i+1)
		}
		seen[names[i]] = i
	}
	keep, reason := o.keptColumns(names)
	if reason != "" {
		return l.in.Fail(0, "", "%s", reason)
	}
	for i, name := range names {
		c := layoutColumn{name: name, keep: keep[i], missing: o.missingWords(name)}
		var kind Kind
		kind, c.forced = o.Kinds[name]
		for _, r := range readings {
			if (kind == "" || r.kind == kind) && (o.Dates == "" || r.order == "" || r.order == o.Dates) {
				c.can = append(c.can, r)
			}
		}
		var texts []string
		for _, r := range values {
			if i < len(r) && !c.missing[r[i]] {
				texts = append(texts, r[i])
			}
		}
		c.reading = readingOf(texts, c.can, s.decimal)
		if code := codeAmong(texts); code != "" && c.keep && c.reading == plainNumber && !c.forced {
			l.notes = append(l.notes, fmt.Sprintf("column %s is taken for numbers, though values such as %s look like "+
				"codes or dates (-words %s takes it as words)", name, code, name))
		}
		l.columns = append(l.columns, c)
	}
	return nil
}

// checkText checks that data is UTF-8 text without NUL bytes. If not, it returns the reason, and
// the index of the offending byte. utf8.Valid is fast; only invalid data is decoded rune by rune.
func checkText(data []byte) (place int, reason string) {
	if i := bytes.IndexByte(data, 0); i >= 0 {
		return i, "there is a NUL byte: the file must be text in UTF-8, not UTF-16 and no binary format"
	}
	if utf8.Valid(data) {
		return 0, ""
	}
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return i, fmt.Sprintf("the file must be text in UTF-8; it has the byte 0x%02x there, perhaps of Latin-1",
				data[i])
		}
		i += n
	}
	return 0, ""
}
