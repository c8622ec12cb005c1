package tables

import (
	"bytes"
	"fmt"
	"math"

	"dsbo/internal/wording"
)

var notANumber = math.NaN()

// A part is some records of a text file, and their values.
type part struct {
	*layout               // of the file
	data    []byte        // whole records
	line    int           // of the first record
	err     error         // of data
	rows    int           // so far
	lines   lines         // of the rows
	columns []partColumn  // one for each of the layout's
	bad     badRows       // by the row of the part
	parsed  chan struct{} // has an entry when the part is parsed, or has an error
}

// A partColumn is the values of a column in a part. Its words are kept from part to part.
type partColumn struct {
	numbers []float64
	codes   []int32 // places in words; -1: missing
	words   vocabulary
	whole   []int32 // the place of each of words in the whole column; -1: not known yet
	tally   tally
	easy    bool // most numbers are read by leadingNumber, which does not look for missing values
}

// newPart returns the parser of a part of the file. A column is easy if no word for a missing value
// looks like a number.
func newPart(l *layout) *part {
	p := &part{layout: l, columns: make([]partColumn, len(l.columns)), parsed: make(chan struct{}, 1)}
	for j, c := range l.columns {
		easy := c.keep && c.reading == plainNumber
		for word := range c.missing {
			_, f := numberOf([]byte(word), l.decimal)
			easy = easy && f == textForm
		}
		p.columns[j].easy = easy
	}
	return p
}

// parse reads the part's data, a row for each record; blank lines are skipped. A malformed record,
// or a header repeated within the file, becomes a bad row if spare is set; else parse sets err and
// stops. line counts the lines of the file, as a quoted value may have several.
func (p *part) parse() {
	p.rows, p.lines, p.bad = 0, p.lines[:0], newBadRows(p.spare)
	for j := range p.columns {
		c := &p.columns[j]
		c.numbers, c.codes, c.tally = c.numbers[:0], c.codes[:0], tally{}
	}
	line := p.line
	for at := 0; at < len(p.data); {
		next := p.blank(p.data, at)
		if next == at {
			if p.repeatsHeader(at) {
				next, p.err = p.addBadRow(at, 0, line, "",
					"there must be one header; this line repeats it: take it out")
			} else {
				next, p.err = p.parseRecord(at, line)
			}
			if p.err != nil {
				return
			}
			p.lines.add(p.rows, line)
			p.rows++
		}
		line += bytes.Count(p.data[at:next], []byte{'\n'})
		at = next
	}
}

// repeatsHeader reports whether the header is repeated, as where files were concatenated.
func (p *part) repeatsHeader(at int) bool {
	if p.header == nil || !bytes.HasPrefix(p.data[at:], p.header) {
		return false
	}
	_, _, ok := p.fieldEnd(p.data, at+len(p.header))
	return ok
}

// addBadRow turns the malformed record at data[at] into a bad row, whose values from column j on
// are missing, and returns the start of the next line. Without spare it returns the reason as an
// error.
func (p *part) addBadRow(at, j, line int, column, reason string) (next int, err error) {
	if !p.spare {
		return 0, p.in.Fail(line, column, "%s", reason)
	}
	for ; j < len(p.columns); j++ {
		if p.layout.columns[j].keep {
			p.appendValue(j, nil, line)
		}
	}
	delete(p.bad, p.rows) // a fault of one of its values, found before
	p.bad.add(p.rows, column, reason)
	n := bytes.IndexByte(p.data[at:], '\n')
	if n < 0 {
		return len(p.data), nil
	}
	return at + n + 1, nil
}

// parseRecord reads the values of the record at data[at] and returns the start of the next one.
// Plain numbers of easy columns take a fast path: leadingNumber followed by a separator. All other
// values are split off as text first. j is the column; more or fewer values than columns are an
// error.
func (p *part) parseRecord(at, line int) (next int, err error) {
	j, begin := 0, at
	for last := false; !last; j++ {
		if j < len(p.columns) && p.columns[j].easy {
			if v, n := leadingNumber(p.data[at:], p.decimal); n > 0 {
				if next, end, ok := p.fieldEnd(p.data, at+n); ok {
					p.columns[j].numbers = append(p.columns[j].numbers, v)
					at, last = next, end
					continue
				}
			}
		}
		var text []byte
		var reason string
		if text, at, last, reason = p.field(p.data, at); reason != "" {
			return p.addBadRow(begin, j, line, p.nameOf(j), reason)
		}
		if j < len(p.columns) && p.layout.columns[j].keep {
			p.appendValue(j, text, line)
		}
	}
	if j != len(p.columns) {
		first := "the first one"
		if p.header != nil {
			first = "the header"
		}
		reason := fmt.Sprintf("a record must have %s separated by %q, as %s has; it has %d",
			wording.Count(len(p.columns), "value"), p.separator, first, j)
		_, err = p.addBadRow(begin, j, line, "", reason)
	}
	return at, err
}

func (p *part) nameOf(j int) string {
	if j < len(p.columns) {
		return p.layout.columns[j].name
	}
	return fmt.Sprint(j + 1)
}

// appendValue appends the value of a text to column j, and counts in the column's tally what
// decides about its reading at the end of the pass. A text that does not fit the reading becomes
// NaN: if the reading is settled it is a fault of the row, else the column may be read anew, as
// words.
func (p *part) appendValue(j int, text []byte, line int) {
	c, is := &p.columns[j], &p.layout.columns[j]
	missing := is.missing[string(text)]
	if missing {
		c.tally.missing.add(string(text), 1)
	}
	switch {
	case is.kind == Word:
		code := int32(-1)
		if !missing {
			var fits bool
			if code, fits = c.words.wordPlace(text); !fits {
				c.tally.overflow.set(line, text) // an error, unless the column turns out to be numbers
				code = -1
			}
		}
		c.codes = append(c.codes, code)
	case missing:
		c.numbers = append(c.numbers, notANumber)
	default:
		v, f := is.read(text, p.decimal)
		if c.tally.note(f, line, text); is.settled && f == textForm {
			p.bad.add(p.rows, is.name, fmt.Sprintf("a value must be a %s; it is %.40q", is.what, text))
		} else if f == hugeForm {
			p.bad.add(p.rows, is.name, hugeReason(text))
		}
		c.tally.certain = c.tally.certain || f == numberForm && (is.certain == nil || is.certain(text))
		c.numbers = append(c.numbers, v)
	}
}
