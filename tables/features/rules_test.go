package features_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/tables"
	"dsbo/tables/features"
)

// TestRowsGoWhereTheyLack: row after row goes to the set that lacks most, of equal ones to the
// first; classes that are one row each keep the rows in their order. Each set with a share gets
// a row.
func TestRowsGoWhereTheyLack(t *testing.T) {
	for _, c := range []struct {
		n      int
		shares features.Shares
		want   string // the sets of rows; "": an error
	}{
		{6, features.Shares{0.5, 0.25, 0.25}, "tvsttv"},
		{8, features.Shares{0.5, 0.25, 0.25}, "tvsttvst"},
		{5, features.Shares{0.8, 0.1, 0.1}, "sttvt"}, // the third set would have none
		{4, features.Shares{0.5, 0.5, 0}, "tvtv"},
		{3, features.Shares{0.5, 0.25, 0.25}, "tvs"},
		{2, features.Shares{0.5, 0.25, 0.25}, ""},
		{2, features.Shares{0.5, 0.5, 0}, "tv"},
		{6, features.Shares{0.98, 0.01, 0.01}, "vstttt"},
	} {
		classes, got := make([]int32, c.n), ""
		for row := range classes {
			classes[row] = int32(row)
		}
		sets, err := features.SplitRows(c.n, classes, c.shares)
		for _, k := range sets {
			got += "tvs"[k : k+1]
		}
		if got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%d rows by shares %v go to %s, want %s; error %v", c.n, c.shares, got, c.want, err)
		}
	}
}

// TestShares: shares sum to 1 within a thousandth, percentages to 100 within a tenth, and ratios
// are whole numbers below 10.
func TestShares(t *testing.T) {
	for text, want := range map[string]features.Shares{
		"0.5:0.25:0.25": {0.5, 0.25, 0.25}, "0.6:0.4": {0.6, 0.4, 0}, "50:25:25": {0.5, 0.25, 0.25},
		"2:1:1": {0.5, 0.25, 0.25}, "9:9:0": {0.5, 0.5, 0}, "0.5:0.4995": {0.5 / 0.9995, 0.4995 / 0.9995, 0},
		"50:49.95": {50 / 99.95, 49.95 / 99.95, 0}, "60:40": {0.6, 0.4, 0},
		"0.5:0.498": {}, "50:49.8": {}, "5:2.5:2.5": {}, "10:5:5": {}, "1:0": {}, "0:1": {}, "1": {}, "1:1:1:1": {},
		"-1:2": {}, "NaN:1": {}, "x:1": {}, "0.5:0.4988": {}, "50:49.88": {},
		"50:50.15": {}, "1e7:1": {}, "2e6:2e6": {}, "0.5:0.5:": {},
	} {
		var got features.Shares
		err := got.UnmarshalText([]byte(text))
		if (err != nil) != (want == features.Shares{}) {
			t.Errorf("shares %s: error %v", text, err)
		}
		for k := range got {
			if err == nil && !(math.Abs(got[k]-want[k]) <= 1e-15) {
				t.Errorf("shares %s are %v, want %v", text, got, want)
			}
		}
	}
}

// TestClassCodes: classes are numbered as they appear, be they numbers or words.
func TestClassCodes(t *testing.T) {
	for _, c := range []*tables.Column{tables.NumberColumn("y", []float32{7, 2, 7, 5}),
		tables.WordColumn("y", []string{"b", "a", "b", "c"})} {
		got := features.ClassCodes(c, 4)
		if got[0] != got[2] || got[0] == got[1] || got[1] == got[3] || got[3] == got[0] {
			t.Errorf("classes %v", got)
		}
	}
}

// TestFoldsAreDealt: folds differ by a row at most, all together and of each class, test rows are
// in none, and sites are dealt differently.
func TestFoldsAreDealt(t *testing.T) {
	const rows, folds, train, test = 47, 5, 0, 2
	classes := make([]int32, rows)
	for row := range classes {
		classes[row] = int32(row % 7 / 4)
	}
	deal := func(site int) ([]uint8, []int) {
		before, err := features.SplitRows(rows, classes, features.DefaultShares)
		testkit.OK(err)
		tests := 0
		for _, k := range before {
			if k == test {
				tests++
			}
		}
		sets, of := features.Fold(before, folds, classes, nil, site)
		if len(of) != rows-tests {
			t.Errorf("%d rows are in folds, want %d", len(of), rows-tests)
		}
		var list []uint8
		for _, k := range sets {
			list = append(list, uint8(k))
		}
		return list, of
	}
	sets, of := deal(0)
	count, next := map[[2]int]int{}, 0
	for row, k := range sets {
		if k == train {
			count[[2]int{int(classes[row]), of[next]}]++
			count[[2]int{-1, of[next]}]++
			next++
		} else if k != test {
			t.Errorf("row %d is in set %d", row, k)
		}
	}
	for class := -1; class < 2; class++ {
		var sizes []int
		for k := range folds {
			sizes = append(sizes, count[[2]int{class, k}])
		}
		if slices.Max(sizes)-slices.Min(sizes) > 1 {
			t.Errorf("of class %d the folds have %v rows", class, sizes)
		}
	}
	if _, other := deal(1); slices.Equal(of, other) {
		t.Error("two sites deal their rows alike")
	}
}

