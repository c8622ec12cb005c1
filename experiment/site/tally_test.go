package site

import (
	"errors"
	"maps"
	"path/filepath"
	"testing"

	"dsbo/internal/testkit"
	"dsbo/network"
)

// TestTallyOfProcesses: counts add up over the processes of an agent; of a killed one up to its
// last save. What an earlier version counted has no name. A report has the phases in the order of a
// run, whichever was counted first.
func TestTallyOfProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sent.json")
	first := testkit.Get(OpenTally(path))
	testkit.OK(first.Join(1, []int{0, 1, 2}))
	first.Label(network.Carried{Name: "classes", Way: network.ByText, Numbers: 6, Text: `["ill"]`})
	first.Count(1, 80)
	testkit.OK(first.SaveCounts())
	second := testkit.Get(OpenTally(path)) // the first one is killed
	testkit.OK(second.Join(2, []int{0, 1}))
	second.Label(network.Carried{Way: network.BySum, Numbers: 2})
	second.Count(1, 20)
	testkit.OK(second.Finish())
	third := testkit.Get(OpenTally(path))
	testkit.OK(third.Join(3, []int{0, 1}))
	r := third.Make(Report{}, new(Guard))
	if want := (count{2, 100}); !third.HasSent() || r.All != want || r.Starts != 3 || r.Killed != 1 ||
		len(r.Sessions) != 3 || r.Rows[0].Name != "classes" || r.Rows[1].Name != Unnamed {
		t.Errorf("%+v", r)
	}
	if masked := third.Make(Report{Masked: true}, new(Guard)); r.Rows[1].SeenBy != "its neighbours in the tree" ||
		masked.Rows[1].SeenBy != Observers[network.BySum] {
		t.Errorf("%q see a sum, masked %q", r.Rows[1].SeenBy, masked.Rows[1].SeenBy)
	}
	third.Begin(Evaluation)
	third.Label(network.Carried{Way: network.BySum, Numbers: 3})
	third.Begin(Iterations)
	third.Label(network.Carried{Way: network.BySum, Numbers: 4})
	if r := third.Make(Report{}, new(Guard)); r.Rows[2].Phase != Iterations || r.Rows[3].Phase != Evaluation {
		t.Errorf("%+v are not in the order of a run", r.Rows)
	}
}

// TestLabel: what is counted goes to the row of the last label's first quantity, once each for all;
// without a quantity, and once a phase begins, to the row of progress. Quantities of two names have
// two rows, however alike they are.
func TestLabel(t *testing.T) {
	tally := testkit.Get(OpenTally(filepath.Join(t.TempDir(), "sent.json")))
	tally.Begin(Iterations)
	sum, group := network.Carried{Name: "gradients", Numbers: 2}, network.Carried{Name: "losses", Numbers: 3,
		Group: true}
	other := sum
	other.Name = "residuals"
	tally.Label(other)
	tally.Label(sum, group)
	tally.Count(1, 16)
	tally.Label()
	tally.Count(1, 8)
	tally.Label(group)
	tally.Count(2, 24)
	tally.Begin(Iterations)
	tally.Count(2, 4)
	of := func(phase string, w network.Carried) key {
		w.Group = false
		return key{phase, w}
	}
	for k, want := range map[key]row{
		of(Iterations, sum):   {Times: 1, To: map[int]count{1: {1, 16}}},
		of(Evaluation, group): {Times: 2, To: map[int]count{2: {1, 24}}},
		of(Iterations, other): {Times: 1},
		progress(Iterations):  {To: map[int]count{1: {1, 8}, 2: {1, 4}}},
	} {
		if got := tally.row(k); got.Times != want.Times || !maps.Equal(got.To, want.To) {
			t.Errorf("%+v: %d times, %v; want %d times, %v", k, got.Times, got.To, want.Times, want.To)
		}
	}
	var none *Tally // which counts nothing
	none.Begin(Iterations)
	none.Label(other)
	testkit.OK(errors.Join(none.Join(1, nil), none.SaveCounts()))
	if len(tally.of.Rows) != 4 {
		t.Errorf("%d rows are counted, want 4: %+v", len(tally.of.Rows), tally.of.Rows)
	}
}
