package tables

import (
	"fmt"
	"io"
	"runtime"
	"slices"
)

// A pass is one reading of a text file's values.
type pass struct {
	*layout
	made    []*Column // nil for columns that are not kept
	tallies []tally
	words   []vocabulary
	rows    int
	lines   lines
	bad     badRows
	notes   []string // a sentence each
}

// readPass reads all values with the layout's readings. Parts of the file are parsed concurrently
// and joined in the order of the file.
func readPass(l *layout) (*pass, error) {
	whole := wholeRecords
	if l.spare {
		whole = l.spareRecords
	}
	cut, err := newCutter(l.in, l.skip, l.lines, whole)
	if err != nil {
		return nil, err
	}
	// Each part circulates: free, filled, parsed, joined, free. Each channel has room for all
	// parts, so that no send blocks. After an error free is closed, and fillParts ends.
	parts := 2 * runtime.GOMAXPROCS(0)
	free, filled := make(chan *part, parts), make(chan *part, parts)
	for range parts {
		free <- newPart(l)
	}
	go fillParts(cut, free, filled)
	p := newPass(l)
	for part := range filled {
		<-part.parsed
		switch {
		case err != nil: // an earlier part had an error; drain the rest
		case part.err != nil:
			err = part.err
			close(free)
		default:
			p.join(part)
			free <- part
		}
	}
	if err != io.EOF { // the end of the file, as the last part reports it
		return nil, err
	}
	return p, nil
}

// fillParts fills free parts in the order of the file and starts to parse each, until free is
// closed or the file ends. filled has them in order; each signals on parsed when its values are
// there.
func fillParts(cut *cutter, free <-chan *part, filled chan<- *part) {
	defer close(filled)
	for part := range free {
		part.data, part.line, part.err = cut.next(part.data)
		if part.err != nil {
			part.parsed <- struct{}{}
			filled <- part
			return
		}
		go func() {
			part.parse()
			part.parsed <- struct{}{}
		}()
		filled <- part
	}
}

// newPass returns an empty pass over a file, with columns for the layout's kept ones.
func newPass(l *layout) *pass {
	n := len(l.columns)
	p := &pass{layout: l, made: make([]*Column, n), tallies: make([]tally, n), words: make([]vocabulary, n),
		bad: newBadRows(l.spare)}
	for j, c := range l.columns {
		if c.keep {
			p.made[j] = &Column{Name: c.name, Kind: c.kind, Unit: c.unit}
		}
	}
	return p
}

// join appends the rows of a part to the pass. Codes of words, numbered within the worker's part,
// are translated first.
func (p *pass) join(from *part) {
	for j, made := range p.made {
		if made == nil {
			continue
		}
		c := &from.columns[j]
		if made.Kind == Word {
			p.translate(j, c)
			made.Words = p.words[j].words
			made.codes = extend(made.codes, c.codes)
		} else {
			made.numbers = extend(made.numbers, c.numbers)
		}
		// After translate: it finds the first word beyond the limit in the order of the file,
		// whatever part each worker had.
		p.tallies[j].add(c.tally)
	}
	for _, at := range from.lines {
		p.lines.add(p.rows+at.row, at.line)
	}
	for row, reason := range from.bad {
		p.bad[p.rows+row] = reason
	}
	p.rows += from.rows
}

// translate replaces the codes of a part, indices into the part's own words, by indices into the
// words of the whole column, which are in the order of the file. c.whole keeps known translations
// from part to part.
func (p *pass) translate(j int, c *partColumn) {
	for len(c.whole) < len(c.words.words) {
		c.whole = append(c.whole, -1)
	}
	for i, code := range c.codes {
		if code < 0 {
			continue
		}
		if c.whole[code] < 0 {
			word := c.words.words[code]
			place, fits := p.words[j].wordPlace([]byte(word))
			if !fits {
				p.tallies[j].overflow.set(1, []byte(word))
				continue
			}
			c.whole[code] = place
		}
		c.codes[i] = c.whole[code]
	}
}

// table returns the table of a finished pass, with notes on how values were read. Readings with a
// decimal sign of their own differ from the rest of the file, and get a note each.
func (p *pass) table() (*Table, error) {
	if p.rows == 0 {
		return nil, p.in.Fail(0, "", "there are no rows below the header")
	}
	t := &Table{Name: p.in.Name(), rows: p.rows, lines: p.lines, Bad: p.bad}
	t.Notes = slices.Concat(p.layout.notes, p.notes, p.missingNotes())
	for j, c := range p.made {
		if c == nil {
			continue
		}
		if t.Columns = append(t.Columns, c); p.columns[j].decimal != 0 {
			t.Notes = append(t.Notes, fmt.Sprintf("column %s is taken for a %s, unlike others of the file", c.Name,
				p.columns[j].what))
		}
	}
	return t, nil
}