// TestCountedRows: where rows stand for several, each set has its share of all that they stand for,
// and folds differ, by the largest of them at most.
func TestCountedRows(t *testing.T) {
	const rows, folds = 120, 5
	count := func(row int) float64 { return []float64{1, 1, 12}[row%3] }
	of, err := features.SplitCounted(rows, nil, count, features.DefaultShares)
	testkit.OK(err)
	have, dealt := make([]float64, 3), make([]float64, folds)
	for row, k := range of {
		have[k] += count(row)
		of[row] = 0
	}
	_, fold := features.Fold(of, folds, nil, count, 0) // all rows train
	for row, k := range fold {
		dealt[k] += count(row)
	}
	for k, share := range features.DefaultShares {
		if want := share * 40 * 14; !(math.Abs(have[k]-want) <= 12) {
			t.Errorf("set %d has %g rows, want %g", k, have[k], want)
		}
	}
	if len(fold) != rows || slices.Max(dealt)-slices.Min(dealt) > 12 {
		t.Errorf("%d rows are in folds of %v", len(fold), dealt)
	}
}

// TestWholeWeights: whole weights count rows, up to 2⁵⁰ of them in all.
func TestWholeWeights(t *testing.T) {
	for weight, counted := range map[float32]bool{1 << 40: true, 1 << 46: false, 1.5: false} {
		p := testkit.Get(prepareOne(t, 60, "y", func(o *features.Options) { o.Weight = "w" },
			tables.NumberColumn("y", numbersOf(60, 2)), tables.NumberColumn("w", slices.Repeat([]float32{weight}, 60))))
		if p.Whole != counted {
			t.Errorf("60 rows of weight %g count rows: %t", weight, p.Whole)
		}
	}
}

// TestWordsChosen: words in as many training rows as the bound become features, and all others one
// together, if there are any. The bound counts all rows: of training rows their share of it.
func TestWordsChosen(t *testing.T) {
	names := []string{"a", "b", "c"}
	for _, c := range []struct {
		rows    int
		test    int
		missing float64
		counts  []float64
		want    features.Input
	}{
		{30, 10, 0, []float64{8, 22, 0}, features.Input{Words: []string{"a", "b"}}},
		{30, 10, 0, []float64{7, 23, 0}, features.Input{Words: []string{"b"}, Rare: true}},
		{30, 0, 0, []float64{10, 20, 0}, features.Input{Words: []string{"a", "b"}}},
		{30, 0, 0, []float64{9, 21, 0}, features.Input{Words: []string{"b"}, Rare: true}},
		{30, 0, 1, []float64{10, 19, 0}, features.Input{Words: []string{"a", "b"}, Indicator: true}},
		{31, 0, 0, []float64{10, 20, 0}, features.Input{Words: []string{"a", "b"}, Rare: true}},
		{30, 0, 0, []float64{30, 0, 0}, features.Input{Dropped: `all training rows have "a"`}},
		{30, 0, 0, []float64{9, 9, 9}, features.Input{Dropped: "no word is in 10 rows"}},
		{30, 0, 1, []float64{9, 9, 9}, features.Input{Rare: true, Indicator: true}},
		{30, 0, 30, []float64{0, 0, 0}, features.Input{Dropped: "all values of training rows are missing"}},
	} {
		in := features.Input{Kind: tables.Word}
		rows := features.ChooseWords(&in, c.rows, c.test, 10, names, c.missing, c.counts)
		if c.want.Kind = tables.Word; fmt.Sprintf("%+v", in) != fmt.Sprintf("%+v", c.want) {
			t.Errorf("counts %v of %d rows, of which %g are missing:\n%+v, want\n%+v", c.counts, c.rows, c.missing, in,
				c.want)
		}
		for k, name := range in.Words {
			if len(rows) != len(in.Words) || rows[k] != c.counts[slices.Index(names, name)] {
				t.Errorf("counts %v: words %q are in %v training rows", c.counts, in.Words, rows)
			}
		}
	}
}

// TestBalanceOfClasses: with training rows, each class weighs its part of all; one without keeps 1.
func TestBalanceOfClasses(t *testing.T) {
	if got := features.Balance([]float64{1, 0, .5}); !slices.Equal(got, []float64{0.75, 1, 1.5}) {
		t.Errorf("the factors of classes of 1, 0 and 1/2 rows are %v, want 3/4, 1 and 3/2", got)
	}
}

