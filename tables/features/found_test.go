package features_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/tables"
	"dsbo/tables/features"
)

// TestFollowed: by a recipe that is known rows are encoded as when it was found, with its rules,
// and nothing is found anew.
func TestFollowed(t *testing.T) {
	const text = "y,x,c: ill,1,a well,2,b well,3,a"
	o := by(nil)
	first := testkit.Get(prepareTexts(t, o, text))
	follow := func(r features.Recipe, o features.Options, text string) (*features.Prepared, error) {
		return features.PrepareBy(features.Sites{Tables: tablesOf(text), Seed: 1}, r, o)
	}
	again := testkit.Get(follow(first.Recipe, o, text))
	n := 0
	for _, e := range []int{again.Data.Shards[0].Train.Len(), again.Data.Shards[0].Val.Len(),
		again.Data.Shards[0].Test.Len()} {
		n += e
	}
	if d := cmp.Diff(first.Recipe, again.Recipe); d != "" || n != 36 || again.Data.Shards[0].Train.Weight != nil {
		t.Errorf("%d rows by the recipe %s", n, d)
	}
	for want, change := range map[string]func(o *features.Options){
		"rows must have no weights":        func(o *features.Options) { o.Weight = "x" },
		"where a recipe is followed":       func(o *features.Options) { o.Balance = true },
		`site 0 (0.csv) has no column "q"`: func(o *features.Options) { o.Target = "q" },
	} {
		_, err := follow(first.Recipe, by(change), text)
		testkit.WantError(t, "a recipe", err, dsbo.ErrConfig, want)
	}
	for want, text := range map[string]string{
		`column y: class "dead" was not there in training`: "x,c,y: 1,a,dead",
		"line 3, column y: the target is missing":          "x,c,y: 1,a,ill 1,a,",
		"column x: the column is missing":                  "c,y: a,ill",
	} {
		_, err := follow(first.Recipe, o, text)
		testkit.WantError(t, "a recipe", err, dsbo.ErrConfig, want)
	}
	merged := first.Recipe
	merged.Target.Classes = []string{"ill", "(rare)"}
	shard := testkit.Get(follow(merged, o, "x,c,y: 1,a,dead 2,b,ill")).Data.Shards[0]
	classes := map[int]int{}
	for row := range shard.Train.Len() {
		class, _ := shard.Train.Target.Label(row)
		classes[class]++
	}
	if len(classes) != 2 {
		t.Errorf("classes %v; unknown ones must be rare", classes)
	}
	old := features.Recipe{Inputs: []features.Input{{Name: "x", Kind: tables.Number, Deviation: 1}},
		Target: features.Target{Name: "y", Kind: features.Class, Classes: []string{"1e+06", "2"}}}
	testkit.Get(follow(old, o, "x,y: 1,1000000 2,2"))
	old.Target = features.Target{Name: "y", Kind: features.Value, Mean: 1, Deviation: 2}
	target := testkit.Get(follow(old, o, "x,y: 1,5 2,5")).Data.Shards[0].Train.Target
	_, err := follow(old, o, "x,y: 1,a 2,b")
	testkit.WantError(t, "a target", err, dsbo.ErrConfig, "the target must be numbers; the column holds words")
	if target.At(0, 0) != 2 {
		t.Errorf("5 is learned as %g; it must be (5 − 1)/2", target.At(0, 0))
	}
	old.Missing = features.NoneMissing
	missing := testkit.Get(tables.New("new.csv", tables.NumberColumn("x", []float64{math.NaN(), 1, math.NaN()})))
	_, err = old.NewEncoder(missing)
	testkit.WantError(t, "missing values", err, dsbo.ErrConfig, "new.csv, row 1, column x: the value is missing")
	missing.Bad = map[int]string{2: "worse"}
	e := testkit.Get(old.NewEncoder(missing))
	if !strings.HasPrefix(e.Bad(0), "column x: the value is missing") || e.Bad(1) != "" || e.Bad(2) != "worse" {
		t.Errorf("bad rows %q, %q, %q", e.Bad(0), e.Bad(1), e.Bad(2))
	}
}

