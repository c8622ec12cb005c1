package tables

import (
	"bytes"
	"cmp"
	"regexp"
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
	begin   int   // bytes before the first record
	length  int   // bytes of the first record
}

// readSample splits data from data[at] on into at most `most` records, by a separator. At a
// malformed record it stops, with its line and the reason; the records before it are in the sample.
func readSample(data []byte, at int, separator byte, most int) (s sample, line int, reason string) {
	s.separator = separator
	line = 1 + bytes.Count(data[:at], []byte{'\n'})
	for at < len(data) && len(s.records) < most {
		if next := s.blank(data, at); next > at {
			line += bytes.Count(data[at:next], []byte{'\n'})
			at = next
			continue
		}
		fields, next, why := s.record(data, at)
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

// findSeparator returns the separator by which the largest share of the first records have the same
// number of fields, at least two; the first of equal ones. If no share exceeds one half, it returns
// a comma: the file has one column. Shares are of the most records that any separator can read,
// since a wrong separator may fail at the first quote. A space needs a share of 0.9, as texts of
// two words look like two columns.
func findSeparator(data []byte, at int) byte {
	const records = 100
	var samples []sample
	read := 1
	for _, separator := range []byte(separators) {
		s, _, _ := readSample(data, at, separator, records)
		samples, read = append(samples, s), max(read, len(s.records))
	}
	best, most := byte(','), 0.5
	for _, s := range samples {
		counts := map[int]int{}
		for _, r := range s.records {
			counts[len(r)]++
		}
		for columns, n := range counts {
			share := float64(n) / float64(read)
			if columns < 2 || s.separator == ' ' && share < 0.9 {
				continue
			}
			if share > most {
				best, most = s.separator, share
			}
		}
	}
	return best
}

// findDecimal returns the decimal sign of the values in the sample. It is a comma if some are
// numbers only with a decimal comma, and none is one only with a point; a comma as separator
// excludes it. A value such as 1,234 may also be read with the other sign, as digits in groups; if
// no other value decides, doubt is the first such value.
func (s sample) findDecimal() (sign byte, doubt string) {
	sign = '.'
	if s.separator == ',' {
		return sign, ""
	}
	decided := false
	for _, value := range slices.Concat(s.records...) {
		if !strings.ContainsAny(value, ".,") {
			continue
		}
		point, comma := isNumber(value, '.'), isNumber(value, ',')
		if point == comma { // no number, or one with either sign, as 1.234 €
			continue
		}
		if comma {
			sign = ','
		}
		grouped := plainNumber.fits(value, map[bool]byte{true: '.', false: ','}[comma])
		switch {
		case grouped:
			doubt = cmp.Or(doubt, value)
		case point:
			return '.', ""
		default:
			decided = true
		}
	}
	if decided {
		doubt = ""
	}
	return sign, doubt
}

// isNumber reports whether a value is a number with a decimal sign: of plain digits, or with a mark
// such as %, and then in groups too.
func isNumber(value string, decimal byte) bool {
	if _, f := numberOf([]byte(value), decimal); f != textForm {
		return true
	}
	return slices.ContainsFunc(numbers[1:], func(r *reading) bool { return r.fits(value, decimal) })
}

// hasHeader reports whether no value of the first record is a number.
func (s sample) hasHeader() bool {
	return !slices.ContainsFunc(s.records[0], func(value string) bool {
		_, f := numberOf([]byte(value), s.decimal)
		return f == numberForm
	})
}

// readingOf guesses how a column is read by its first values: each of them can be.
func readingOf(values []string, can []*reading, decimal byte) *reading {
	for _, r := range can {
		if !slices.ContainsFunc(values, func(value string) bool { return !r.fits(value, decimal) }) {
			return r
		}
	}
	return words
}

// Codes have leading zeros, or an exponent without a sign, which few programs write; dates of eight
// digits are of the years 1900 to 2099.
var (
	codeText = regexp.MustCompile(`^(0[0-9]|[0-9]+[eE][0-9]+$)`)
	dateText = regexp.MustCompile(`^(19|20)[0-9]{2}(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01])$`)
)

// codeAmong returns the first of some numbers that looks like a code, as 007 or 1E5 do. If all look
// like dates of the form YYYYMMDD it returns the first one, else "".
func codeAmong(values []string) string {
	dates := true
	for _, value := range values {
		if codeText.MatchString(value) {
			return value
		}
		dates = dates && dateText.MatchString(value)
	}
	if !dates || len(values) == 0 {
		return ""
	}
	return values[0]
}
