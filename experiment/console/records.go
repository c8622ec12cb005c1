package console

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"dsbo/runs"
)

// recordColumns are the numbers of a record that a line for people has.
var recordColumns = []struct {
	name, format string
	of           func(runs.Record) runs.Number
}{
	{"Φ", "%.5f", func(r runs.Record) runs.Number { return r.Phi }},
	{"‖∇Φ‖", "%.1e", func(r runs.Record) runs.Number { return r.GradNorm }},
	{"val loss", "%.4f", func(r runs.Record) runs.Number { return r.ValLoss }},
	{"held out", "%.4f", func(r runs.Record) runs.Number { return r.HoldoutLoss }},
	{"test loss", "%.4f", func(r runs.Record) runs.Number { return r.TestLoss }},
	{"accuracy", "%.4f", func(r runs.Record) runs.Number { return r.TestAccuracy }},
}

// RecordHead is the line with the names of the columns.
var RecordHead = recordRow("", func(k int) string { return recordColumns[k].name })

// RecordLine returns a record as a line for people, such as "iteration 4     0.34512 ...".
func RecordLine(r runs.Record) string {
	return recordRow(fmt.Sprintf("iteration %d", r.Iteration), func(k int) string {
		return Number(recordColumns[k].format, recordColumns[k].of(r))
	})
}

// recordRow lays out a line about a record: 69 columns in all, so that the name of an agent may
// stand before it.
func recordRow(first string, cell func(k int) string) string {
	line := first + strings.Repeat(" ", max(1, 14-len(first)))
	for k := range recordColumns {
		text := cell(k)
		line += strings.Repeat(" ", max(1, 9-utf8.RuneCountInString(text))) + text
	}
	return line
}
