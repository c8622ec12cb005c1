package features_test

import (
	"math"
	"slices"
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
		"column since is more than 10 deviations from the mean of training rows (1970-01-11 ± 2 days) in 1 of 3 rows " +
			"(row 3: 1970-02-01): predictions there extrapolate",
	}
	if d := cmp.Diff(want, e.Notes()); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]float64{0, 0, 1, 0, 1, 0, 2}, row(e, len(r.Features()), 0)); d != "" { // since: 14 days
		t.Errorf("features of the first row: %s", d)
	}
}

// TestCapitals: classes and words that differ in capitals alone are noted, rare ones too, but not
// of a column that is dropped.
func TestCapitals(t *testing.T) {
	const common = "yes,1,ill yes,2,ill Yes,2,well Yes,1,well no,3,ILL no,2,ILL"
	p := testkit.Get(prepareTexts(t, by(func(o *features.Options) { o.Rare = 18 }),
		"c,x,y: "+common+" NO,4,well NO,5,ill", "c,x,y: "+common))
	for _, note := range []string{"words of column c Yes and yes, which differ in capitals alone, are two",
		"words of column c NO and no, which differ in capitals alone, are two",
		"classes ILL and ill, which differ in capitals alone, are two"} {
		if !slices.Contains(p.Notes, note) {
			t.Errorf("no note %q in %q", note, p.Notes)
		}
	}
	many := by(func(o *features.Options) { o.Rare = 100 })
	p = testkit.Get(prepareTexts(t, many, "c,x,y: yes,1,ill Yes,2,well", "c,x,y: yes,3,ill Yes,4,well"))
	if want := []string{"column c is dropped: no word is in 100 rows"}; !slices.Equal(p.Notes, want) {
		t.Errorf("notes %q, want %q", p.Notes, want)
	}
}