// TestDecoded: values are in the target's unit, counts at most the largest, hazards as they are; a
// prediction at the bound is noted, but of no bad row.
func TestDecoded(t *testing.T) {
	for _, c := range []struct {
		target  features.Target
		v, want float64
	}{
		{features.Target{Kind: features.Class}, 3, 3},
		{features.Target{Kind: features.Value, Mean: 1, Deviation: 2}, 3, 7},
		{features.Target{Kind: features.Counts}, 0, 1}, {features.Target{Kind: features.Counts, Most: .5}, 0, .5},
		{features.Target{Kind: features.Counts, Most: 2}, 0, 1}, {features.Target{Kind: features.Survival}, 0, 1},
	} {
		if got := c.target.Decode(c.v); got != c.want {
			t.Errorf("%+v: %g is %g, want %g", c.target, c.v, got, c.want)
		}
	}
	table := testkit.Get(tables.New("new.csv", tables.NumberColumn("x", make([]float64, 4))))
	table.Bad = map[int]string{3: "bad"}
	e := testkit.Get(features.Recipe{}.NewEncoder(table))
	const want = "1 of 4 rows have the largest prediction there is, 0.5, by the counts of training rows (row 2): the " +
		"model extrapolates there"
	for most, want := range map[float64]string{0: "", .5: want, 7: ""} {
		if got := e.Bounded(features.Target{Most: most}, []float64{0, .5, .25, .5}); got != want {
			t.Errorf("%g at most: %q", most, got)
		}
	}
}

// TestFar: a number of a million deviations, or the target's, is refused though it is no training
// row's; other kinds of columns are not looked at.
func TestFar(t *testing.T) {
	for _, c := range []struct {
		test string
		kind features.TargetKind
		want string
	}{
		{"1e4,2020-01-01,3", features.Value, ""},
		{"2e6,2020-01-01,3", features.Value, "column x: the number must be in " +
			"proportion to the others; it is 2000000, 2e+06 times their standard deviation from their mean (-drop"},
		{"-1,2020-01-01,3e6", features.Value, "column y: the number must be in proportion to the others; it is 3000"},
		{"0,9000-01-01,3", features.Value, ""}, {"0,2020-01-01,4e6", features.Counts, "column y: the number must be"},
		{"0,2020-01-01,2e6", features.Counts, ""},
	} {
		_, err := prepareTexts(t, by(func(o *features.Options) { o.SplitColumn, o.Kind = "s", c.kind }),
			"x,d,y,s: -1,2020-01-01,1,train 1,2020-01-02,3,train 0,2020-01-01,3,validation "+c.test+",test")
		if c.want == "" {
			testkit.OK(err)
		} else {
			testkit.WantError(t, "far numbers", err, dsbo.ErrConfig, c.want)
		}
	}
}

// TestEventTargets: times are learned as their ranks among the times of a site, negative without an
// event; examples count as their events, and validation weights make a mean over events.
func TestEventTargets(t *testing.T) {
	const rows = " 1,5,died,train,1 2,3,moved,train,1 3,5,lives,train,2 4,9,died,validation,1 5,9,lives,validation,1" +
		" 1,2,died,test,1"
	for _, weight := range []string{"", "w"} {
		p := testkit.Get(prepareTexts(t, by(func(o *features.Options) {
			diesBy("died")(o)
			o.SplitColumn, o.Weight = "s", weight
		}), "x,y,e,s,w:"+rows))
		s := p.Data.Shards[0]
		var ranks, counts []float64
		for row := range 3 {
			ranks, counts = append(ranks, s.Train.Target.At(row, 0)), append(counts, s.Train.Rows(row))
		}
		if !slices.Equal(ranks, []float64{3, -2, -3}) || !slices.Equal(counts, []float64{1, 0, 0}) ||
			!slices.Equal(p.Times[0][:3], []float64{5, -3, -5}) || p.Times[0][36] != 9 || p.Times[0][60] != 2 {
			t.Errorf("ranks %v, counts %v, times %v", ranks, counts, p.Times[0])
		}
		if p.Data.Counted != "event" || p.Events != [3]float64{12, 12, 12} || len(p.Times[0]) != 72 ||
			(len(s.Train.Columns) == 1) != (weight != "") {
			t.Errorf("%q are counted, events %v, columns %v", p.Data.Counted, p.Events, s.Train.Columns)
		}
		if w := s.Val.Weight.At(0, 0); w != 2 { // 24 rows have 12 events
			t.Errorf("validation rows weigh %g, want 2", w)
		}
		notes := strings.Join(p.Notes, "\n")
		if !strings.Contains(notes, "times that end with another word of e than died") ||
			strings.Contains(notes, "without an event, 0") {
			t.Errorf("notes %q", p.Notes)
		}
	}
}

