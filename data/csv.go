package data

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// ReadCSV reads examples from comma-separated numbers, one example a line. target names the column of the targets,
// which then is not a feature; "" is the last column. A first line without any number is a header, and a named target
// needs one. Targets are numbers; [OneHot] makes classes of them.
//
// Errors are a [*FileError] with line and column: lines of unequal length, a field that is not a
// finite number, fewer than two columns, no examples. Memory is about twice that of the numbers.
func ReadCSV(r io.Reader, target string) (Examples, error) {
	buffered := bufio.NewReader(r)
	if mark, _ := buffered.Peek(3); string(mark) == "\xef\xbb\xbf" { // spreadsheets write it
		buffered.Discard(3)
	}
	c := csvReader{name: nameOf(r), csv: csv.NewReader(buffered)}
	c.csv.TrimLeadingSpace = true
	c.csv.ReuseRecord = true
	record, err := c.next()
	if err == nil && isHeader(record) {
		c.header = slices.Clone(record)
		record, err = c.next()
	}
	if err == io.EOF {
		return Examples{}, c.fail(0, "no examples")
	}
	if err != nil {
		return Examples{}, err
	}
	if err := c.chooseTarget(target, len(record)); err != nil {
		return Examples{}, err
	}
	var x, t []float64
	for ; err == nil; record, err = c.next() {
		if x, t, err = c.numbers(record, x, t); err != nil {
			return Examples{}, err
		}
	}
	if err != io.EOF {
		return Examples{}, err
	}
	return floatExamples(x, t)
}

// A csvReader reads lines, and knows what their columns are.
type csvReader struct {
	name   string
	csv    *csv.Reader
	header []string
	target int // column
}

func (c *csvReader) fail(line int, format string, args ...any) error {
	return fileError(c.name, line, format, args...)
}

// next returns the fields of the next line; io.EOF at the end, else a *FileError.
func (c *csvReader) next() ([]string, error) {
	record, err := c.csv.Read()
	var bad *csv.ParseError
	switch {
	case err == nil || err == io.EOF:
		return record, err
	case errors.Is(err, csv.ErrFieldCount):
		line, _ := c.csv.FieldPos(0)
		return nil, c.fail(line, "a line must have %d columns, as those before it; it has %d", c.csv.FieldsPerRecord, len(record))
	case errors.As(err, &bad):
		return nil, c.fail(bad.Line, "byte %d: %v", bad.Column, bad.Err)
	}
	return nil, c.fail(0, "%v", err)
}

func isHeader(record []string) bool {
	for _, field := range record {
		if _, err := strconv.ParseFloat(strings.TrimSpace(field), 64); err == nil || errors.Is(err, strconv.ErrRange) {
			return false
		}
	}
	return true
}

// chooseTarget sets the target's column, after the header, if any, and the first example.
func (c *csvReader) chooseTarget(target string, columns int) error {
	if columns < 2 {
		line, _ := c.csv.FieldPos(0)
		return c.fail(line, "a line must have at least one feature and the target, separated by commas; it has 1 column")
	}
	c.target = columns - 1
	if target == "" {
		return nil
	}
	if c.header == nil {
		return c.fail(0, "a named target needs a header line; there is none for %q", target)
	}
	named := func(name string) bool { return strings.TrimSpace(name) == target }
	c.target = slices.IndexFunc(c.header, named)
	if c.target < 0 || slices.ContainsFunc(c.header[c.target+1:], named) {
		return c.fail(1, "exactly one column must be named %q; the columns are %q", target, c.header)
	}
	return nil
}

// numbers appends the features of a line to x and its target to t.
func (c *csvReader) numbers(record []string, x, t []float64) (_, _ []float64, err error) {
	for j, field := range record {
		v, err := strconv.ParseFloat(strings.TrimSpace(field), 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			line, _ := c.csv.FieldPos(j)
			name := strconv.Itoa(j + 1)
			if c.header != nil {
				name += fmt.Sprintf(" (%s)", strings.TrimSpace(c.header[j]))
			}
			return x, t, c.fail(line, "column %s: %.40q is not a finite number", name, field)
		}
		if j == c.target {
			t = append(t, v)
		} else {
			x = append(x, v)
		}
	}
	return x, t, nil
}
