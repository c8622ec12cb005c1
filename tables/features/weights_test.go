package features_test

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"dsbo/internal/testkit"
	"dsbo/tables"
	"dsbo/tables/features"
)

// weighedRows are columns of 60 rows, each as often as times has it: a number with blanks, words
// with rare ones, a class, a set, and the weight of each.
func weighedRows(times func(row int) int, weight func(row int) float32) []*tables.Column {
	var a, w []float32
	var words, classes, split []string
	for row := range 60 {
		for range times(row) {
			v := float32(row*row%17) + .5
			if row%11 == 0 {
				v = float32(math.NaN())
			}
			a, w = append(a, v), append(w, weight(row))
			words = append(words, []string{"red", "blue", "green", "rare"}[min(3, row%30/9)])
			classes = append(classes, []string{"ill", "well"}[row*row%7%2])
			split = append(split, []string{"train", "train", "validation", "test"}[row%4])
		}
	}
	return []*tables.Column{tables.NumberColumn("a", a), tables.NumberColumn("w", w),
		tables.WordColumn("colour", words), tables.WordColumn("state", classes), tables.WordColumn("set", split)}
}

// TestWeightsAreRepetitions: a row of weight k is k rows, and one of weight 0 is not there, in
// means, deviations, the words and classes that are named, indicators of blanks, and the numbers of
// rows. Of weights that are not whole means are weighted, and rows are as many as tell as much.
func TestWeightsAreRepetitions(t *testing.T) {
	k := func(row int) int { return []int{0, 1, 3, 2, 9}[row%5] }
	of := func(times func(int) int, weight func(int) float32, name string) *features.Prepared {
		return preparedWith(t, weighedRows(times, weight), name)
	}
	once := func(int) int { return 1 }
	repeated := of(k, func(int) float32 { return 1 }, "")
	for _, c := range []struct {
		name string
		got  *features.Prepared
		rows float64 // share of the rows when repeated
	}{
		{"whole", of(once, func(row int) float32 { return float32(k(row)) }, "w"), 1},
		{"ones", of(k, func(int) float32 { return 1 }, "w"), 1},
		// (Σ w)²/Σ w² with w = k/2: 12 rows each of 1, 2, 3 and 9, of (12·15)²/(12·95) = 28.4 for
		// 180
		{"halves", of(once, func(row int) float32 { return float32(k(row)) / 2 }, "w"), 28.421 / 180},
	} {
		// fewer words have the rows to be features
		ignored := cmpopts.IgnoreFields(features.Input{}, "Words", "Rare", "Dropped")
		if c.rows == 1 {
			ignored = cmpopts.IgnoreFields(features.Input{})
		}
		if diff := cmp.Diff(repeated.Recipe, c.got.Recipe, cmpopts.EquateApprox(1e-12, 0), ignored); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		for set, rows := range repeated.Rows {
			if got := c.got.Rows[set]; !(math.Abs(float64(got)-float64(float64(rows)*c.rows)) <= .51) {
				t.Errorf("%s: %d rows of set %d, want %g of %d", c.name, got, set, c.rows, rows)
			}
		}
		sum := 0.0
		test := c.got.Data.Shards[0].Test
		for row := range test.Len() {
			sum += test.Rows(row)
		}
		if !(math.Abs(sum-float64(c.got.Rows[2])) <= .5) || c.got.Whole != (c.rows == 1) {
			t.Errorf("%s: test rows count %g, want %d; whole is %v", c.name, sum, c.got.Rows[2], c.got.Whole)
		}
	}
}

// preparedWith prepares columns by their sets and weights.
func preparedWith(t *testing.T, columns []*tables.Column, weight string) *features.Prepared {
	t.Helper()
	if weight == "" {
		columns = slices.Delete(columns, 1, 2)
	}
	table := testkit.Get(tables.New("site.csv", columns...))
	s := features.Sites{Tables: []*tables.Table{table}, Seed: 1, Collective: alone(t, 1)}
	return testkit.Get(features.Prepare(s, features.Options{Target: "state", SplitColumn: "set", Weight: weight,
		Rare:    10,
		Missing: features.MeanOfOthers}))
}

