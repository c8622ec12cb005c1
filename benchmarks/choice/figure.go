package main

import "dsbo/runs/report"

// costNames are the costs of a run, in the order of [trial.spent].
var costNames = [3]string{"MB sent by all agents", "oracle calls of an agent", "seconds"}

// saveFigure writes the figure of all tasks to folder/choice.svg and choice.png: a row for each task, a column for each cost.
func saveFigure(rows []row, folder string) error {
	var panels [][]*report.Figure
	for _, r := range rows {
		var line []*report.Figure
		for cost := range costNames {
			if f := r.panel(cost); f.Validate() == nil {
				line = append(line, f)
			}
		}
		panels = append(panels, line)
	}
	return report.SaveRows(panels, folder, "choice")
}

// panel draws Φ − the best Φ known against a cost, down to a thousandth of the constant's. The first one of a task has the legend.
func (r row) panel(cost int) *report.Figure {
	worst := r.constant - r.known
	f := &report.Figure{Title: r.problem.title, XLabel: costNames[cost], YLabel: "Φ − the best Φ known", XScale: report.Log, YScale: report.Log,
		Levels: []report.Level{{Y: worst}}}
	for _, t := range r.best {
		s := report.Series{}
		for _, rec := range t.records {
			if spent, gap := t.spent(rec)[cost], float64(rec.Phi)-r.known; spent > 0 && gap > 1e-3*worst {
				s.X, s.Y = append(s.X, spent), append(s.Y, gap)
			}
		}
		if cost == 0 {
			s.Name, f.Levels[0].Name = t.method, "best constant λ"
		}
		f.Series = append(f.Series, s)
	}
	return f
}
