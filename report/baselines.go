package report

import (
	"strings"

	"dsbo/runs"
)

// baselines is the table of the models that a finished run compares its own with: the same solver of the
// lower problem at fixed hyperparameters. It is nil where the run has none, and for several runs.
func baselines(g group) *table {
	summary := g.runs[0].Summary
	if len(g.runs) > 1 || summary == nil || len(summary.Models) == 0 {
		return nil
	}
	t := &table{Name: "Models at the tuned and at fixed hyperparameters", Columns: []column{{Title: "Hyperparameters"}}}
	for _, m := range summary.Models {
		t.Rows = append(t.Rows, []cell{textCell(m.Name)})
	}
	for _, c := range baselineColumns() {
		cells := make([]cell, len(t.Rows))
		measured := false
		for i, m := range summary.Models {
			cells[i] = numberCell(float64(c.of(m)), c.show)
			measured = measured || c.of(m).Known()
		}
		if !measured {
			continue
		}
		t.Columns = append(t.Columns, column{Title: c.title, Hint: c.hint, Numeric: true})
		for i := range t.Rows {
			t.Rows[i] = append(t.Rows[i], cells[i])
		}
	}
	return t
}

// A baselineColumn is a number of each model.
type baselineColumn struct {
	title, hint string
	of          func(runs.Model) runs.Number
	show        func(float64) string
}

func baselineColumns() []baselineColumn {
	const together, exact = "of the model that the agents find together", "of the exact solution"
	return []baselineColumn{
		{"Φ", "exact", func(m runs.Model) runs.Number { return m.Phi }, number},
		{"Test loss", together, func(m runs.Model) runs.Number { return m.TestLoss }, number},
		{"Test accuracy", together, func(m runs.Model) runs.Number { return m.TestAccuracy }, percent},
		{"Validation loss", together, func(m runs.Model) runs.Number { return m.ValLoss }, number},
		{"Test loss, exact", exact, func(m runs.Model) runs.Number { return m.ExactTestLoss }, number},
		{"Test accuracy, exact", exact, func(m runs.Model) runs.Number { return m.ExactTestAccuracy }, percent},
		{"Steps", "of the agents' solver", func(m runs.Model) runs.Number { return runs.Number(m.Steps) }, count},
		{"Consensus", "mean squared distance of the agents' models from their average", func(m runs.Model) runs.Number { return m.Consensus }, number},
	}
}

// constants says in a sentence what Φ is where all hyperparameters are one number.
func constants(g group) string {
	summary := g.runs[0].Summary
	if len(g.runs) > 1 || summary == nil || len(summary.Constants) == 0 {
		return ""
	}
	var parts []string
	for _, c := range summary.Constants {
		parts = append(parts, number(c.Phi)+" at "+number(c.Lambda))
	}
	return "Exact Φ with one number for all hyperparameters: " + strings.Join(parts, ", ") + "."
}
