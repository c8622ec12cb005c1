package table

import (
	"io"
	"runtime"
	"sync"
)

// A pass is one reading of a text file's values.
type pass struct {
	*layout
	made    []*Column // nil for columns that are not kept
	tallies []tally
	words   []vocabulary
	rows    int
	lines   lines
}

// readPass reads all values with the kinds that the layout says. Parts are parsed at the same time, and joined in their order.
func readPass(l *layout) (*pass, error) {
	cut, err := newCutter(l.in, l.skip, l.lines, wholeRecords)
	if err != nil {
		return nil, err
	}
	p := newPass(l)
	workers := runtime.GOMAXPROCS(0)
	parts := 2 * workers
	// A part goes round: it is filled, put into the queue and parsed at the same time, joined, and free again. No channel but
	// tasks can be full, and its receivers never wait for others.
	free, queue, tasks, stop := make(chan *part, parts), make(chan *part, parts), make(chan *part), make(chan struct{})
	for range parts {
		free <- newPart(l)
	}
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for part := range tasks {
				part.parse()
				part.parsed <- struct{}{}
			}
		})
	}
	group.Go(func() {
		defer close(queue)
		defer close(tasks)
		for {
			select {
			case <-stop:
				return
			case part := <-free:
				part.data, part.line, part.err = cut.next(part.data)
				queue <- part
				if part.err != nil {
					part.parsed <- struct{}{}
					return
				}
				tasks <- part
			}
		}
	})
	for part := range queue {
		<-part.parsed
		if err == nil {
			if err = part.err; err == nil {
				p.join(part)
			} else {
				close(stop)
			}
		}
		free <- part
	}
	group.Wait()
	if err != io.EOF {
		return nil, err
	}
	return p, nil
}

func newPass(l *layout) *pass {
	n := len(l.columns)
	p := &pass{layout: l, made: make([]*Column, n), tallies: make([]tally, n), words: make([]vocabulary, n)}
	for j, c := range l.columns {
		if c.keep {
			p.made[j] = &Column{Name: c.name, Kind: c.kind, Unit: c.unit}
		}
	}
	return p
}

// join appends the rows of a part.
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
		p.tallies[j].add(c.tally) // after translate, which meets the first word that is too many, whichever worker had which part
	}
	for _, at := range from.lines {
		p.lines.add(p.rows+at.row, at.line)
	}
	p.rows += from.rows
}

// translate makes places in the words of a part places in the words of the whole column, which have the order of the file.
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
			place, fits := p.words[j].wordPlace([]byte(word), p.most)
			if !fits {
				p.tallies[j].crowded.set(1, []byte(word))
				continue
			}
			c.whole[code] = place
		}
		c.codes[i] = c.whole[code]
	}
}

// table returns what was read.
func (p *pass) table() (*Table, error) {
	if p.rows == 0 {
		return nil, p.in.fail(0, "", "there are no rows below the header")
	}
	t := &Table{Name: p.in.name, rows: p.rows, lines: p.lines}
	for _, c := range p.made {
		if c != nil {
			t.Columns = append(t.Columns, c)
		}
	}
	return t, nil
}
