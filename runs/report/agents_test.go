package report

import (
	"strings"
	"testing"

	"dsbo/runs"
)

// TestAgentsTable: a slow agent is seen by how long the others waited for it; in one process there
// is nobody to wait.
func TestAgentsTable(t *testing.T) {
	usage := []runs.Usage{{Times: runs.Times{OracleSeconds: 2, MixSeconds: 30}},
		{Times: runs.Times{OracleSeconds: 31, MixSeconds: 1}}}
	if agentsTable(&runs.Summary{PerAgent: usage}) != nil {
		t.Error("there is a table of agents that wait for nobody")
	}
	table := agentsTable(&runs.Summary{PerAgent: usage, Waited: []float64{0.5, 29}})
	var slow []string
	for _, c := range table.Rows[1] {
		slow = append(slow, c.Text)
	}
	want := []string{"agent 1", formatTime(31), formatTime(1), formatTime(29)}
	for i, text := range want {
		if slow[i] != text {
			t.Errorf("the row of agent 1 is %q; it must be %q", slow, want)
		}
	}
}

// TestSitesTable: accuracies have columns where there are some, which numbers have not.
func TestSitesTable(t *testing.T) {
	for accuracy, columns := range map[runs.Number]int{0.8: 8, runs.Unknown(): 5} {
		score := runs.SiteScore{Loss: 0.5, Accuracy: accuracy}
		site := runs.Site{Examples: 9, Alone: score, Constant: score, Tuned: score}
		table := sitesTable(&runs.Summary{Sites: []runs.Site{site}})
		for _, row := range table.Rows {
			if len(row) != columns || len(table.Columns) != columns {
				t.Errorf("accuracy %v: a row of %d cells in %d columns, want %d", accuracy, len(row),
					len(table.Columns), columns)
			}
		}
	}
}

func TestShownSetting(t *testing.T) {
	for setting, want := range map[string]string{
		"": none, `["red", "blue"]`: "red blue", "20": "20", strings.Repeat("4f53cda1", 8): "4f53cda14f53…",
		strings.Repeat("x", 200): strings.Repeat("x", 160) + "…",
	} {
		if got := shownSetting(setting); got != want {
			t.Errorf("%q is shown as %q, want %q", setting, got, want)
		}
	}
}
