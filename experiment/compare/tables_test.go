package compare

import (
	"bytes"
	"flag"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

var update = flag.Bool("update", false, "write the golden files anew")

// handmade is a result of two methods, one at the edge of its grid, and one that is not for
// the task.
func handmade(t *testing.T) *Result {
	t.Helper()
	s := testkit.Get(Parse([]byte(`{
		"tasks": [{"task": "synthetic -r=1", "name": "50 % & _more_"}],
		"methods": [{"method": "dsoba", "grid": {"alpha": [0.1, 1]}}, "newtoncg", "dascgd"], "seeds": [1, 2]}`)))
	k := &Ranking{Task: s.Tasks[0], Spec: s}
	for i, m := range s.Methods {
		e := newEntry(m)
		e.search = m.Grid.search(0)
		e.search.Best = make([]int, len(m.Grid))
		for n := range m.Grid.points() {
			point := make([]int, len(m.Grid))
			if len(point) > 0 {
				point[0] = n
			}
			e.search.Tried = append(e.search.Tried, point)
			for _, seed := range s.Seeds {
				trial := &Trial{Task: s.Tasks[0].Name, Method: m.Name, Point: m.Grid.String(point), Seed: seed,
					Folder: "out", State: NotApplicable, Error: "dascgd is for others"}
				if m.Algorithm != "dascgd" {
					trial.State, trial.Error = runs.Finished, ""
					trial.Config = runs.Config{Task: "synthetic", Agents: 4}
					for record := range 3 {
						trial.Records = append(trial.Records, runs.Record{
							Iteration: record, Phi: runs.Number(8 - 2*float64(i*record) - float64(n*record) -
								float64(seed)/4), TestLoss: 0.5 + runs.Number(i)*runs.Number(seed)/16,
							TestAccuracy: runs.Unknown(),
							ValLoss:      0.25, HoldoutLoss: runs.Unknown(), Calls: dsbo.Calls{HVP: 40 * record},
							Traffic: dsbo.Traffic{Bytes: int64(record) * 3e6}, Seconds: float64(record),
						})
					}
					trial.Summary = runs.Summary{TestLossTuned: runs.Unknown()}
				}
				e.points[trial.Point] = append(e.points[trial.Point], trial)
			}
		}
		if i == 0 {
			e.search.Best = []int{1}
		}
		k.Entries = append(k.Entries, e)
	}
	k.untuned = newEntry(untuned)
	k.untuned.search = &Search{Tried: [][]int{nil}}
	for _, seed := range s.Seeds {
		k.untuned.points[""] = append(k.untuned.points[""], &Trial{Task: k.Task.Name,
			Method: untuned.Name, Seed: seed,
			State: runs.Finished, Summary: runs.Summary{Verdict: runs.Verdict{Against: "λ = 0"},
				Models: []runs.Model{{Name: "λ = 0", Phi: 7, TestLoss: 0.75, TestAccuracy: runs.Unknown()},
					{Name: "tuned", Phi: 1}}}})
	}
	r := &Result{Spec: s, Processes: 2, Rankings: []*Ranking{k}}
	testkit.OK(r.rank())
	return r
}

// TestTable compares the table of runs with one that was read through by hand.
func TestTable(t *testing.T) {
	var b bytes.Buffer
	testkit.OK(handmade(t).WriteCSV(&b))
	path := filepath.Join("testdata", CSVFile)
	if *update {
		testkit.OK(os.WriteFile(path, b.Bytes(), 0o644))
	}
	if want := testkit.Get(os.ReadFile(path)); !bytes.Equal(b.Bytes(), want) {
		t.Errorf("%s is\n%s\nwant\n%s", CSVFile, &b, want)
	}
}

// TestSentence: the page names who has the lowest Φ and who the lowest test loss.
func TestSentence(t *testing.T) {
	const want = "Lowest Φ: newtoncg, 3.625; the best without tuning has 7. Lowest test loss: dsoba, 0.5; newtoncg " +
		"has 0.59375."
	if got := handmade(t).Rankings[0].Sentence(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// TestUnlikeProblems: runs with other data than the first one's are not ranked with it.
func TestUnlikeProblems(t *testing.T) {
	r := handmade(t)
	r.Rankings[0].Entries[1].Trials()[1].Config.Agents = 5
	if err := r.rank(); err == nil {
		t.Error("want an error")
	}
}

// TestUnknownComesLast: entries are in the order of their values, those without one at the end.
func TestUnknownComesLast(t *testing.T) {
	values := map[string]float64{"none": math.NaN(), "large": 2, "nor": math.NaN(), "small": -1, "endless": math.Inf(1)}
	var entries []*Entry
	for _, name := range []string{"none", "large", "nor", "endless", "small"} {
		entries = append(entries, newEntry(Method{Name: name}))
	}
	var got []string
	for _, e := range sortedBy(entries, func(e *Entry) float64 { return values[e.Method.Name] }) {
		got = append(got, e.Method.Name)
	}
	if want := []string{"small", "large", "endless", "none", "nor"}; !slices.Equal(got, want) {
		t.Errorf("the order is %v, want %v", got, want)
	}
}
