package features_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsbo/internal/testkit"
	"dsbo/tables"
	"dsbo/tables/features"
)

// TestNotes: what no training row had is said, with what it counts as, and nothing else is.
func TestNotes(t *testing.T) {
	r := features.Recipe{Inputs: []features.Input{
		{Name: "age", Kind: tables.Number, Deviation: 1},
		{Name: "size", Kind: tables.Number, Deviation: 1, Indicator: true},
		{Name: "colour", Kind: tables.Word, Words: []string{"red"}, Rare: true},
		{Name: "form", Kind: tables.Word, Words: []string{"flat"}},
		{Name: "site", Kind: tables.Word, Dropped: "constant"},
		{Name: "since", Kind: tables.Time, Unit: "day", Mean: 10, Deviation: 2},
	}}
	nan := float32(math.NaN())
	since := tables.NumberColumn("since", []float32{86400 * 14, 0, 86400 * 31})
	since.Kind, since.Unit = tables.Time, "s"
	e := testkit.Get(r.NewEncoder(testkit.Get(tables.New("new.csv",
		tables.NumberColumn("age", []float32{nan, 10, nan}), tables.NumberColumn("size", []float32{nan, nan, nan}),
		tables.WordColumn("colour", []string{"teal", "red", "pink"}),
		tables.WordColumn("form", []string{"", "flat", "round"}), since))))
	want := []string{
		"column age has no value in 2 of 3 rows, where no training row lacks one; it counts as the mean",
		"column colour has a word that the model does not know in 2 of 3 rows (teal, pink); it counts as a rare one",
		"column form has no value in 1 of 3 rows, where no training row lacks one; it counts as none of its words",
		"column form has a word that the model does not know in 1 of 3 rows (round); it counts as none of its words",
		"column since is more than 10 deviations from the mean of training rows (10 ± 2) in 1 of 3 rows (row 3: 31): " +
			"predictions there extrapolate",
	}
	if d := cmp.Diff(want, e.Notes()); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]float64{0, 0, 1, 0, 1, 0, 2}, row(e, len(r.Features()), 0)); d != "" { // since: 14 days
		t.Errorf("features of the first row: %s", d)
	}
}

// TestOddNames: what a user may not have meant is said: numbers with a decimal comma that are
// words, and classes that differ in capitals alone.
func TestOddNames(t *testing.T) {
	s := features.Sites{Tables: make([]*tables.Table, sites), Collective: alone(t, sites), Seed: 1}
	for i := range sites {
		var sizes, forms, classes []string
		for row := range 40 {
			sizes = append(sizes, fmt.Sprintf("-%d,5", row%7))
			forms = append(forms, []string{"flat, round", "1,2,3"}[row%2])
			classes = append(classes, []string{"ill", "well", "ILL"}[row%3])
		}
		s.Tables[i] = testkit.Get(tables.New(fmt.Sprintf("site%d.csv", i), tables.WordColumn("size", sizes),
			tables.WordColumn("form", forms), tables.WordColumn("state", classes)))
	}
	p := testkit.Get(features.Prepare(s, options))
	var want []string
	for i := range sites {
		want = append(want, fmt.Sprintf("column size of site %[1]d (site%[1]d.csv) is taken for words, most of which "+
			`are numbers with a decimal comma, such as "-0,5": these are read where another sign is between the `+
			"columns of all rows, such as a semicolon", i))
	}
	for _, note := range append(want, "classes ILL and ill, which differ in capitals alone, are two") {
		if !slices.Contains(p.Notes, note) {
			t.Errorf("no note %q in %q", note, p.Notes)
		}
	}
	if n := strings.Count(strings.Join(p.Notes, ""), "decimal comma"); n != sites {
		t.Errorf("%d notes of decimal commas, want %d", n, sites)
	}
}

// TestNamesCoincide: two columns that make a feature of one name are refused, by their names.
func TestNamesCoincide(t *testing.T) {
	s := features.Sites{Tables: make([]*tables.Table, sites), Collective: alone(t, sites), Seed: 1}
	for i := range sites {
		var first, second, classes []string
		for row := range 40 {
			first, second = append(first, []string{"b=c", "d"}[row%2]), append(second, []string{"c", "e"}[row/2%2])
			classes = append(classes, []string{"ill", "well"}[row%2])
		}
		s.Tables[i] = testkit.Get(tables.New("s.csv", tables.WordColumn("a", first), tables.WordColumn("a=b", second),
			tables.WordColumn("state", classes)))
	}
	if _, err := features.Prepare(s, options); err == nil ||
		!strings.Contains(err.Error(), `columns a and a=b both make the feature "a=b=c"`) {
		t.Errorf("error %v", err)
	}
}
