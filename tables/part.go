package tables

import (
	"bytes"
	"io"
)

// A part of a text file is a megabyte or so. The longest record may end in an unclosed quote.
const (
	partBytes   = 1 << 20
	longestPart = 64 << 20
)

// A cutter cuts a text file into parts of whole records.
type cutter struct {
	in    *Input
	r     io.Reader
	rest  []byte // what was read behind the last whole record
	line  int    // of the next part
	done  bool
	whole func(data []byte) int
}

// newCutter begins behind some bytes, which are n lines. whole returns the length of the records
// that end in data.
func newCutter(in *Input, skip, lines int, whole func(data []byte) int) (*cutter, error) {
	r, err := in.Reader()
	if err != nil {
		return nil, err
	}
	if _, err := io.CopyN(io.Discard, r, int64(skip)); err != nil {
		return nil, in.Error(err)
	}
	return &cutter{in: in, r: r, line: lines + 1, whole: whole}, nil
}

// next reads the next part into the memory of data and returns it with the number of its first
// line; io.EOF behind the last one. The text is checked: it is UTF-8.
func (c *cutter) next(data []byte) (_ []byte, line int, err error) {
	data = append(data[:0], c.rest...)
	for size := max(partBytes, 2*len(data)); ; size *= 2 {
		if cap(data) < size {
			data = append(make([]byte, 0, size), data...)
		}
		n, err := io.ReadFull(c.r, data[len(data):size])
		if data = data[:len(data)+n]; err == io.EOF || err == io.ErrUnexpectedEOF {
			c.done = true
		} else if err != nil {
			return nil, 0, c.in.Error(err)
		}
		end := c.whole(data)
		if c.done {
			end = len(data)
		}
		if end == 0 && !c.done && size < longestPart {
			continue
		}
		switch {
		case end == 0 && c.done:
			return nil, 0, io.EOF
		case end == 0:
			return nil, 0, c.in.Fail(c.line, "", "a record must have at most %d bytes; is a quote not closed?",
				longestPart)
		}
		c.rest = append(c.rest[:0], data[end:]...)
		line, data = c.line, data[:end]
		if place, reason := checkText(data); reason != "" {
			return nil, 0, c.in.Fail(line+bytes.Count(data[:place], []byte{'\n'}), "", "%s", reason)
		}
		c.line += bytes.Count(data, []byte{'\n'})
		return data, line, nil
	}
}

// readStart returns the first part of a file, which has at least one record, or where records may
// be spared a line.
func readStart(in *Input, spare bool) ([]byte, error) {
	whole := wholeRecords
	if spare {
		whole = wholeLines
	}
	c, err := newCutter(in, 0, 0, whole)
	if err != nil {
		return nil, err
	}
	data, _, err := c.next(nil)
	return data, err
}

// wholeLines returns the length of the lines that end in data.
func wholeLines(data []byte) int { return bytes.LastIndexByte(data, '\n') + 1 }

// wholeRecords returns the length of the records of data that end in it: up to the last line break
// that is not in quotes. Quotes are counted, since a valid file has an even number of them before
// each such break.
func wholeRecords(data []byte) int {
	end, open := 0, false
	for at := 0; ; {
		n := bytes.IndexByte(data[at:], '"')
		stretch := data[at:]
		if n >= 0 {
			stretch = data[at : at+n]
		}
		if !open {
			if i := bytes.LastIndexByte(stretch, '\n'); i >= 0 {
				end = at + i + 1
			}
		}
		if n < 0 {
			return end
		}
		at, open = at+n+1, !open
	}
}
