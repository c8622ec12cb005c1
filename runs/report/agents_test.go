package report

import (
	"strings"
	"testing"

	"dsbo/network/membership"
	"dsbo/runs"
)

// TestAgentsTable: a slow agent is seen by how long the others waited for it; in one process there
// is nobody to wait.
func TestAgentsTable(t *testing.T) {
	r := &Run{Summary: runs.Summary{PerAgent: []runs.Usage{{Times: runs.Times{OracleSeconds: 2, MixSeconds: 30}},
		{Times: runs.Times{OracleSeconds: 31, MixSeconds: 1}}}}}
	if _, rows := section(t, "spent", r); rows != nil {
		t.Errorf("a table of agents that wait for nobody: %q", rows)
	}
	r.Summary.Waited = []float64{0.5, 29}
	if _, rows := section(t, "spent", r); len(rows) != 3 || rows[2] != "agent 1 | 31 s | 1 s | 29 s" {
		t.Errorf("the rows are %q", rows)
	}
}

// TestSitesTable: accuracies have columns where there are some, which numbers have not, and models
// that were tried at other sites a table.
func TestSitesTable(t *testing.T) {
	for accuracy, want := range map[runs.Number]string{
		0.8:            "site 0 | 9 | 0.5000 | 0.5000 | 0.5000 | 80.00 % | 80.00 % | 80.00 %",
		runs.Unknown(): "site 0 | 9 | 0.5000 | 0.5000 | 0.5000",
	} {
		score := runs.SiteScore{Loss: 0.5, Accuracy: accuracy}
		site := runs.Site{Examples: 9, Alone: score, Constant: score, Tuned: score,
			OthersAlone: []runs.SiteScore{score}}
		_, rows := section(t, "sites", &Run{Summary: runs.Summary{Sites: []runs.Site{site}}})
		if len(rows) < 4 || rows[1] != want || !strings.HasPrefix(rows[2], "Model | Site 0 | All sites") ||
			!strings.HasPrefix(rows[3], "site 0 alone | 0.5000") {
			t.Errorf("accuracy %v: %q, want %q", accuracy, rows, want)
		}
	}
}

// TestMembers: a change without a reason tells who left and who came.
func TestMembers(t *testing.T) {
	r := &Run{Changes: membership.Log{{Epoch: 1, Iteration: 5, Members: []int{0, 2, 3}, Proposer: 2}}}
	r.Config.Agents = 3
	r.explainChanges()
	if _, rows := section(t, "members", r); rows[1] != "0 | 0 | 0–2 | start | – | –" ||
		rows[2] != "1 | 5 | 0, 2, 3 | 1 left; 3 came in | – | 2" {
		t.Errorf("%q", rows)
	}
}

func TestShownSetting(t *testing.T) {
	for setting, want := range map[string]string{
		"": none, `["red", "blue"]`: "red blue", "20": "20", strings.Repeat("4f53cda1", 8): "4f53cda14f53…",
		strings.Repeat("x", 161): strings.Repeat("x", 160) + "…", strings.Repeat("x", 160): strings.Repeat("x", 160),
	} {
		if got := shownSetting(setting); got != want {
			t.Errorf("%q is shown as %q, want %q", setting, got, want)
		}
	}
}
