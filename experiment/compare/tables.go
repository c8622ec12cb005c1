package compare

import (
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"dsbo/internal/wording"
	"dsbo/runs"
)

const unknown = "–"

// fiveDigits writes a number with five digits, a dash if it is not known.
func fiveDigits(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return unknown
	}
	return fmt.Sprintf("%.5g", v)
}

// lossDigits writes a test loss with the digits that it has: models are solved until Φ is right to
// some 1e-4, and test losses are off by up to 5e-4 of their own.
func lossDigits(v float64) string {
	if text := fiveDigits(v); text == unknown {
		return text
	}
	return fmt.Sprintf("%.3g", v)
}

// threeDigits writes what was spent with three digits.
func threeDigits(v float64) string {
	switch {
	case math.IsNaN(v):
		return unknown
	case v >= 1000:
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// Table returns a header and a row for each method, the best first: medians over the seeds, what
// the whole run has spent, what it had spent at the target, and the best point of the grid. The
// columns of costs are in the order of costs, twice.
func (k *ranking) Table() [][]string {
	rows := [][]string{{"method", k.Spec.Choose.Title(), "test loss", "test accuracy", "MB", "calls", "s",
		"to " + fiveDigits(k.Target) + ": MB", "calls", "s", "best of its grid", ""}}
	for _, e := range sortedBy(k.all(), k.median) {
		row := []string{e.Method.Name, fiveDigits(k.median(e)), lossDigits(medianOf(e.Best, (*trial).testLoss)),
			fiveDigits(medianOf(e.Best, (*trial).testAccuracy))}
		for _, c := range costs {
			row = append(row, threeDigits(medianOf(e.Best, func(t *trial) float64 { return t.spent(c) })))
		}
		for _, c := range costs {
			row = append(row, threeDigits(k.costReached(e, c)))
		}
		point := ""
		if e.began() && !math.IsNaN(k.median(e)) {
			point = e.Method.Grid.String(e.search.best)
		}
		rows = append(rows, append(row, point, e.note()))
	}
	return rows
}

// note returns, for the last column of the table, how runs ended that did not finish, or what is
// unknown of finished ones; and a warning if the best point is at the edge of its grid.
func (e *entry) note() string {
	var words []string
	ends := map[runs.State]int{}
	for _, t := range e.Best {
		ends[t.State]++
	}
	delete(ends, runs.Finished)
	for _, state := range slices.Sorted(maps.Keys(ends)) {
		words = append(words, string(state))
		if n := ends[state]; n < len(e.Best) {
			words[len(words)-1] += fmt.Sprintf(" with %d of %d seeds", n, len(e.Best))
		}
	}
	if words == nil {
		words = append(words, e.Best[0].Summary.Unknown...)
	}
	if e.Edges != nil {
		words = append(words, "at the edge: "+strings.Join(e.Edges, ", "))
	}
	return strings.Join(words, "; ")
}

// csvHeader has the columns of the table of runs.
const csvHeader = "task,method,parameters,best,at_edge,seed,state,phi,val_loss,holdout_loss,test_loss,test_accuracy," +
	"megabytes,calls_per_agent,seconds,target,target_megabytes,target_calls_per_agent,target_seconds,folder,error"

// writeCSV writes a line for each run, with what it found and spent; what is untuned is in lines of
// its own. Numbers that are not known are empty.
func (r *Result) writeCSV(w io.Writer) error {
	lines := [][]string{strings.Split(csvHeader, ",")}
	for _, k := range r.Rankings {
		for _, e := range k.all() {
			for _, t := range e.Trials() {
				lines = append(lines, k.line(e, t, t.Point == e.Method.Grid.String(e.search.best)))
			}
		}
	}
	return csv.NewWriter(w).WriteAll(lines)
}

// line returns a run's line of the CSV table, in the order of csvHeader. Only lines of the best
// point list its edges. Unknown numbers are empty.
func (k *ranking) line(e *entry, t *trial, best bool) []string {
	edges := ""
	if best {
		edges = strings.Join(e.Edges, " ")
	}
	target := k.targets[t.Seed]
	numbers := []float64{t.found(phi), t.found(valLoss), t.found(holdoutLoss), t.testLoss(), t.testAccuracy()}
	reached := []float64{target}
	for _, c := range costs {
		numbers, reached = append(numbers, t.spent(c)), append(reached, t.costUntil(target, k.Spec.Choose, c))
	}
	cells := []string{t.Task, t.Method, t.Point, fmt.Sprint(best), edges, fmt.Sprint(t.Seed), string(t.State)}
	for _, v := range append(numbers, reached...) {
		text := fmt.Sprint(v)
		if !runs.Number(v).Known() {
			text = ""
		}
		cells = append(cells, text)
	}
	return each(append(cells, string(t.Folder), t.Error), wording.Cell)
}
