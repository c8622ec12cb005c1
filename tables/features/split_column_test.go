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

// TestSplitColumn: each site must have rows to train and rows to validate by; with cross-validation
// either kind does both.
func TestSplitColumn(t *testing.T) {
	const both = "train validation train validation test"
	for name, c := range map[string]struct {
		second string // the sets of the second site's rows
		folds  int
		most   int    // rows up to which there are folds; 0: any
		says   string // "": it is allowed
	}{
		"both": {both, 0, 0, ""},
		"no validation": {"train train test", 0, 0,
			"site 1 (site1.csv), column set: there must be a row with validation; there is none"},
		"no training": {"validation test", 0, 0,
			"site 1 (site1.csv), column set: there must be a row with train; there is none"},
		"no validation, folds":          {"train train test", 2, 0, ""},
		"one row to validate by, folds": {"validation", 2, 0, ""},
		"few rows, folds":               {"train train test", 2, 1000, ""},
		"just few rows, folds":          {"train train test", 2, 36, ""}, // 24 and 12 but for the test rows
		"many rows, no folds": {"train train test", 2, 35,
			"site 1 (site1.csv), column set: there must be a row with validation; there is none"},
		"test rows alone, folds": {"test test", 2, 0,
			"site 1 (site1.csv), column set: there must be a row with train or validation; there is none"},
	} {
		t.Run(name, func(t *testing.T) {
			s := features.Sites{Collective: alone(t, 2), Seed: 1}
			train := 0
			for i, sets := range []string{both, c.second} {
				of := slices.Repeat(strings.Fields(sets), 6) // so that classes have rows enough
				numbers, classes := make([]float32, len(of)), make([]string, len(of))
				for row := range of {
					numbers[row], classes[row] = float32(row), []string{"ill", "well"}[row%2]
					if of[row] == "train" || c.folds > 0 && of[row] == "validation" {
						train++
					}
				}
				s.Tables = append(s.Tables, testkit.Get(tables.New([]string{"site0.csv", "site1.csv"}[i],
					tables.NumberColumn("age", numbers), tables.WordColumn("set", of),
					tables.WordColumn("class", classes))))
			}
			p, err := features.Prepare(s,
				features.Options{Target: "class", SplitColumn: "set", Rare: 10, Missing: features.MeanOfOthers,
					Folds: c.folds, FoldRows: c.most})
			if c.says != "" {
				testkit.WantError(t, "tables", err, dsbo.ErrConfig, c.says)
				return
			}
			if testkit.OK(err); p.Rows[0] != train || p.Folds != c.folds {
				t.Errorf("%d training rows and %d folds; want %d and %d", p.Rows[0], p.Folds, train, c.folds)
			}
			said := strings.Contains(strings.Join(p.Notes, "\n"), "dealt to 2 folds together")
			if said != (c.folds > 0) {
				t.Errorf("the notes are %q", p.Notes)
			}
			for i, shard := range p.Data.Shards {
				if c.folds > 0 && !slices.Equal([]int{shard.Val.Len(), shard.Val.Weight.Cols()},
					[]int{shard.Train.Len(), c.folds}) {
					t.Errorf("site %d: %d of %d training rows validate", i, shard.Val.Len(), shard.Train.Len())
				}
			}
		})
	}
}
