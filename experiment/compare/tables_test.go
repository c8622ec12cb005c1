package compare

import (
	"bytes"
	"flag"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	k := &ranking{Task: s.Tasks[0], Spec: s}
	for i, m := range s.Methods {
		e := newEntry(m)
		e.search = m.Grid.search(0)
		e.search.best = make([]int, len(m.Grid))
		for n := range m.Grid.points() {
			point := make([]int, len(m.Grid))
			if len(point) > 0 {
				point[0] = n
			}
			e.search.tried = append(e.search.tried, point)
			for _, seed := range s.Seeds {
				trial := &trial{Task: s.Tasks[0].Name, Method: m.Name, Point: m.Grid.String(point), Seed: seed,
					Folder: "out", State: notApplicable, Error: "dascgd is for others"}
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
					trial.Summary = runs.Summary{TestLossTuned: runs.Unknown(), Best: 2}
				}
				e.points[trial.Point] = append(e.points[trial.Point], trial)
			}
		}
		if i == 0 {
			e.search.best = []int{1}
		}
		k.Entries = append(k.Entries, e)
	}
	k.untuned = newEntry(untuned)
	k.untuned.search = &search{tried: [][]int{nil}}
	for _, seed := range s.Seeds {
		k.untuned.points[""] = append(k.untuned.points[""], &trial{Task: k.Task.Name,
			Method: untuned.Name, Seed: seed,
			State: runs.Finished, Summary: runs.Summary{Verdict: runs.Verdict{Against: "λ = 0"},
				Models: []runs.Model{{Name: "λ = 0", Phi: 7, TestLoss: 0.75, TestAccuracy: runs.Unknown()},
					{Name: "tuned", Phi: 1}}}})
	}
	r := &Result{Spec: s, Processes: 2, Rankings: []*ranking{k}}
	testkit.OK(r.rank())
	return r
}

// TestTable compares the table of runs with one that was read through by hand.
func TestTable(t *testing.T) {
	var b bytes.Buffer
	testkit.OK(handmade(t).writeCSV(&b))
	path := filepath.Join("testdata", csvFile)
	if *update {
		testkit.OK(os.WriteFile(path, b.Bytes(), 0o644))
	}
	if want := testkit.Get(os.ReadFile(path)); !bytes.Equal(b.Bytes(), want) {
		t.Errorf("%s is\n%s\nwant\n%s", csvFile, &b, want)
	}
}

// TestSentenceOfTies: all that are as low are named, and what is untuned where no method is lower.
func TestSentenceOfTies(t *testing.T) {
	for name, c := range map[string]struct {
		phi, loss [3]float64 // of dsoba, newtoncg, best untuned
		want      string
	}{
		"alike to five digits": {[3]float64{3.0000001, 3, 4}, [3]float64{1, 1, 1},
			"Lowest Φ: dsoba and newtoncg, 3; best untuned has 4. " +
				"Lowest test loss: dsoba and newtoncg and best untuned, 1."},
		"in the fifth digit": {[3]float64{3.0001, 3, 4}, [3]float64{1, 2, 3},
			"Lowest Φ: newtoncg, 3; best untuned has 4. Lowest test loss: dsoba, 1; newtoncg has 2."},
		"worse than untuned": {[3]float64{5, 6, 4}, [3]float64{2, 2, 1},
			"Lowest Φ: best untuned, 4; dsoba has 5. Lowest test loss: best untuned, 1; dsoba has 2."},
		"as good as untuned": {[3]float64{5, 4, 4}, [3]float64{2, 2, 2.1},
			"Lowest Φ: newtoncg and best untuned, 4. Lowest test loss: dsoba and newtoncg, 2."},
		"below 0": {[3]float64{-5, -6, -4}, [3]float64{-2, -3, -1},
			"Lowest Φ: newtoncg, -6; best untuned has -4. Lowest test loss: newtoncg, -3."},
		"losses unknown": {[3]float64{5, 6, math.NaN()}, [3]float64{math.NaN(), math.NaN(), math.NaN()},
			"Lowest Φ: dsoba, 5."},
	} {
		k := handmade(t).Rankings[0]
		for i, e := range []*entry{k.Entries[0], k.Entries[1], k.untuned} {
			for _, trial := range e.Best {
				trial.Records = []runs.Record{{Phi: runs.Number(c.phi[i]), TestLoss: runs.Number(c.loss[i])}}
				trial.Summary = runs.Summary{TestLossTuned: runs.Number(c.loss[i])}
			}
		}
		if got := k.sentence(); got != c.want {
			t.Errorf("%s: %s\nwant %s", name, got, c.want)
		}
	}
}

// TestNoBestPoint: a method whose runs have no result has no best point of its grid.
func TestNoBestPoint(t *testing.T) {
	for state, want := range map[runs.State]string{runs.Finished: "alpha=1", runs.Diverged: "", refused: ""} {
		k := handmade(t).Rankings[0]
		for _, trial := range k.Entries[0].Best {
			trial.State = state
		}
		for _, row := range k.Table() {
			if got := row[len(row)-2]; row[0] == "dsoba" && got != want {
				t.Errorf("%s: %q, want %q", state, got, want)
			}
		}
	}
}

// TestNoteOfStates: a row without numbers says with how many seeds its runs ended in which way.
func TestNoteOfStates(t *testing.T) {
	for want, states := range map[string][]runs.State{
		"":                          {runs.Finished, runs.Finished},
		"refused":                   {refused, refused, refused},
		"refused with 1 of 3 seeds": {runs.Finished, refused, runs.Finished},
		"diverged with 1 of 4 seeds; refused with 2 of 4 seeds": {refused, runs.Diverged, runs.Finished, refused},
	} {
		e := &entry{}
		for _, state := range states {
			e.Best = append(e.Best, &trial{State: state})
		}
		if got := e.note(); got != want {
			t.Errorf("of %v: %q, want %q", states, got, want)
		}
	}
}

// TestHintOfCriteria: the page says that the losses that chose the best points are of iterates.
func TestHintOfCriteria(t *testing.T) {
	for choose, want := range map[quantity]string{
		phi: "The table is of models that are solved to the end, figures are of the iterates.",
		valLoss: "Test losses are of models that are solved to the end, validation loss and figures are of the " +
			"iterates.",
	} {
		k := handmade(t).Rankings[0]
		if k.Spec.Choose = choose; !strings.Contains(prose("hint", k), want) {
			t.Errorf("%s: %s", choose, prose("hint", k))
		}
	}
}

// TestUnknownComesLast: entries are in the order of their values, those without one at the end.
func TestUnknownComesLast(t *testing.T) {
	values := map[string]float64{"none": math.NaN(), "large": 2, "nor": math.NaN(), "small": -1, "endless": math.Inf(1)}
	var entries []*entry
	for _, name := range []string{"none", "large", "nor", "endless", "small"} {
		entries = append(entries, newEntry(method{Name: name}))
	}
	var got []string
	for _, e := range sortedBy(entries, func(e *entry) float64 { return values[e.Method.Name] }) {
		got = append(got, e.Method.Name)
	}
	if want := []string{"small", "large", "endless", "none", "nor"}; !slices.Equal(got, want) {
		t.Errorf("the order is %v, want %v", got, want)
	}
}
