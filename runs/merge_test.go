package runs_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/network/membership"
	"dsbo/runs"
)

// partOf writes the folder of an agent of a run of three, into which agent 3 came and which agent 1
// left for good: agent 0 lost its disk in iteration 5, agent 2 was absent in iteration 10, agent 3
// in iteration 0. After the last iteration agent 1 left. loss is the loss of the last record.
func partOf(t *testing.T, agent int, loss runs.Number) runs.Folder {
	t.Helper()
	f := runs.Folder(filepath.Join(t.TempDir(), "agent"))
	testkit.OK(f.Open(runs.Fresh))
	testkit.OK(f.WriteConfig(runs.Config{Format: runs.Format, Agents: 3}))
	var lines strings.Builder
	iterations := map[int][]int{0: {10, 20}, 2: {0, 20}, 3: {10, 20}}[agent]
	for _, k := range append(iterations, 20) {
		r := runs.Record{Iteration: k, Epoch: 1, ValLoss: 0.5, Phi: phiOf(k), Seconds: float64(agent)}
		if strings.Contains(lines.String(), `"iteration":20,`) {
			r.Epoch, r.ValLoss = 2, loss
		}
		testkit.OK(json.NewEncoder(&lines).Encode(r))
	}
	testkit.OK(f.WriteFile(runs.MetricsFile, []byte(lines.String())))
	testkit.OK(f.WriteArray(runs.LambdaFile, []float64{1}, 1))
	testkit.OK(f.WriteArray(runs.OmegaFile, []float64{1}, 1))
	testkit.OK(f.WriteChanges(membership.Log{
		{Epoch: 1, Iteration: 5, Members: []int{0, 1, 3}, Edges: membership.Edges{{0, 3}, {1, 3}},
			Why: []string{"agent 2 left", "agent 3 joined"}},
		{Epoch: 2, Iteration: 20, Members: []int{0, 2, 3}, Why: []string{"agent 1 left", "agent 2 returned"}},
	}))
	testkit.OK(f.WriteMembership(runs.Membership{Run: "small", Hash: "1", Agent: agent, Agents: 3}))
	testkit.OK(f.WriteSummary(
		runs.Summary{State: runs.Finished, PerAgent: make([]runs.Usage, 4), Members: []int{0, 2, 3}, Epoch: 2,
			PhiStart: phiOf(0),
			Card:     &runs.Card{Own: []runs.Number{runs.Number(agent)}, Odd: []string{"of the site"}[agent%2:]}}))
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
		if !slices.Equal(iterations, []int{0, 10, 20, 20}) || m.Members != 3 || m.Records[2].Seconds != 3 {
			t.Errorf("%d agents with records of iterations %v, the last after %g s", m.Members, iterations,
				m.Records[2].Seconds)
		}
		if c := m.Summary.Card; c == nil || c.Own != nil || c.Odd != nil {
			t.Errorf("the card of all has what one site knows of itself: %+v", c)
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
	testkit.OK(os.MkdirAll(three.Path(runs.ModelFile), 0o700)) // a file may be missing, but not unreadable
	if _, err := runs.Merge([]runs.Folder{zero, two, three}); err == nil {
		t.Error("a model that cannot be read is left out")
	}
}

// steadyPart writes the folder of an agent of a run of three whose members stayed the same, with an
// assessment.
func steadyPart(t *testing.T, agent, records int, assessment string) runs.Folder {
	t.Helper()
	f := runs.Folder(filepath.Join(t.TempDir(), "agent"))
	testkit.OK(f.Open(runs.Fresh))
	testkit.OK(f.WriteConfig(runs.Config{Format: runs.Format, Agents: 3}))
	var lines strings.Builder
	for k := range records {
		r := runs.Record{Iteration: 10 * k, PeakRSSMiB: runs.Unknown(), MsPerIteration: runs.Number(2 - agent)}
		testkit.OK(json.NewEncoder(&lines).Encode(r))
	}
	testkit.OK(f.WriteFile(runs.MetricsFile, []byte(lines.String())))
	testkit.OK(f.WriteArray(runs.LambdaFile, []float64{1}, 1))
	testkit.OK(f.WriteArray(runs.OmegaFile, []float64{1}, 1))
	testkit.OK(f.WriteFile(runs.AssessmentFile, []byte(assessment)))
	testkit.OK(f.WriteMembership(runs.Membership{Run: "small", Hash: "1", Agent: agent, Agents: 3}))
	s := runs.Summary{State: runs.Finished, PerAgent: make([]runs.Usage, max(3, agent)), Waited: []float64{1, 2, 4},
		Seconds: float64(5 - agent), PeakRSSMiB: runs.Number(10 * agent), MsPerIteration: runs.Unknown()}
	if agent == 1 {
		s.MsPerIteration = 3
	}
	if agent < 3 {
		s.PerAgent[agent].OracleSeconds = float64(agent + 1)
	}
	testkit.OK(f.WriteSummary(s))
	return f
}

// TestMergeCounts: what agents waited sums up, times are of the slowest, memory is of the largest,
// each agent's usage is its own, and what one does not know another does.
func TestMergeCounts(t *testing.T) {
	var parts []runs.Folder
	for agent := range 3 {
		parts = append(parts, steadyPart(t, agent, 2, "{}"))
	}
	m := testkit.Get(runs.Merge(parts))
	s := m.Summary
	if s.Seconds != 5 || s.PeakRSSMiB != 20 || s.MsPerIteration != 3 || !slices.Equal(s.Waited, []float64{3, 6, 12}) {
		t.Errorf("%g s, %g MiB, %g ms an iteration, waited %v; want 5, 20, 3 and 3, 6, 12", s.Seconds, s.PeakRSSMiB,
			s.MsPerIteration, s.Waited)
	}
	for i, u := range s.PerAgent {
		if u.OracleSeconds != float64(i+1) {
			t.Errorf("agent %d asked its oracle for %g s, want %d", i, u.OracleSeconds, i+1)
		}
	}
	if len(m.Records) != 2 || m.Records[1].MsPerIteration != 2 || m.Records[1].PeakRSSMiB.Known() {
		t.Errorf("records %+v", m.Records)
	}
	for want, last := range map[string]runs.Folder{
		"metrics.jsonl: 2 records and 3":   steadyPart(t, 2, 3, "{}"),
		"assessment.json: other contents":  steadyPart(t, 2, 2, "{ }"),
		"is of agent 3 of 3, with a summa": steadyPart(t, 3, 2, "{}"),
	} {
		if _, err := runs.Merge([]runs.Folder{parts[0], parts[1], last}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
	_, err := runs.Merge(append(parts, parts[0]))
	testkit.WantError(t, "twice, apart", err, dsbo.ErrConfig, "are both of agent 0")
}

// TestResultWithoutTheAgent: what an agent hands to one that comes at the end has nothing of its
// own flags, machine and rows.
func TestResultWithoutTheAgent(t *testing.T) {
	f := partOf(t, 0, 0.25)
	c := testkit.Get(f.ReadConfig())
	c.Flags, c.Build.Host = []string{"-data=/home/somebody/ours.csv"}, "ward-7"
	testkit.OK(f.WriteConfig(c))
	s := testkit.Get(f.ReadSummary())
	s.Card = &runs.Card{Rows: [3]int{5, 0, 2}, Own: []runs.Number{4141417, 43}, Odd: []string{"age 2117771"}}
	s.Times, s.Waited = runs.Times{MixSeconds: 2}, []float64{3}
	testkit.OK(f.WriteSummary(s))
	given := testkit.Get(runs.PackResult(f))
	for _, own := range []string{"somebody", "ward-7", "2117771", "4141417", `"own"`} {
		if bytes.Contains(given, []byte(own)) {
			t.Errorf("the result that is handed over has %q", own)
		}
	}
	out := runs.Folder(filepath.Join(t.TempDir(), "late"))
	testkit.OK(out.Open(runs.Fresh))
	const tarEnd = 1024 // bytes of 0
	twice := append(bytes.Clone(given[:len(given)-tarEnd]), given...)
	if err := runs.UnpackResult(out, twice, "i"); err == nil || !strings.Contains(err.Error(), "must be there once") {
		t.Errorf("%v, want that files which come twice are refused", err)
	}
	testkit.OK(runs.UnpackResult(out, given, "i"))
	taken := runs.Folder(filepath.Join(t.TempDir(), "taken"))
	testkit.OK(runs.TakeResult(taken, runs.Membership{Run: "small", Hash: "1", Agent: 2, Agents: 3}, "i", f))
	if got := testkit.Get(taken.ReadSummary()); got.Times != (runs.Times{}) || got.Waited != nil {
		t.Errorf("of a folder times of another one are taken: %+v", got)
	}
	if got := testkit.Get(out.ReadSummary()); got.Card == nil || got.Card.Rows != s.Card.Rows || got.Epoch != s.Epoch ||
		got.Times != (runs.Times{}) || got.Waited != nil {
		t.Errorf("what is of all sites is lost, or times of another one are there: %+v", got)
	}
}
