package compare

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strings"

	"dsbo/internal/wording"
	"dsbo/runs"
)

// A row is an entry's cells, without marks of a format.
type row struct {
	method, point         string   // method, and point of its grid
	value, loss, accuracy string   // at the end, medians over seeds
	means                 []string // of the same three, with standard deviations
	p                     string   // of a paired test against the best method
	best                  bool     // whether the row has the least value of all
	spent, reached        []string // costs, in the order of the columns
	edges                 string   // where the best point lies at the edge of its grid
	note                  string   // why there are no numbers
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
	end := func(t *Trial) float64 { return t.end(k.spec.Choose.of) }
	first := sorted[0].numbersOf(end)
	for i, e := range sorted {
		r := row{method: e.Method.Name, point: e.Method.Grid.String(e.search.Best), edges: strings.Join(e.Edges, ", ")}
		switch state := e.State(); {
		case !e.Applicable():
			r.note, r.point = "not applicable", ""
		case state != runs.Finished:
			r.note = string(state)
		}
		r.value = fiveDigits(e.value(k.spec.Choose))
		r.loss = fiveDigits(medianOf(e.Best, (*Trial).testLoss))
		r.accuracy = fiveDigits(medianOf(e.Best, (*Trial).testAccuracy))
		for _, of := range []func(*Trial) float64{end, (*Trial).testLoss, (*Trial).testAccuracy} {
			r.means = append(r.means, meanText(e.numbersOf(of)))
		}
		r.best, r.p = i == 0 && r.value != unknown, pText(pairedP(e.numbersOf(end), first))
		for _, c := range tableCosts {
			r.spent = append(r.spent, threeDigits(medianOf(e.Best, func(t *Trial) float64 { return t.spent(c) })))
			r.reached = append(r.reached, threeDigits(k.costReached(e, c)))
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
	for _, r := range k.rows(k.withUntuned()) {
		note := r.note
		if r.edges != "" {
			note = strings.TrimPrefix(note+", at the edge: "+r.edges, ", ")
		}
		cells := append([]string{r.method, r.value, r.loss, r.accuracy}, append(r.spent, r.reached...)...)
		all = append(all, append(cells, r.point, note))
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
	var b strings.Builder
	for i, k := range r.Rankings {
		if i > 0 {
			b.WriteString("\n")
		}
		k.writeLaTeX(&b, len(r.Spec.Seeds))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (k *Ranking) writeLaTeX(b *strings.Builder, seeds int) {
	fmt.Fprintf(b, "\\begin{table}\n\\centering\n\\caption{%s: means $\\pm$ standard deviations over %s, costs are "+
		"medians; $p$ is of a paired $t$-test against the best. %s", tex(k.Task.Name), wording.Count(seeds, "seed"),
		tex(k.Sentence()))
	rows := k.rows(k.byMean())
	for _, r := range rows {
		if r.edges != "" {
			b.WriteString(" $^\\dagger$: best at the edge of its grid.")
			break
		}
	}
	fmt.Fprintf(b, "}\n\\begin{tabular}{lrrrrrrrrrr}\n\\toprule\n")
	fmt.Fprintf(b,
		" & & & & & \\multicolumn{3}{c}{at the end} & \\multicolumn{3}{c}{to %s %s} \\\\\n\\cmidrule(lr){6-8} "+
			"\\cmidrule(lr){9-11}\n", tex(k.spec.Choose.title()), fiveDigits(k.Target))
	fmt.Fprintf(b, "method & %s & $p$ & test loss & accuracy & MB & calls & s & MB & calls & s \\\\\n\\midrule\n",
		tex(k.spec.Choose.title()))
	for _, r := range rows {
		name := tex(r.method)
		if r.edges != "" {
			name += "$^\\dagger$"
		}
		if r.value == unknown && r.note != "" {
			fmt.Fprintf(b, "%s & \\multicolumn{10}{l}{%s} \\\\\n", name, tex(r.note))
			continue
		}
		value := tex(r.means[0])
		if r.best {
			value = "\\textbf{" + value + "}"
		}
		cells := append([]string{r.p, r.means[1], r.means[2]}, append(r.spent, r.reached...)...)
		fmt.Fprintf(b, "%s & %s & %s \\\\\n", name, value, tex(strings.Join(cells, "\x00")))
	}
	b.WriteString("\\bottomrule\n\\end{tabular}\n\\end{table}\n")
}

var texEscapes = strings.NewReplacer("\x00", " & ", `\`, `\textbackslash{}`, "&", `\&`, "%", `\%`, "$", `\$`, "#", `\#`,
	"_", `\_`, "{", `\{`, "}", `\}`,
	"~", `\textasciitilde{}`, "^", `\textasciicircum{}`, "Φ", `$\Phi$`, "λ", `$\lambda$`, "–", "--",
	"±", `$\pm$`, "<", `$<$`)

// tex writes a text for LaTeX.
func tex(text string) string { return texEscapes.Replace(text) }
