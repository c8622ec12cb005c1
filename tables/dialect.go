package tables

import (
	"bytes"
	"strings"
)

// separators lists the candidates in order of preference. A comma comes late, as it may be a
// decimal sign, and a space last, as texts contain spaces.
const separators = "\t;|, "

// A dialect is the way that a text file writes a table.
type dialect struct {
	separator byte
	decimal   byte
}

// preamble returns the number of bytes of a file before its header: a byte order mark, Excel's line
// "sep=;", which names the separator, and comment lines that begin with #. The last of these is
// taken for the header if it has as many fields as the line that follows.
func preamble(data []byte) (length int, separator byte) {
	const mark = "\xef\xbb\xbf"
	at := len(data) - len(bytes.TrimPrefix(data, []byte(mark)))
	line, _, more := bytes.Cut(data[at:], []byte{'\n'})
	if sign, ok := bytes.CutPrefix(bytes.TrimRight(line, "\r"), []byte("sep=")); ok && more && len(sign) == 1 &&
		strings.IndexByte(separators, sign[0]) >= 0 {
		return at + len(line) + 1, sign[0]
	}
	end, last := at, at
	for end < len(data) && data[end] == '#' {
		n := bytes.IndexByte(data[end:], '\n')
		if n < 0 { // nothing but comments
			return at, 0
		}
		last, end = end, end+n+1
	}
	if end == at {
		return at, 0
	}
	next, _, _ := bytes.Cut(data[end:], []byte{'\n'})
	cut := func(line []byte) int {
		return len(bytes.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune("\t;|,", r) }))
	}
	if n := cut(next); n > 1 && cut(data[last:end]) == n {
		end = last // the header, as of many tables of genes
	}
	return end, 0
}

// field reads the field of a record that begins at data[at]. It returns its text without quotes and
// surrounding space, the start of the next field or record, and whether this was the last field of
// the record. If the field is malformed, reason tells how, else it is "". text aliases data, unless
// doubled quotes had to be removed.
func (d dialect) field(data []byte, at int) (text []byte, next int, last bool, reason string) {
	for at < len(data) && d.isSpace(data[at]) {
		at++
	}
	if at < len(data) && data[at] == '"' {
		return d.quoted(data, at+1)
	}
	end := at
	for end < len(data) && data[end] != d.separator && data[end] != '\n' {
		end++
	}
	text = data[at:end]
	if end == len(data) || data[end] == '\n' {
		text = bytes.TrimSuffix(text, []byte{'\r'})
	}
	for len(text) > 0 && d.isSpace(text[len(text)-1]) {
		text = text[:len(text)-1]
	}
	if i := bytes.IndexAny(text, "\"\r"); i >= 0 {
		if text[i] == '\r' {
			return nil, 0, false, "lines must end with LF or CR LF; there is a CR alone"
		}
		return nil, 0, false,
			"there is a quote within a value: such a value must be in quotes, with its own quotes doubled"
	}
	next, last, _ = d.fieldEnd(data, end)
	return bytes.TrimSpace(text), next, last, "" // isSpace does not know other space, as no-break space
}

// openQuote is what is wrong with a value that never ends.
const openQuote = "a quote is not closed: close it, or double it where it is part of the value"

// quoted reads a quoted field, from behind its opening quote, with the results of field. Two quotes
// are one that belongs to the text; such a text is copied piece by piece.
func (d dialect) quoted(data []byte, at int) (text []byte, next int, last bool, reason string) {
	copied := false
	for begin := at; ; { // begin: of the piece that is not copied yet
		n := bytes.IndexByte(data[at:], '"')
		if n < 0 {
			return nil, 0, false, openQuote
		}
		end := at + n
		if doubled := end+1 < len(data) && data[end+1] == '"'; doubled {
			text, copied = append(text, data[begin:end+1]...), true
			at, begin = end+2, end+2
			continue
		}
		if text = append(text, data[begin:end]...); !copied {
			text = data[begin:end]
		}
		next, last, ok := d.fieldEnd(data, end+1)
		if !ok {
			return nil, 0, false, "a closing quote must be followed by a separator or the end of the line"
		}
		return bytes.TrimSpace(text), next, last, ""
	}
}

// fieldEnd skips space, and the separator or line end (LF, CR LF, or the end of data) that ends a
// field. It returns the start of the next field or record, and whether the record ends; ok is false
// if neither follows. A tab is space unless it is the separator.
func (d dialect) fieldEnd(data []byte, at int) (next int, last, ok bool) {
	for at < len(data) && (data[at] == ' ' || data[at] == '\t' && d.separator != '\t') {
		at++
		if d.separator == ' ' {
			ok = true // a run of spaces is one separator
		}
	}
	switch {
	case at == len(data):
		return at, true, true
	case data[at] == '\n':
		return at + 1, true, true
	case data[at] == '\r' && (at+1 == len(data) || data[at+1] == '\n'):
		return min(at+2, len(data)), true, true
	case data[at] == d.separator:
		return at + 1, false, true
	}
	return at, false, ok
}

func (d dialect) isSpace(b byte) bool { return b == ' ' || b == '\t' && d.separator != '\t' }

// blank returns where the next line begins if the line at a place has nothing but space, else the
// place itself.
func (d dialect) blank(data []byte, at int) int {
	i := at
	for i < len(data) && d.isSpace(data[i]) {
		i++
	}
	if i < len(data) && data[i] == '\r' {
		i++
	}
	switch {
	case i == len(data):
		return i
	case data[i] == '\n':
		return i + 1
	}
	return at
}

// spareRecords returns the length of the complete records in data, like wholeRecords, but for files
// with malformed records. As their end is unknown, each counts as one line. A quote without an end
// may still be closed in the next part of the file, so data is cut before it; only if it is the
// first record does it count as a line too.
func (d dialect) spareRecords(data []byte) (end int) {
	for end < len(data) {
		at, last, reason := end, false, ""
		for !last && reason == "" {
			_, at, last, reason = d.field(data, at)
		}
		if reason != "" {
			at = end + bytes.IndexByte(data[end:], '\n') + 1
			if reason == openQuote && end > 0 {
				return end // to be read again, with more of the file
			}
		}
		if at == end || data[at-1] != '\n' {
			return end
		}
		end = at
	}
	return end
}

// record reads the fields of the record at a place, as texts of their own. It returns where the
// next one begins.
func (d dialect) record(data []byte, at int) (fields []string, next int, reason string) {
	for last := false; !last; {
		var text []byte
		if text, at, last, reason = d.field(data, at); reason != "" {
			return fields, at, reason
		}
		fields = append(fields, string(text))
	}
	return fields, at, ""
}
