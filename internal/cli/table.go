package cli

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Table writes rows in columns: the first column to the left, the others to the right, under the first row as
// head. Rows may be of different lengths.
func Table(w io.Writer, rows [][]string) error {
	return writeTable(w, rows, "", "  ", "", func(widths []int) string {
		total := 2 * (len(widths) - 1)
		for _, n := range widths {
			total += n
		}
		return strings.Repeat("-", total)
	})
}

// Markdown writes rows as [Table] does, as a table of Markdown.
func Markdown(w io.Writer, rows [][]string) error {
	return writeTable(w, rows, "| ", " | ", " |", func(widths []int) string {
		rule := "|"
		for _, n := range widths {
			rule += strings.Repeat("-", n+2) + "|"
		}
		return rule
	})
}

// writeTable writes rows with a text before, between and after the cells of a line, and a rule under the first row.
func writeTable(w io.Writer, rows [][]string, before, between, after string, rule func(widths []int) string) error {
	var widths []int
	for _, r := range rows {
		for i, cell := range r {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for n, r := range rows {
		cells := make([]string, len(r))
		for i, cell := range r {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if cells[i] = pad + cell; i == 0 {
				cells[i] = cell + pad
			}
		}
		line := strings.TrimRight(before+strings.Join(cells, between)+after, " ")
		if n == 0 {
			line += "\n" + rule(widths)
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}
