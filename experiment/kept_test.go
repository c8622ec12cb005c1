package experiment

import (
	"strings"
	"testing"

	"dsbo/runs"
	"dsbo/train"
)

// TestRiseNotes: over-fitting is noted after two records in a row whose held-out loss is above the
// least by more than chance, where the printed losses show it; a run that ended early says why.
func TestRiseNotes(t *testing.T) {
	records := func(holdout, val runs.Number) []runs.Record {
		return []runs.Record{{Iteration: 0, HoldoutLoss: 0.5, ValLoss: 0.5},
			{Iteration: 3, HoldoutLoss: 0.0301, ValLoss: 0.03}, {Iteration: 6, HoldoutLoss: holdout, ValLoss: val}}
	}
	const overfit, ended = "fit the validation examples alone", "ended after 6 of 9"
	for name, c := range map[string]struct {
		holdout, val runs.Number
		rose, all    int
		want, not    string
	}{
		"once":            {0.04, 0.02, 1, 9, "", overfit},
		"twice":           {0.04, 0.02, 2, 6, "After iteration 3 the held-out loss rose (0.0301 → 0.0400)", ended},
		"ended":           {0.04, 0.02, 2, 9, "Therefore the iterations " + ended, "chance"},
		"digits alike":    {0.03013, 0.02, 2, 6, "", overfit},
		"ended, alike":    {0.03013, 0.02, 3, 9, "3 evaluations the held-out loss was above iteration 3's", overfit},
		"validation":      {0.04, 0.03004, 2, 6, "", overfit},
		"validation rose": {0.04, 0.05, 2, 9, ended, overfit},
	} {
		best := train.Best{Iteration: 3, Rose: c.rose}
		notes := strings.Join(riseNotes(records(c.holdout, c.val), best, 6, c.all, "λ"), " ")
		if !strings.Contains(notes, c.want) || c.want == "" && notes != "" || strings.Contains(notes, c.not) {
			t.Errorf("%s: notes %q must have %q and not %q", name, notes, c.want, c.not)
		}
	}
}
