package tables

import (
	"bytes"
	"slices"
	"strings"
)

// sampleRecords is how many records of a file show what dialect it is written in and of what kinds
// its columns are.
const sampleRecords = 1000

// A sample is the first records of a file.
type sample struct {
	dialect
	records [][]string
	lines   []int // where each begins, from 1
	begin   int   // bytes before the first record: a byte order mark and blank lines
	length  int   // bytes of the first record
}

// readSample splits the beginning of a file, whole records, by a separator.
func readSample(data []byte, d dialect, most int) (s sample, line int, reason string) {
	s.dialect = d
	at := len(data) - len(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))) // a byte order mark
	line = 1
	for at < len(data) && len(s.records) < most {
		if next := d.blank(data, at); next > at {
			line += bytes.Count(data[at:next], []byte{'\n'})
			at = next
			continue
		}
		fields, next, why := d.record(data, at)
		if why != "" {
			return s, line + bytes.Count(data[at:max(at, next)], []byte{'\n'}), why
		}
		if len(s.records) == 0 {
			s.begin, s.length = at, next-at
		}
		s.records, s.lines = append(s.records, fields), append(s.lines, line)
		line += bytes.Count(data[at:next], []byte{'\n'})
		at = next
	}
	return s, line, ""
}

// findSeparator returns the separator that cuts the records at the beginning of a file into the
// same number of columns, at least two; where none does, the one that does so for most records, and
// a comma if that is less than half of them: one column. All are judged by as many records as the
// most that any reads: another separator may fail at the first quote.
func findSeparator(data []byte) byte {
	const records = 100
	var samples []sample
	read := 1
	for _, separator := range []byte(separators) {
		s, _, _ := readSample(data, dialect{separator: separator}, records)
		samples, read = append(samples, s), max(read, len(s.records))
	}
	best, most := byte(','), 0.5
	for _, s := range samples {
		counts, separator := map[int]int{}, s.separator
		for _, r := range s.records {
			counts[len(r)]++
		}
		for columns, n := range counts {
			share := float64(n) / float64(read)
			if columns < 2 || separator == ' ' && share < 0.9 { // texts of two words
				continue
			}
			if share > most {
				best, most = separator, share
			}
		}
	}
	return best
}

// findDecimal returns the decimal sign: a comma if values in the sample are numbers with one and
// none are numbers with a point.
func (s sample) findDecimal() byte {
	if s.separator == ',' {
		return '.'
	}
	commas := 0
	for _, r := range s.records {
		for _, value := range r {
			comma := strings.IndexByte(value, ',') >= 0
			if !comma && strings.IndexByte(value, '.') < 0 {
				continue
			}
			switch point, comma := isNumber([]byte(value), '.'), isNumber([]byte(value), ','); {
			case point && !comma:
				return '.'
			case comma && !point: // as 1.234,5 €, where 1.234 € shows nothing
				commas++
			}
		}
	}
	if commas > 0 {
		return ','
	}
	return '.'
}

// isNumber reports whether a value is a number with a decimal sign: of plain digits, or with a mark
// such as %, and then in groups too.
func isNumber(value []byte, decimal byte) bool {
	if _, f := numberOf(value, decimal); f != textForm {
		return true
	}
	return slices.ContainsFunc(markedNumbers, func(r *reading) bool { return r.fits(value, decimal) })
}

// hasHeader reports whether no value of the first record is a number.
func (s sample) hasHeader() bool {
	for _, value := range s.records[0] {
		if _, f := numberOf([]byte(value), s.decimal); f == numberForm {
			return false
		}
	}
	return true
}

// reading guesses how a column is read by the sample's records from one on: every value that is not
// missing can be.
func (s sample) reading(column, from int, missing map[string]bool, left []*reading) *reading {
	left = slices.Clone(left)
	for _, r := range s.records[from:] {
		if column < len(r) && !missing[r[column]] {
			left = slices.DeleteFunc(left, func(k *reading) bool { return !k.fits([]byte(r[column]), s.decimal) })
		}
	}
	return append(left, words)[0]
}
