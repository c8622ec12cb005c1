package tables

import (
	"bytes"
	"io"
)

// A part of a text file has about partBytes. A record longer than longestPart is an error: more
// likely a quote is not closed.
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

// next reads the next part, reusing the memory of data, and returns it with the number of its first
// line; io.EOF after the last part. A part is a number of whole records: it is enlarged until it
// has at least one, and what follows its last whole record is kept for the next part. Text that is
// not UTF-8 is an error.
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
		if c.done { // the last record may lack a line break
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

// readStart returns the first part of a file, with at least one whole record. With spare it has
// whole lines instead: a record with an unclosed quote would have no end.
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

// wholeRecords returns the length of the whole records in data: up to the last line break outside
// of quotes. Such a line break has an even number of quotes before it, as each quoted value has
// two, and a quote within a value is doubled.
func wholeRecords(data []byte) int {
	end, open := 0, false
	for at := 0; ; {
		n := bytes.IndexByte(data[at:], '"')
		between := data[at:] // this quote and the next
		if n >= 0 {
			between = data[at : at+n]
		}
		if !open {
			if i := bytes.LastIndexByte(between, '\n'); i >= 0 {
				end = at + i + 1
			}
		}
		if n < 0 {
			return end
		}
		at, open = at+n+1, !open
	}
}
