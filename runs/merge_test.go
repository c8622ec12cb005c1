package runs_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dsbo/internal/testkit"
	"dsbo/network/membership"
	"dsbo/runs"
)

// partOf writes the folder of an agent of a run of three, into which agent 3 came and which agent 1
// left for good: agent 0 lost its disk in iteration 5, agent 2 was absent in iteration 10, agent 3
// in iteration 0. loss is the loss of the last record.
func partOf(t *testing.T, agent int, loss runs.Number) runs.Folder {
	t.Helper()
	f := runs.Folder(filepath.Join(t.TempDir(), "agent"))
	testkit.OK(f.Open(runs.Fresh))
	testkit.OK(f.WriteConfig(runs.Config{Format: runs.Format, Agents: 3}))
	var lines strings.Builder
	iterations := map[int][]int{0: {10, 20}, 2: {0, 20}, 3: {10, 20}}[agent]
	for _, k := range iterations {
		r := runs.Record{Iteration: k, ValLoss: 0.5, Phi: phiOf(k)}
		if r.Seconds = float64(agent); k == 20 {
			r.ValLoss = loss
		}
		testkit.OK(json.NewEncoder(&lines).Encode(r))
	}
	testkit.OK(f.WriteFile(runs.MetricsFile, []byte(lines.String())))
	testkit.OK(f.WriteArray(runs.LambdaFile, []float64{1}, 1))
	testkit.OK(f.WriteArray(runs.OmegaFile, []float64{1}, 1))
	testkit.OK(f.WriteChanges(membership.Log{
		{Epoch: 1, Iteration: 5, Round: 7, Members: []int{0, 1, 3}, Edges: membership.Edges{{0, 3}, {1, 3}},
			Why: []string{"agent 2 left", "agent 3 joined"}},
		{Epoch: 2, Iteration: 15, Round: 9, Members: []int{0, 2, 3}, Why: []string{"agent 1 left", "agent 2 returned"}},
	}))
	testkit.OK(f.WriteMembership(runs.Membership{Run: "small", Hash: "1", Agent: agent, Agents: 3}))
	testkit.OK(f.WriteSummary(
		runs.Summary{State: runs.Finished, PerAgent: make([]runs.Usage, 4), Members: []int{0, 2, 3},
			PhiStart: phiOf(0)}))
	return f
}

// phiOf is Φ of an iteration's record.
func phiOf(iteration int) runs.Number { return runs.Number(30 - iteration) }

// TestMergeAfterChanges: those who are there at the end are enough, and their records together
// cover all iterations.
func TestMergeAfterChanges(t *testing.T) {
	zero, two, three := partOf(t, 0, 0.25), partOf(t, 2, 0.25), partOf(t, 3, 0.25)
	for _, order := range [][]runs.Folder{{zero, two, three}, {three, zero, two}} {
		m, err := runs.Merge(order)
		if err != nil {
			t.Fatal(err)
		}
		var iterations []int
		for _, r := range m.Records {
			iterations = append(iterations, r.Iteration)
		}
		if !slices.Equal(iterations, []int{0, 10, 20}) || m.Members != 3 || m.Records[2].Seconds != 3 {
			t.Errorf("%d agents with records of iterations %v, the last after %g s", m.Members, iterations,
				m.Records[2].Seconds)
		}
		if m.Summary.PhiStart != phiOf(0) {
			t.Errorf("Φ at the start is %v; that of iteration 0 is %v", m.Summary.PhiStart, phiOf(0))
		}
		out := runs.Folder(filepath.Join(t.TempDir(), "all"))
		testkit.OK(out.Open(runs.Fresh))
		testkit.OK(m.Write(out))
		if log := testkit.Get(out.ReadChanges()); len(log) != 2 {
			t.Errorf("the run of all has the changes %v", log)
		}
	}
	for want, order := range map[string][]runs.Folder{
		"the run folders of all 3 agents are required; missing: agent 2": {zero, three},
		"agents 0 and 3 do not agree: metrics.jsonl, iteration 20: val_loss is 0.25 there, 0.75": {zero, two,
			partOf(t, 3, 0.75)},
	} {
		if _, err := runs.Merge(order); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
}
