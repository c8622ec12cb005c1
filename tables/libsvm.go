package tables

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
)

// svmFormat is the text of LIBSVM and svmlight: a label, then pairs of an index from 1 on and a
// number, for those that are not 0. The table has the column "label", and the numbers are
// in Sparse.
type svmFormat struct{}

// svmLabel is the name of the labels' column, which files do not give.
const svmLabel = "label"

// mostSparse is the largest index. It keeps vectors with a number for each column below 1 GiB.
const mostSparse = 1 << 27

// Match reports whether the first lines, at most 100, are a number followed by index:value pairs,
// with at least one pair. A line that may be cut off at the end of start is not checked.
func (svmFormat) Match(start []byte) bool {
	const most = 100
	pairs, lines := 0, bytes.SplitAfterN(start, []byte{'\n'}, most+1)
	if len(start) == startBytes || len(lines) > most {
		lines = lines[:len(lines)-1] // which may be a part of a line
	}
	for _, line := range lines {
		fields := bytes.Fields(withoutComment(line))
		for i, field := range fields {
			index, value, paired := bytes.Cut(field, []byte{':'})
			if !paired { // a label; the index passes the check below
				index, value = []byte("1"), field
			}
			_, form := numberOf(value, '.')
			if form == textForm || paired != (i > 0) || string(index) != "qid" && !digits.Match(index) {
				return false
			}
		}
		pairs += max(0, len(fields)-1)
	}
	return pairs > 0
}

// withoutComment returns a line without what follows #.
func withoutComment(line []byte) []byte {
	line, _, _ = bytes.Cut(line, []byte{'#'})
	return line
}

var digits = regexp.MustCompile(`^[0-9]+$`)

// Read reads a sparse table. The file is read twice: first to count lines and pairs, so that memory
// is allocated once, of the right size.
func (svmFormat) Read(in *Input, o Options) (*Table, error) {
	for _, name := range slices.Concat(o.Keep, o.Drop) {
		if name != svmLabel {
			return nil, in.Fail(0, "",
				"there is no column %q: a LIBSVM file has the column %s alone, and features without names", name,
				svmLabel)
		}
	}
	lines, pairs, err := svmCount(in)
	if err != nil {
		return nil, err
	}
	r := svmReader{in: in, bad: newBadRows(o.Spare),
		labels: newMaker(svmLabel, cmp.Or(o.Kinds[svmLabel], Number), "", o, nil)}
	r.Starts, r.Indices, r.Values = append(make([]int, 0, lines+1), 0), make([]int32, 0, pairs),
		make([]float32, 0, pairs)
	if err := r.read(); err != nil {
		return nil, err
	}
	t := &Table{Name: in.Name(), Sparse: r.Sparse, rows: len(r.Starts) - 1, lines: r.lines, Bad: r.bad}
	if t.rows == 0 {
		return nil, in.Fail(0, "", "there are no rows")
	}
	if !slices.Contains(o.Drop, svmLabel) {
		t.Columns = []*Column{r.labels.column}
	}
	return t, nil
}

// svmCount returns upper bounds of the numbers of lines and of pairs in a file: line breaks and
// colons, of which some are in comments.
func svmCount(in *Input) (lines, pairs int, err error) {
	r, err := in.Reader()
	if err != nil {
		return 0, 0, err
	}
	for buf := make([]byte, 1<<18); ; {
		n, err := r.Read(buf)
		lines += bytes.Count(buf[:n], []byte{'\n'})
		pairs += bytes.Count(buf[:n], []byte{':'})
		if err == io.EOF {
			return lines + 1, pairs, nil
		}
		if err != nil {
			return 0, 0, in.Error(err)
		}
	}
}

// An svmReader reads lines.
type svmReader struct {
	in     *Input
	labels *maker
	lines  lines
	bad    badRows
	Sparse
}

// read parses the file in parts of whole lines. With r.bad set, a malformed line becomes a bad row
// with the numbers before the error; else it is an error of the file.
func (r *svmReader) read() error {
	cut, err := newCutter(r.in, 0, 0, wholeLines)
	if err != nil {
		return err
	}
	var data []byte
	for {
		var number int
		if data, number, err = cut.next(data); err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		for line := range bytes.Lines(data) {
			rows := len(r.Starts) - 1
			if reason := r.line(withoutComment(line)); reason != "" && r.bad == nil {
				return r.in.Fail(number, "", "%s", reason)
			} else if reason != "" {
				r.bad[rows] = reason
				r.endRow(rows)
			}
			if len(r.Starts)-1 > rows {
				r.lines.add(rows, number)
			}
			number++
		}
	}
}

// line appends the row on a line; a blank line has none. It returns what is wrong with the line, or
// "". Numbers that are 0 are not stored.
func (r *svmReader) line(line []byte) (reason string) {
	last := -1 // the last index; -1 before the label, 0 after it
	for field := range bytes.FieldsSeq(line) {
		if last < 0 {
			if reason = r.labels.word(field); reason != "" {
				return "label: " + reason
			}
			last = 0
			continue
		}
		index, value, reason := svmPair(field)
		switch { // the numbers before an error stay, of a bad row
		case reason != "":
			return reason
		case index <= last:
			return fmt.Sprintf("indices must ascend; %d follows %d", index, last)
		case value != 0:
			r.Indices, r.Values = append(r.Indices, int32(index-1)), append(r.Values, value)
		}
		last = index
	}
	if last >= 0 {
		r.Starts, r.Cols = append(r.Starts, len(r.Values)), max(r.Cols, last)
	}
	return ""
}

// endRow ends a row that cannot be read, behind what was read of it.
func (r *svmReader) endRow(rows int) {
	if r.labels.rows == rows {
		r.labels.number(notANumber)
	}
	r.Starts = append(r.Starts, len(r.Values))
}

// svmPair reads an index and its value.
func svmPair(pair []byte) (index int, value float32, reason string) {
	name, text, paired := bytes.Cut(pair, []byte{':'})
	number, err := strconv.ParseUint(string(name), 10, 64)
	v, form := numberOf(text, '.')
	switch {
	case !paired:
		reason = fmt.Sprintf("index:value must follow the label; there is %.40q", pair)
	case string(name) == "qid":
		reason = "qid, a query's number for ranking, cannot be learned from; leave it out"
	case err != nil || number == 0 || number > mostSparse:
		reason = fmt.Sprintf("an index must be a whole number from 1 to %d; it is %.40q", mostSparse, name)
	case form != numberForm:
		reason = fmt.Sprintf("the value of index %d must be a finite number, at most 3.4e38; it is %.40q", number, text)
	}
	return int(number), float32(v), reason
}
