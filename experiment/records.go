package experiment

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"dsbo/runs"
)

// recordColumns are the columns of a printed record: losses are of the agents' average model ȳ at
// that record, not of the models of the table.
var recordColumns = []struct {
	name, format string
	of           string // in JSON
}{
	{"Φ", "%.5f", "phi"},
	{"‖∇Φ‖", "%.1e", "grad_norm"},
	{"val(ȳ)", "%.4f", "val_loss"},
	{"held(ȳ)", "%.4f", "holdout_loss"},
	{"test(ȳ)", "%.4f", "test_loss"},
	{"acc(ȳ)", "%.4f", "test_accuracy"},
}

// recordHead is the line with the names of the columns.
var recordHead = recordRow("", func(k int) string { return recordColumns[k].name })

// recordLine returns a record as a line for people, such as "iteration 4     0.34512 ...".
func recordLine(r runs.Record) string {
	return recordRow(fmt.Sprintf("iteration %d", r.Iteration), func(k int) string {
		return formatNumber(recordColumns[k].format, runs.NumberOf(r, recordColumns[k].of))
	})
}

// recordRow lays out a line for a record: 69 columns in all, so that the name of an agent fits
// before it.
func recordRow(first string, cell func(k int) string) string {
	line := first + strings.Repeat(" ", max(1, 14-len(first)))
	for k := range recordColumns {
		text := cell(k)
		line += strings.Repeat(" ", max(1, 9-utf8.RuneCountInString(text))) + text
	}
	return line
}
