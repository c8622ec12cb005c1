package report

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// baselines is the table of the models that a finished run compares its own with: the same solver of the
// lower problem at fixed hyperparameters. It is nil where the run has none, and for several runs.
func baselines(g group) *table {
	if len(g.runs) > 1 {
		return nil
	}
	var models []map[string]any
	if err := json.Unmarshal([]byte(g.runs[0].Summary.Get("models")), &models); err != nil || len(models) == 0 {
		return nil
	}
	t := &table{Name: "Models at the tuned and at fixed hyperparameters", Columns: []column{{Title: "Hyperparameters"}}}
	var shown []baselineColumn
	for _, c := range baselineColumns() {
		if anyNumber(models, c.key) {
			shown = append(shown, c)
			t.Columns = append(t.Columns, column{Title: c.title, Hint: c.hint, Numeric: true})
		}
	}
	for _, m := range models {
		name, _ := m["name"].(string)
		row := []cell{{Text: orNone(name), Sort: name}}
		for _, c := range shown {
			row = append(row, numberCell(m[c.key], c.show))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// A baselineColumn is a number of each model.
type baselineColumn struct {
	key, title, hint string
	show             func(float64) string
}

func baselineColumns() []baselineColumn {
	return []baselineColumn{
		{"phi", "Φ", "exact", number},
		{"test_loss", "Test loss", "of the model that the agents find together", number},
		{"test_accuracy", "Test accuracy", "of the model that the agents find together", percent},
		{"val_loss", "Validation loss", "of the model that the agents find together", number},
		{"exact_test_loss", "Test loss, exact", "of the exact solution", number},
		{"exact_test_accuracy", "Test accuracy, exact", "of the exact solution", percent},
		{"refit_steps", "Steps", "of the agents' solver", count},
		{"refit_consensus", "Consensus", "mean squared distance of the agents' models from their average", number},
	}
}

func anyNumber(models []map[string]any, key string) bool {
	for _, m := range models {
		if _, ok := m[key].(float64); ok {
			return true
		}
	}
	return false
}

func numberCell(v any, show func(float64) string) cell {
	n, ok := v.(float64)
	if !ok {
		n = math.NaN()
	}
	c := cell{Text: show(n)}
	if ok {
		c.Sort = strconv.FormatFloat(n, 'g', -1, 64)
	}
	return c
}

// constants says in a sentence what Φ is where all hyperparameters are one number.
func constants(g group) string {
	var tried []struct{ Lambda, Phi float64 }
	if err := json.Unmarshal([]byte(g.runs[0].Summary.Get("constants")), &tried); err != nil || len(tried) == 0 || len(g.runs) > 1 {
		return ""
	}
	var parts []string
	for _, c := range tried {
		parts = append(parts, number(c.Phi)+" at "+number(c.Lambda))
	}
	return "Exact Φ with one number for all hyperparameters: " + strings.Join(parts, ", ") + "."
}
