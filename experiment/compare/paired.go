package compare

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/template"

	"gonum.org/v1/gonum/stat"

	"dsbo/internal/linalg"
	"dsbo/internal/num"
	"dsbo/runs"
	"dsbo/runs/report"
)

// numbersOf returns a number of each run, in their order.
func numbersOf(trials []*Trial, of func(*Trial) float64) (all []float64) {
	for _, t := range trials {
		all = append(all, of(t))
	}
	return all
}

// meanText writes mean ± standard deviation, the mean alone of one number, a dash if one is
// not known.
func meanText(numbers []float64) string {
	mean, deviation := stat.MeanStdDev(numbers, nil)
	if math.IsNaN(deviation) { // of one number it is
		return fiveDigits(mean)
	}
	return fmt.Sprintf("%s ± %.2g", fiveDigits(mean), deviation)
}

// A difference is a mean over pairs, which have a seed, and so their data, in common.
type difference struct {
	mean float64
	half float64 // of its 95 % interval, if differences are normal
	p    float64 // two-sided, of a paired t-test: how likely it is so far from 0 where there is none
}

// paired returns a less b. half and p are NaN with fewer than two pairs, or where all differences
// are the same.
func paired(a, b []float64) difference {
	differences := make([]float64, len(a))
	linalg.Sub(differences, a, b)
	n := float64(len(a))
	mean, deviation := stat.MeanStdDev(differences, nil)
	if !(deviation > 0) {
		return difference{mean, math.NaN(), math.NaN()}
	}
	e := deviation / math.Sqrt(n)
	return difference{mean, num.StudentQuantile(0.975, int(n)-1) * e, 2 * num.StudentTail(math.Abs(mean)/e, int(n)-1)}
}

// pText writes a p, a dash if it is not known.
func pText(p float64) string {
	switch {
	case math.IsNaN(p):
		return unknown
	case p < 0.001:
		return "< 0.001"
	}
	return fmt.Sprintf("%.3f", p)
}

// WriteBest writes a line for each method on each task, the best first, of the runs at the best
// point of its grid: means over seeds, of the criterion and the test loss with standard deviations
// and p of paired t-tests against the first line. Numbers that are not known are empty.
func (r *Result) WriteBest(w io.Writer) error {
	lines := [][]string{{"task", "method", "seeds", "parameters", "at_edge", string(r.Spec.Choose), "sd", "p",
		"test_loss", "test_sd", "test_p", "test_accuracy", "megabytes", "calls_per_agent", "seconds", "state"}}
	for _, k := range r.Rankings {
		entries := k.byMean()
		for _, e := range entries {
			var numbers []float64
			for _, of := range []func(*Trial) float64{k.end, (*Trial).testLoss} {
				own := numbersOf(e.Best, of)
				mean, deviation := stat.MeanStdDev(own, nil)
				numbers = append(numbers, mean, deviation, paired(own, numbersOf(entries[0].Best, of)).p)
			}
			numbers = append(numbers, stat.Mean(numbersOf(e.Best, (*Trial).testAccuracy), nil))
			for _, cost := range tableCosts {
				numbers = append(numbers,
					stat.Mean(numbersOf(e.Best, func(t *Trial) float64 { return t.spent(cost) }), nil))
			}
			cells := []string{k.Task.Name, e.Method.Name, fmt.Sprint(len(e.Best)), e.Method.Grid.String(e.search.Best),
				strings.Join(e.Edges, " ")}
			for _, v := range numbers {
				cells = append(cells, numberCell(v))
			}
			lines = append(lines, append(cells, string(e.State())))
		}
	}
	return csv.NewWriter(w).WriteAll(lines)
}

// WriteCurves writes what the figures show, one number of one record of a best run in each line:
// task, method, seed, iteration, what was spent until then, quantity and value. Numbers that are
// not known are left out.
func (r *Result) WriteCurves(w io.Writer) error {
	lines := [][]string{{"task", "method", "parameters", "seed", "iteration", "megabytes", "calls_per_agent",
		"seconds", "quantity", "value"}}
	for _, k := range r.Rankings {
		for _, e := range k.Entries {
			for _, t := range e.Best {
				if t.State != runs.Finished {
					continue
				}
				for _, record := range t.Records {
					lines = append(lines, k.curveLines(t, record)...)
				}
			}
		}
	}
	return csv.NewWriter(w).WriteAll(lines)
}

// curveLines returns a line for each quantity of a record.
func (k *Ranking) curveLines(t *Trial, record runs.Record) (lines [][]string) {
	for _, q := range k.spec.Show {
		v := q.of(record) - k.base(q, t)
		if math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		cells := []string{t.Task, t.Method, t.Point, fmt.Sprint(t.Seed), fmt.Sprint(record.Iteration)}
		for _, cost := range tableCosts {
			cells = append(cells, fmt.Sprint(cost.of(record, t.Config.Agents)))
		}
		lines = append(lines, append(cells, string(q), fmt.Sprint(v)))
	}
	return lines
}

// writePGF writes a figure for a document with the package pgfplots: its lines, and the edges of
// their bands as thin ones.
func writePGF(w io.Writer, f *report.Figure) error {
	drawn := func(x, y float64) bool { // numbers that a logarithm has, where it is one
		return !math.IsNaN(y) && !math.IsInf(y, 0) && (f.XScale != report.Log || x > 0) &&
			(f.YScale != report.Log || y > 0)
	}
	return writeTeX(w, figureTeX, f, template.FuncMap{
		"mode": func(s report.Scale) string {
			if s == report.Log {
				return "log"
			}
			return "normal"
		},
		"edges": func(s report.Series) [][]float64 {
			return slices.DeleteFunc([][]float64{s.Low, s.High}, func(edge []float64) bool { return edge == nil })
		},
		"points": func(xs, ys []float64) (text string) {
			for i, x := range xs {
				if drawn(x, ys[i]) {
					text += fmt.Sprintf("(%g,%g) ", x, ys[i])
				}
			}
			return text
		},
	})
}
