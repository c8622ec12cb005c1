package features_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/tables/features"
)

// TestSplitColumn: each site must have rows to train and rows to validate by; with cross-validation
// either kind does both.
func TestSplitColumn(t *testing.T) {
	const both, noValidation = "train validation train validation test", "train train test"
	text := func(sets string) string {
		text := "x,s,y:"
		for k, set := range strings.Fields(sets) {
			text += fmt.Sprintf(" %d,%s,%s", k, set, []string{"ill", "well"}[k%2])
		}
		return text
	}
	for _, c := range []struct {
		second string // the sets of the second site's rows, 12 times
		folds  int
		most   int // rows up to which there are folds; 0: any
		train  int // rows of both
		want   string
	}{
		{both, 0, 0, 48, ""},
		{noValidation, 0, 0, 0, "site 1 (1.csv), column s: there must be a row with validation; there is none"},
		{"validation test", 0, 0, 0, "site 1 (1.csv), column s: there must be a row with train; there is none"},
		{noValidation, 2, 0, 72, ""}, {"validation", 2, 0, 60, ""}, {noValidation, 2, 2000, 72, ""},
		{noValidation, 2, 72, 72, ""},
		{noValidation, 2, 71, 0, "site 1 (1.csv), column s: there must be a row with validation; there is none"},
		{"test test", 2, 0, 0, "site 1 (1.csv), column s: there must be a row with train or validation; there is none"},
	} {
		p, err := prepareTexts(t, by(func(o *features.Options) {
			o.SplitColumn, o.Folds, o.FoldRows = "s", c.folds, c.most
		}), text(both), text(c.second))
		if c.want != "" {
			testkit.WantError(t, c.second, err, dsbo.ErrConfig, c.want)
			continue
		}
		said := strings.Contains(strings.Join(p.Notes, "\n"), "dealt to 2 folds together")
		if testkit.OK(err); p.Rows[0] != c.train || p.Folds != c.folds || said != (c.folds > 0) {
			t.Errorf("%+v: %d training rows, %d folds, notes %q", c, p.Rows[0], p.Folds, p.Notes)
		}
		for i, shard := range p.Data.Shards {
			if c.folds > 0 && !slices.Equal([]int{shard.Val.Len(), shard.Val.Weight.Cols()},
				[]int{shard.Train.Len(), c.folds}) {
				t.Errorf("site %d: %d of %d training rows validate", i, shard.Val.Len(), shard.Train.Len())
			}
		}
	}
}
