package cli

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"dsbo/internal/wording"
)

// Table writes rows in columns: the first column to the left, all others to the right, under the
// first row as head. Characters that move the cursor are made visible. Rows may be of different
// lengths.
func Table(w io.Writer, rows [][]string) error { return writeTable(w, rows, "%s", "  ") }

// Markdown writes rows as [Table] does, as a table of Markdown.
func Markdown(w io.Writer, rows [][]string) error { return writeTable(w, rows, "| %s |", " | ") }

// writeTable writes rows with a text between the cells of a line, which has a format, and a rule
// under the first row.
func writeTable(w io.Writer, rows [][]string, format, between string) error {
	var widths []int
	for _, r := range rows {
		for i, cell := range r {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(wording.Plain(cell)))
		}
	}
	var text strings.Builder
	for n, r := range rows {
		cells := make([]string, len(r))
		for i, cell := range r {
			width := widths[i]
			if i == 0 {
				width = -width // to the left
			}
			cells[i] = fmt.Sprintf("%*s", width, wording.Plain(cell))
		}
		fmt.Fprintln(&text, strings.TrimRight(fmt.Sprintf(format, strings.Join(cells, between)), " "))
		if n == 0 {
			rules := make([]string, len(widths))
			for i, width := range widths {
				rules[i] = strings.Repeat("-", width)
			}
			fmt.Fprintln(&text, strings.ReplaceAll(fmt.Sprintf(format, strings.Join(rules, between)), " ", "-"))
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}
