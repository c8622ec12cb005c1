package compare

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strings"
	"text/template"

	"dsbo/internal/wording"
	"dsbo/runs"
)

// A row is an entry's cells, without marks of a format.
type row struct {
	Method, Point         string   // method, and point of its grid
	Value, Loss, Accuracy string   // at the end, medians over seeds
	Means                 []string // of the same three, with standard deviations
	P                     string   // of a paired test against the best method
	Best                  bool     // whether the row has the least value of all
	Spent, Reached        []string // costs, in the order of the columns
	Edges                 string   // where the best point lies at the edge of its grid
	Note                  string   // why there are no numbers
}

const unknown = "–"

// fiveDigits writes a number with five digits, a dash if it is not known.
func fiveDigits(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return unknown
	}
	return fmt.Sprintf("%.5g", v)
}

// rows returns entries in their order, the best first.
func (k *Ranking) rows(sorted []*Entry) (all []row) {
	first := numbersOf(sorted[0].Best, k.end)
	for i, e := range sorted {
		r := row{Method: e.Method.Name, Point: e.Method.Grid.String(e.search.Best), Edges: strings.Join(e.Edges, ", ")}
		if state := e.State(); state != runs.Finished {
			r.Note = string(state)
		} else {
			r.Note = strings.Join(e.Best[0].Summary.Unknown, "; ")
		}
		if !e.Began() {
			r.Point = ""
		}
		r.Value = fiveDigits(k.median(e))
		r.Loss = fiveDigits(medianOf(e.Best, (*Trial).testLoss))
		r.Accuracy = fiveDigits(medianOf(e.Best, (*Trial).testAccuracy))
		for _, of := range []func(*Trial) float64{k.end, (*Trial).testLoss, (*Trial).testAccuracy} {
			r.Means = append(r.Means, meanText(numbersOf(e.Best, of)))
		}
		r.Best, r.P = i == 0 && r.Value != unknown, pText(paired(numbersOf(e.Best, k.end), first).p)
		for _, c := range tableCosts {
			r.Spent = append(r.Spent, threeDigits(medianOf(e.Best, func(t *Trial) float64 { return t.spent(c) })))
			r.Reached = append(r.Reached, threeDigits(k.costReached(e, c)))
		}
		all = append(all, r)
	}
	return all
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

// Header returns the names of the columns of Cells.
func (k *Ranking) Header() []string {
	at := fiveDigits(k.Target)
	return []string{"method", k.spec.Choose.title(), "test loss", "test accuracy", "MB", "calls", "s",
		"to " + at + ": MB", "calls", "s", "best of its grid", ""}
}

// Cells returns a row for each method, the best first.
func (k *Ranking) Cells() (all [][]string) {
	for _, r := range k.rows(sortedBy(k.all(), k.median)) {
		note := r.Note
		if r.Edges != "" {
			note = strings.TrimPrefix(note+", at the edge: "+r.Edges, ", ")
		}
		cells := append([]string{r.Method, r.Value, r.Loss, r.Accuracy}, append(r.Spent, r.Reached...)...)
		all = append(all, append(cells, r.Point, note))
	}
	return all
}

// WriteCSV writes a line for each run, with what it found and spent. Numbers that are not known
// are empty.
func (r *Result) WriteCSV(w io.Writer) error {
	lines := [][]string{{"task", "method", "parameters", "best", "at_edge", "seed", "state", "phi", "val_loss",
		"holdout_loss", "test_loss", "test_accuracy",
		"megabytes", "calls_per_agent", "seconds", "target", "target_megabytes", "target_calls_per_agent",
		"target_seconds", "folder", "error"}}
	for _, k := range r.Rankings {
		for _, e := range k.Entries {
			best := e.Method.Grid.String(e.search.Best)
			for _, t := range e.Trials() {
				lines = append(lines, k.line(e, t, t.Point == best))
			}
		}
	}
	return csv.NewWriter(w).WriteAll(lines)
}

// numberCell writes a number for a CSV table, nothing if it is not known.
func numberCell(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return ""
	}
	return fmt.Sprint(v)
}

// line returns a run's line of the CSV table.
func (k *Ranking) line(e *Entry, t *Trial, best bool) []string {
	edges := ""
	if best {
		edges = strings.Join(e.Edges, " ")
	}
	cells := []string{t.Task, t.Method, t.Point, fmt.Sprint(best), edges, fmt.Sprint(t.Seed), string(t.State),
		numberCell(t.end(Phi.of)), numberCell(t.end(ValLoss.of)), numberCell(t.end(HoldoutLoss.of)),
		numberCell(t.testLoss()), numberCell(t.testAccuracy())}
	for _, c := range tableCosts {
		cells = append(cells, numberCell(t.spent(c)))
	}
	cells = append(cells, numberCell(k.targets[t.Seed]))
	for _, c := range tableCosts {
		cells = append(cells, numberCell(t.costUntil(k.targets[t.Seed], k.spec.Choose, c)))
	}
	return append(cells, string(t.Folder), t.Error)
}

// WriteLaTeX writes a table for each task, for a document with the package booktabs.
func (r *Result) WriteLaTeX(w io.Writer) error {
	return writeTeX(w, tableTeX, r, template.FuncMap{
		"seeds":  func() string { return wording.Count(len(r.Spec.Seeds), "seed") },
		"by":     func() string { return tex(r.Spec.Choose.title()) },
		"digits": fiveDigits, "unknown": func() string { return unknown },
		"rows": func(k *Ranking) []row { return k.rows(k.byMean()) },
	})
}

// Templates of LaTeX, in which actions stand between << and >>.
var (
	//go:embed table.tex.tmpl
	tableTeX string
	//go:embed figure.tex.tmpl
	figureTeX string
)

// writeTeX writes what a template makes of data, with tex and other functions.
func writeTeX(w io.Writer, text string, data any, functions template.FuncMap) error {
	t := template.New("").Delims("<<", ">>").Funcs(template.FuncMap{"tex": tex}).Funcs(functions)
	return template.Must(t.Parse(text)).Execute(w, data)
}

var texEscapes = strings.NewReplacer(`\`, `\textbackslash{}`, "&", `\&`, "%", `\%`, "$", `\$`, "#", `\#`,
	"_", `\_`, "{", `\{`, "}", `\}`,
	"~", `\textasciitilde{}`, "^", `\textasciicircum{}`, "Φ", `$\Phi$`, "λ", `$\lambda$`, "–", "--",
	"±", `$\pm$`, "<", `$<$`)

// tex writes a text for LaTeX.
func tex(text string) string { return texEscapes.Replace(text) }