// TestMoments: a column with one value is dropped, unless it tells by what is missing; and numbers
// out of all proportion are refused beyond 2^16 of their usual distance or 2^40 of their size.
func TestMoments(t *testing.T) {
	refused := features.Input{Name: "refused"}
	for name, c := range map[string]struct {
		m    features.Measured
		want features.Input
	}{
		"numbers": {features.Measured{Rows: 9, Mean: 3, Deviation: 2, Step: 1, Scale: 1},
			features.Input{Mean: 3, Deviation: 2}},
		"none": {features.Measured{Missing: 9}, features.Input{Dropped: "all values of training rows are missing"}},
		"one": {features.Measured{Rows: 9, Mean: 3, Constant: true},
			features.Input{Dropped: "all training rows have one value"}},
		"one, some missing": {features.Measured{Rows: 8, Missing: 1, Mean: 3, Constant: true},
			features.Input{Mean: 3, Deviation: 1, Indicator: true}},
		"just in proportion": {features.Measured{Rows: 9, Deviation: 1 << 16, Step: 1, Scale: 1},
			features.Input{Deviation: 1 << 16}},
		"as far as its size": {features.Measured{Rows: 9, Deviation: 1 << 40, Step: 1 << 24, Scale: 1},
			features.Input{Deviation: 1 << 40}},
		"a few far off":   {features.Measured{Rows: 9, Deviation: 1<<16 + 1, Step: 1, Scale: 1}, refused},
		"beyond its size": {features.Measured{Rows: 9, Deviation: 1<<40 + 1<<20, Step: 1 << 25, Scale: 1}, refused},
	} {
		var in features.Input
		err := features.SetMoments(&in, c.m)
		if (err != nil) != (c.want.Name != "") ||
			err == nil && fmt.Sprintf("%+v", in) != fmt.Sprintf("%+v", c.want) {
			t.Errorf("%s: %+v, want %+v; error %v", name, in, c.want, err)
		}
	}
}

// prepareOne prepares one site of a number x and what is beside it.
func prepareOne(t *testing.T, rows int, target string, more func(o *features.Options),
	columns ...*tables.Column) (*features.Prepared, error) {
	t.Helper()
	table := testkit.Get(tables.New("site.csv", append(columns, tables.NumberColumn("x", numbersOf(rows, 10)))...))
	o := features.Options{Target: target, Split: features.DefaultShares, Rare: 10, Missing: features.MeanOfOthers}
	if more != nil {
		more(&o)
	}
	return features.Prepare(features.Sites{Tables: []*tables.Table{table}, Seed: 1,
		Collective: alone(t, 1)}, o)
}

// numbersOf returns n rows that go round numbers from 0 to count-1.
func numbersOf(n, count int) []float32 {
	v := make([]float32, n)
	for row := range v {
		v[row] = float32(row % count)
	}
	return v
}

// TestClassesAllowed: a target has 2 to 256 classes; from three whole numbers on a note doubts that
// they are classes; and of one site no class is called its own.
func TestClassesAllowed(t *testing.T) {
	for count, allowed := range map[int]bool{1: false, 2: true, 3: true, 256: true, 257: false} {
		p, err := prepareOne(t, 20*count, "y", func(o *features.Options) {
			if count > 3 { // else they are numbers
				o.Kind = features.Class
			}
		}, tables.NumberColumn("y", numbersOf(20*count, count)))
		if allowed != (err == nil) {
			t.Errorf("%d classes: error %v", count, err)
		}
		if err != nil {
			testkit.WantError(t, "classes", err, dsbo.ErrConfig, "column y, the target, must have ")
			continue
		}
		notes := strings.Join(p.Notes, "\n")
		if strings.Contains(notes, "alone") {
			t.Errorf("one site has classes of its own: %q", p.Notes)
		}
		if doubted := strings.Contains(notes, "which are taken for"); doubted != (count == 3) {
			t.Errorf("%d classes: notes %q", count, p.Notes)
		}
	}
	words := tables.WordColumn("y", slices.Repeat([]string{"a", "b", "c"}, 20))
	if p := testkit.Get(prepareOne(t, 60, "y", nil, words)); len(p.Notes) != 0 {
		t.Errorf("three words are classes: notes %q", p.Notes)
	}
}

// TestWordsNamed: a site names a word that five of its rows have, whichever their sets, and the
// word is a feature if training rows have their share of the bound.
func TestWordsNamed(t *testing.T) {
	const rows = 40 // of which 30 train
	for _, c := range []struct {
		training, test int // rows of the word
		named          bool
	}{{5, 0, true}, {4, 1, true}, {4, 0, false}, {3, 2, false}, {3, 3, false}} {
		set, words := make([]string, rows), slices.Repeat([]string{"common"}, rows)
		for row := range set {
			set[row] = []string{"train", "validation", "train", "test"}[row%4]
		}
		for row, left := 0, map[bool]int{false: c.training, true: c.test}; row < rows; row++ {
			if judge := set[row] == "test"; left[judge] > 0 {
				words[row], left[judge] = "seldom", left[judge]-1
			}
		}
		options := func(o *features.Options) { o.SplitColumn, o.Folds, o.Rare = "set", 5, 5 }
		p := testkit.Get(prepareOne(t, rows, "y", options,
			tables.WordColumn("set", set), tables.WordColumn("w", words),
			tables.NumberColumn("y", numbersOf(rows, 23))))
		if got := slices.Contains(p.Recipe.Inputs[0].Words, "seldom"); got != c.named {
			t.Errorf("%+v: a feature: %t", c, got)
		}
	}
}
