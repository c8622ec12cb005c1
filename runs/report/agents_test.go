package report

import (
	"testing"

	"dsbo/runs"
)

// TestAgentsTable: a slow agent is seen by how long the others waited for it; in one process there
// is nobody to wait.
func TestAgentsTable(t *testing.T) {
	usage := []runs.Usage{{Times: runs.Times{OracleSeconds: 2, MixSeconds: 30}},
		{Times: runs.Times{OracleSeconds: 31, MixSeconds: 1}}}
	if agentsTable(nil) != nil || agentsTable(&runs.Summary{PerAgent: usage}) != nil {
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
