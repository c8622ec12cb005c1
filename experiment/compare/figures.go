package compare

import (
	"math"
	"slices"

	"dsbo/runs"
	"dsbo/runs/report"
)

// figure draws a quantity of the best runs against a cost: medians over seeds, in a band from the
// least to the greatest.
func (k *Ranking) figure(q Quantity, c Cost) report.Figure {
	return k.figureOf(q, c, func(*Entry) bool { return true })
}

// figureOf is figure with some of the entries.
func (k *Ranking) figureOf(q Quantity, c Cost, shown func(*Entry) bool) report.Figure {
	f := report.Figure{Title: k.Task.Name, XLabel: c.title(), YLabel: q.title(), XCount: c == Iterations}
	if q == PhiGap {
		f.YScale = report.Log
	}
	if c != Iterations {
		f.XScale = report.Log
	}
	for _, e := range k.Entries {
		if e.State() != runs.Finished || !shown(e) {
			continue // in all figures of the task, so that a method has one colour
		}
		s := report.Series{Name: e.Method.Name}
		for i := range e.recordCount() {
			y := k.bestNumbers(e, i, func(r runs.Record, t *Trial) float64 { return q.of(r) - k.base(q, t) })
			x := k.bestNumbers(e, i, func(r runs.Record, t *Trial) float64 { return c.of(r, t.Config.Agents) })
			if math.IsNaN(median(y)) || f.XScale == report.Log && median(x) <= 0 {
				continue // the line goes on to the next record that has it: some methods know Φ seldom
			}
			s.X, s.Y = append(s.X, median(x)), append(s.Y, median(y))
			if len(e.Best) > 1 {
				s.Low, s.High = append(s.Low, slices.Min(y)), append(s.High, slices.Max(y))
			}
		}
		f.Series = append(f.Series, s)
	}
	at := medianOf(k.untuned.Best, func(t *Trial) float64 { return t.end(q.of) - k.base(q, t) })
	if (q == Phi || q == PhiGap) && !math.IsNaN(at) {
		f.Levels = []report.Level{{Name: untuned.Name, Y: at}}
	}
	return f
}

// recordCount returns the number of records that all best runs have.
func (e *Entry) recordCount() int {
	n := math.MaxInt
	for _, t := range e.Best {
		n = min(n, len(t.Records))
	}
	return n
}

// bestNumbers returns a number of record i of each best run.
func (k *Ranking) bestNumbers(e *Entry, i int, of func(runs.Record, *Trial) float64) (all []float64) {
	for _, t := range e.Best {
		all = append(all, of(t.Records[i], t))
	}
	return all
}