// TestCounts: what is counted is of training rows alone, each class has its shares, and what is no
// deviation from the usual has neither weights nor notes.
func TestCounts(t *testing.T) {
	const text = "y,c,s,w: 1,a,train,1.5 2,b,train,.01 1,a,train,1.5 2,,train,.01 1,,test,1 2,,validation,1 3,a,test,1"
	o := by(func(o *features.Options) { o.SplitColumn, o.Kind = "s", features.Class })
	p := testkit.Get(prepareTexts(t, o, text))
	if notes := strings.Join(p.Notes, "\n"); !slices.Equal(p.Missing, []float64{12, 0}) ||
		!slices.Equal(p.Classes, []float64{24, 24, 0}) || p.OwnRows != nil || p.Data.Shards[0].Train.Weight != nil ||
		!strings.Contains(notes, "class 3 has no training") || strings.Contains(notes, "class 2 has no training") {
		t.Errorf("missing %v, classes %v, own %v, notes %q", p.Missing, p.Classes, p.OwnRows, notes)
	}
	o = by(func(o *features.Options) { splitBy(o); weighedBy(o) })
	if got := testkit.Get(prepareTexts(t, o, text, text)); len(got.Recipe.Target.Classes) != 3 || got.OwnRows != nil ||
		!slices.Equal(got.Recipe.MissingWords, tables.MissingWords) {
		t.Errorf("classes %q: rows of small weights count as others; own %v", got.Recipe.Target.Classes, got.OwnRows)
	}
	shard := testkit.Get(prepareTexts(t, by(nil), "x,y: 1,1 2,2 3,2 4,1")).Data.Shards[0]
	classes := [2]int{}
	for row := range shard.Train.Len() {
		class, _ := shard.Train.Target.Label(row)
		classes[class]++
	}
	if classes != [2]int{12, 12} {
		t.Errorf("classes of numbers have %v training rows", classes)
	}
	o = by(func(o *features.Options) {
		o.MissingWords, o.MissingOf = []string{"?"}, map[string][]string{"x": {"-"}}
	})
	twice := append(tablesOf("x,y: 1,ill NA,well"), tablesOf("x,y: 1,ill NA,well")...)
	got := testkit.Get(features.Prepare(features.Sites{Tables: twice, Seed: 1, Collective: alone(t, 2)}, o))
	if r := got.Recipe; len(got.Odd) != 1 || !slices.Equal(r.MissingWords, []string{"?"}) ||
		!slices.Equal(r.Options().MissingOf["x"], []string{"-"}) || len(r.Options().MissingOf) != 1 {
		t.Errorf("notes %q, words for missing %q", got.Odd, r.MissingWords)
	}
	weights := func(kind features.TargetKind) (sum float64) {
		o := by(func(o *features.Options) { o.Kind, o.Event, o.Folds = kind, "e", 2 })
		w := testkit.Get(prepareTexts(t, o, "x,y,e: 1,1,1 2,2,0 3,3,0 4,4,1")).Data.Shards[0].Val.Weight
		for row := range w.Rows() {
			sum += w.At(row, 0) + w.At(row, 1)
		}
		return sum
	}
	if got := weights(features.Survival) / weights(features.Value); got != 2 {
		t.Errorf("validation rows weigh %g times as much as of numbers; two have an event", got)
	}
	for text, want := range map[string]int{"1 1:1\n0 2:1\n": 0, "1 1:1\n0 3:1\n": 1} {
		p := testkit.Get(prepareSparse(t, []string{strings.Repeat(text, 12)}))
		if len(p.Notes) != want {
			t.Errorf("%q: notes %q", text, p.Notes)
		}
	}
}

// TestShareText: shares are written with six digits.
func TestShareText(t *testing.T) {
	if got := string(testkit.Get(features.Shares{1. / 3, 2. / 3, 0}.MarshalText())); got != "0.333333:0.666667:0" {
		t.Errorf("shares are written as %s", got)
	}
}
