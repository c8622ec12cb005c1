package tables

import (
	"bytes"
	"strings"
)

// separators are tried in this order: a comma may be the decimal sign, and spaces are in texts.
const separators = "\t;|, "

// A dialect is the way that a text file writes a table.
type dialect struct {
	separator byte
	decimal   byte
}

// preamble returns how many bytes of a file come before its header: a byte order mark, a line
// "sep=;" of Excel, which names the separator, and lines that begin with # and are not the header,
// as they have other numbers of words than the first line without.
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
		if n < 0 {
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

// field reads the field at a place of a record. It returns its text without quotes and surrounding
// space, the start of the next field or record, and whether this was the record's last field. A
// reason other than "" is the field's fault. If quotes are doubled, text is a copy; else it is a
// part of data.
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
	return bytes.TrimSpace(text), next, last, "" // of other space, such as no-break space
}

// openQuote is what is wrong with a value that never ends.
const openQuote = "a quote is not closed: close it, or double it where it is part of the value"

// quoted reads the rest of a field from behind its first quote.
func (d dialect) quoted(data []byte, at int) (text []byte, next int, last bool, reason string) {
	copied := false
	for begin := at; ; {
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

// fieldEnd reads the end of a field: a separator, or the end of the record. It returns the start of
// the next field or record, and whether the record ends; ok is false for anything else.
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

// spareRecords is wholeRecords of text some of whose records cannot be read, each of which is a
// line: so is one whose quote is not closed in a part of the file.
func (d dialect) spareRecords(data []byte) (end int) {
	for end < len(data) {
		at, last, reason := end, false, ""
		for !last && reason == "" {
			_, at, last, reason = d.field(data, at)
		}
		if reason != "" {
			at = end + bytes.IndexByte(data[end:], '\n') + 1
			if reason == openQuote && end > 0 {
				return end // with more of the file behind it
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
