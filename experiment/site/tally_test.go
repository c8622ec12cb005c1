package site

import (
	"path/filepath"
	"testing"

	"dsbo/experiment/plan"
	"dsbo/internal/testkit"
	"dsbo/network"
)

// TestTallyOfProcesses: counts add up over the processes of an agent; of a killed one up to its
// last save. What no list has, as the run ended while it loaded, has the names of that phase. A
// report has the phases in the order of a run, whichever was counted first.
func TestTallyOfProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sent.json")
	first := testkit.Get(OpenTally(path))
	testkit.OK(first.Join(1, []int{0, 1, 2}))
	first.Label(network.Carried{Way: network.ByText, Numbers: 6, Text: `["ill"]`})
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
	if want := (Count{2, 100}); !third.HasSent() || r.All != want || r.Starts != 3 || r.Killed != 1 ||
		len(r.Sessions) != 3 || r.Rows[0].Name != plan.TextsName || r.Rows[1].Name != plan.SumsName {
		t.Errorf("%+v", r)
	}
	third.Begin(plan.Evaluation)
	third.Label(network.Carried{Way: network.BySum, Numbers: 3})
	third.Begin(plan.Iterations)
	third.Label(network.Carried{Way: network.BySum, Numbers: 4})
	if r := third.Make(Report{}, new(Guard)); r.Rows[2].Phase != plan.Iterations || r.Rows[3].Phase != plan.Evaluation {
		t.Errorf("%+v are not in the order of a run", r.Rows)
	}
}