// TestLargestCount: the largest prediction is (Σ c⁴)^¼ over the training rows of all sites: about
// the largest count where a few rows have most of all, and n^¼ times it where all are alike. A row
// of weight k is k rows.
func TestLargestCount(t *testing.T) {
	for _, c := range []struct {
		counts [2][]float32 // training rows of each site
		weight float32      // of the first row
		want   float64
	}{
		{[2][]float32{{0, 1, 2, 0}, {1, 88, 0, 3}}, 1, 88.000036}, // (1 + 16 + 1 + 81)/(4·88³) more
		{[2][]float32{{3, 3, 3, 3, 3, 3, 3, 2}, {3, 3, 3, 3, 3, 3, 3, 2}}, 1, math.Pow(14*81+2*16, .25)},
		{[2][]float32{{3, 3, 3, 3, 3, 3, 3, 2}, {3, 3, 3, 3, 3, 3, 3, 2}}, 5, math.Pow(22*81+2*16, .25)},
	} {
		s := features.Sites{Seed: 1, Collective: alone(t, 2)}
		for _, counts := range c.counts {
			counts = append(slices.Clone(counts), 1e4, 1e4) // of rows that do not train
			split := slices.Repeat([]string{"train"}, len(counts))
			split[len(split)-2], split[len(split)-1] = "validation", "test"
			weights := slices.Repeat([]float32{1}, len(counts))
			weights[0] = c.weight
			s.Tables = append(s.Tables, testkit.Get(tables.New("", tables.NumberColumn("n", counts),
				tables.NumberColumn("x", numbersOf(len(counts), 3)), tables.WordColumn("set", split),
				tables.NumberColumn("w", weights))))
		}
		p := testkit.Get(features.Prepare(s, features.Options{Target: "n", Kind: features.Counts, SplitColumn: "set",
			Weight: "w", Missing: features.MeanOfOthers}))
		if got := p.Recipe.Target.Most; !(math.Abs(got/c.want-1) <= 1e-8) {
			t.Errorf("%v: the largest prediction is %.9g, want %.9g", c.counts, got, c.want)
		}
	}
}

// An echo is a collective of two sites of which the other one is as the one that is here.
type echo struct{}

func (echo) Sum(_ string, dst []float64, fill func(i int, part []float64) error) error {
	part := make([]float64, len(dst))
	err := fill(0, part)
	for k, v := range part {
		dst[k] = 2 * v
	}
	return err
}

func (echo) Texts(_ string, of func(i int) (string, error)) ([]string, error) {
	text, err := of(0)
	return []string{text, text}, err
}

// TestOwnRows: the rows of each site are known to all, and how many of each class a site has to a
// process that has no other one.
func TestOwnRows(t *testing.T) {
	k := func(row int) int { return []int{0, 1, 3, 2, 9}[row%5] }
	columns := weighedRows(func(int) int { return 1 }, func(row int) float32 { return float32(k(row)) })
	table := testkit.Get(tables.New("site.csv", columns...))
	o := features.Options{Target: "state", SplitColumn: "set", Weight: "w", Rare: 10, Missing: features.MeanOfOthers}
	s := features.Sites{Tables: []*tables.Table{table, nil}, Seed: 1, Collective: echo{}}
	p := testkit.Get(features.Prepare(s, o))
	if r := p.OfSites; len(r) != 2 || r[0] != r[1] || 2*r[0][0] != p.Rows[0] || 2*r[0][2] != p.Rows[2] {
		t.Errorf("rows %v of all, %v of sites", p.Rows, p.OfSites)
	}
	if len(p.OwnRows) != 2 || 2*p.OwnRows[0] != p.Classes[0] || 2*p.OwnRows[1] != p.Classes[1] {
		t.Errorf("classes %v of all, %v of this site", p.Classes, p.OwnRows)
	}
}
