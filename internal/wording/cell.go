// Cell, Visible and JSON make foreign texts safe in files that people open in a spreadsheet, a
// browser or a terminal.

package wording

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// isControl reports whether a character affects the display of its neighbours: controls, line
// separators and marks that turn the direction.
func isControl(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
}

// formulaSigns begin a cell that a spreadsheet computes.
const formulaSigns = "=+-@\t\r"

// Cell returns a text as the cell of a CSV file. A text that a spreadsheet would compute gets a
// leading ', as OWASP recommends; a text with controls becomes a quoted Go string. Numbers such as
// -1.5, and all other texts, are unchanged. [OfCell] is its inverse.
func Cell(s string) string {
	switch sign, rest := quotes(s); {
	case strings.HasPrefix(s, `"`) || strings.ContainsFunc(s, isControl) || !utf8.ValidString(s):
		return strconv.Quote(s)
	case isFormula(rest) && (sign > 0 || !isNumber(rest)):
		return "'" + s
	}
	return s
}

// OfCell returns the text of which [Cell] has made a cell.
func OfCell(cell string) string {
	if s, err := strconv.Unquote(cell); err == nil && cell[0] == '"' {
		return s
	}
	if n, rest := quotes(cell); n > 0 && isFormula(rest) {
		return cell[1:]
	}
	return cell
}

// quotes returns the number of leading ' of a text, and the rest.
func quotes(s string) (n int, rest string) {
	rest = strings.TrimLeft(s, "'")
	return len(s) - len(rest), rest
}

func isFormula(s string) bool { return s != "" && strings.Contains(formulaSigns, s[:1]) }

func isNumber(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil && strings.Trim(s, "+-.0123456789eE") == ""
}

// Visible returns a page with each control, except tabs and ends of lines, replaced by its code,
// such as ⟨U+202E⟩, which displays alike in text, attributes and scripts.
func Visible(page []byte) []byte { return replaceControls(page, "⟨U+%04X⟩") }

// JSON returns a JSON text of the same meaning, with such controls as escapes.
func JSON(text []byte) []byte { return replaceControls(text, `\u%04x`) }

// replaceControls replaces each control character, except tabs and ends of lines, by its number in
// a format.
func replaceControls(text []byte, format string) []byte {
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		if isControl(r) && !strings.ContainsRune("\n\r\t", r) {
			out = fmt.Appendf(out, format, r)
		} else {
			out = append(out, text[:n]...)
		}
		text = text[n:]
	}
	return out
}
