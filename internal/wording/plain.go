// Plain makes foreign texts harmless on a terminal: none of their characters moves the cursor, ends
// a line or turns the direction of neighbouring text.

package wording

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Printable reports whether [Plain] leaves a text as it is.
func Printable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !strconv.IsPrint(r) })
}

// Plain returns s with each character that is not printable, such as control and bidirectional
// ones, and each byte that is no character, as Go writes it in a string: \n, \x1b, \u202e.
// Printable texts stay as they are.
func Plain(s string) string {
	if Printable(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		_, size := utf8.DecodeRuneInString(s)
		part := s[:size]
		if !Printable(part) {
			part = strings.Trim(strconv.Quote(part), `"`)
		}
		b.WriteString(part)
		s = s[size:]
	}
	return b.String()
}
