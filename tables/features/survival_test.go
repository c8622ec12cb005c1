package features_test

import (
	"slices"
	"strings"
	"testing"

	"dsbo"
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

// TestFewJudgedEvents: validation rows have five events at least, and test rows where there are
// some; the notes have how many sites have no event.
func TestFewJudgedEvents(t *testing.T) {
	for _, c := range []struct {
		test              int // rows of it at each of two sites
		validated, tested int // events at the first site
		want              string
	}{
		{8, 5, 5, ""}, {0, 5, 0, ""}, {8, 4, 5, "5 events at least among the validation rows of all sites; there are"},
		{8, 5, 4, "5 events at least among the test rows of all sites; there are fewer"},
		{8, 5, 0, "5 events at least among the test rows of all sites; there are fewer"},
	} {
		s := features.Sites{Seed: 1, Collective: alone(t, 2)}
		for site := range 2 {
			split, event := slices.Repeat([]string{"train"}, 40), make([]float32, 40)
			for row := range split {
				events, of := 12, row // of the first rows of each set
				switch {
				case row < 8:
					split[row], events = "validation", c.validated
				case row < 8+c.test:
					split[row], events, of = "test", c.tested, row-8
				default:
					of -= 8 + c.test
				}
				if site == 0 && of < events {
					event[row] = 1
				}
			}
			s.Tables = append(s.Tables, testkit.Get(tables.New("", tables.NumberColumn("months", numbersOf(40, 9)),
				tables.NumberColumn("dead", event), tables.NumberColumn("age", numbersOf(40, 3)),
				tables.WordColumn("set", split))))
		}
		p, err := features.Prepare(s, features.Options{Target: "months", Kind: features.Survival, Event: "dead",
			SplitColumn: "set", Missing: features.MeanOfOthers})
		if c.want != "" {
			testkit.WantError(t, "events", err, dsbo.ErrConfig, c.want)
		} else if err != nil || !strings.Contains(strings.Join(p.Notes, "\n"), "1 of 2 sites have no event") {
			t.Errorf("%d and %d events: %v", c.validated, c.tested, err)
		}
	}
}
