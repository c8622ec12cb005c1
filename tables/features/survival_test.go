package features_test

import (
	"strings"
	"testing"

	"dsbo/internal/testkit"
	"dsbo/tables"
	"dsbo/tables/features"
)

// TestFewEvents: with fewer than 50 training events the best of several λ is noted as optimistic,
// where folds choose it; with fewer than 10 nothing is learned.
func TestFewEvents(t *testing.T) {
	for _, c := range []struct {
		events, folds int
		noted         bool
	}{{49, 5, true}, {50, 5, false}, {49, 0, false}, {10, 5, true}, {9, 5, false}} {
		event := make([]float32, 80)
		for row := range c.events {
			event[row] = 1
		}
		table := testkit.Get(tables.New("site.csv", tables.NumberColumn("months", numbersOf(80, 1)),
			tables.NumberColumn("dead", event), tables.NumberColumn("age", numbersOf(80, 3))))
		p, err := features.Prepare(features.Sites{Tables: []*tables.Table{table}, Seed: 1, Collective: alone(t, 1)},
			features.Options{Target: "months", Kind: features.Survival, Event: "dead", Folds: c.folds,
				Split: features.Shares{1, 0, 0}, Missing: features.MeanOfOthers})
		if (err != nil) != (c.events < 10) {
			t.Fatalf("%d events: %v", c.events, err)
		}
		if err == nil && strings.Contains(strings.Join(p.Notes, "\n"), "fewer than 50 events") != c.noted {
			t.Errorf("%d events, %d folds: %q", c.events, c.folds, p.Notes)
		}
	}
}
