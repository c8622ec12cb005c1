package features_test

import (
	"fmt"
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

// tablesOf reads the table of each site from its header and its rows, which are there 12 times: of
// "a,b: 1,x 2,y" from a and b.
func tablesOf(texts ...string) (list []*tables.Table) {
	for i, text := range texts {
		head, rows, _ := strings.Cut(text, ":")
		list = append(list, read(fmt.Sprintf("%d.csv", i), head+"\n"+
			strings.Repeat(strings.Join(strings.Fields(rows), "\n")+"\n", 12)))
	}
	return list
}

// by returns options with a target y, changed.
func by(change func(o *features.Options)) features.Options {
	o := features.Options{Target: "y", Split: features.DefaultShares, Rare: 10, Missing: features.MeanOfOthers}
	if change != nil {
		change(&o)
	}
	return o
}

// prepareTexts prepares sites of [tablesOf].
func prepareTexts(t *testing.T, o features.Options, texts ...string) (*features.Prepared, error) {
	t.Helper()
	return features.Prepare(features.Sites{Tables: tablesOf(texts...), Seed: 1, Collective: alone(t, len(texts))}, o)
}

// kindIs, splitBy and weighedBy change options.
func kindIs(k features.TargetKind) func(o *features.Options) {
	return func(o *features.Options) { o.Kind = k }
}

func splitBy(o *features.Options)   { o.SplitColumn = "s" }
func weighedBy(o *features.Options) { o.Weight = "w" }

func diesBy(word string) func(o *features.Options) {
	return func(o *features.Options) { o.Kind, o.Event, o.EventWord = features.Survival, "e", word }
}

// TestRefusals: what the tables of sites must be alike in, and what rows must have, each refused by
// the site, the column and the rule.
func TestRefusals(t *testing.T) {
	const good = "x,y: 1,ill 2,well"
	for _, c := range []struct {
		change func(o *features.Options)
		want   string
		sites  []string
	}{
		{nil, "", []string{good, "x,y: ,ill ,well"}},
		{nil, "column 1 is x at site 0 (0.csv) and z at site 1 (1.csv)", []string{good, "z,y: 1,ill 2,well"}},
		{nil, "site 1 (1.csv) has 2 columns; column 3 of site 0 (0.csv), z, is missing there",
			[]string{"x,y,z: 1,ill,3 2,well,4", good}},
		{nil, "site 0 (0.csv) has 2 columns; column 3 of site 1 (1.csv), z, is missing there",
			[]string{good, "x,y,z: 1,ill,3 2,well,4"}},
		{nil, "column x holds words at site 1 (1.csv) and numbers at site 2 (2.csv): it must be the same at all sites " +
			"(-words x takes it as words at all sites)", []string{"x,y: ,ill ,well", "x,y: a,ill b,well", good}},
		{nil, "column x holds numbers at site 0 (0.csv) and words at site 1 (1.csv): it must be the same at all sites " +
			"(-words", []string{good, "x,y: a,ill b,well"}},
		{nil, "column x holds numbers in % at site 0 (0.csv) and numbers at site 1 (1.csv): it must be the same at all sites",
			[]string{"x,y: 1%,ill 2%,well", good}},
		{func(o *features.Options) { o.Target = "q" }, `site 0 (0.csv) has no column "q"; its columns are x, y`,
			[]string{good}},
		{nil, "column y, the target, must have values; all are missing at all sites", []string{"x,y: 1, 2,"}},
		{nil, "0.csv, line 3, column y: each row must have a target; it is missing", []string{"x,y: 1,ill 2, 3,well"}},
		{kindIs(features.Counts), "line 3, column y: a count must be a whole number from 0; it is -1",
			[]string{"x,y: 1,0 2,-1"}},
		{kindIs(features.Counts), "line 2, column y: a count must be a whole number from 0; it is 0.5",
			[]string{"x,y: 1,.5 2,1"}},
		{kindIs(features.Counts), "column y, the target, must have two values at least; all training rows have 3",
			[]string{"x,y: 1,3 2,3"}},
		{kindIs(features.Value), "column y, the target, must hold numbers to be learned as a value; it holds words " +
			"(-task classification learns words)", []string{good}},
		{kindIs(features.Class), "", []string{good}},
		{nil, "no column is left that could be a feature: column x is dropped: all training rows have one value",
			[]string{"x,y: 1,ill 1,well"}},
		{func(o *features.Options) { o.Rare = 1 }, `columns a and a=b both make the feature "a=b=c"`, []string{"a,a=b,y: b=c,c,ill d,e,well"}},
		{splitBy, `line 4, column s: the word must be train or validation or test; it is "tests"`,
			[]string{"x,y,s: 1,ill,train 2,well,validation 3,ill,tests"}},
		{splitBy, `line 2, column s: the word must be train or validation or test; it is ""`,
			[]string{"x,y,s: 1,ill, 2,well,train"}},
		{splitBy, `line 2, column s: the word must be train or validation or test; it is ""`,
			[]string{"x,y,s: 1,ill,1 2,well,2"}},
		{weighedBy, "line 2, column w: a weight must be a number from 0; the column holds words",
			[]string{"x,y,w: 1,ill,a 2,well,b"}},
		{weighedBy, "line 3, column w: a weight must be a number from 0; it is missing",
			[]string{"x,y,w: 1,ill,1 2,well,"}},
		{weighedBy, "line 3, column w: a weight must be a number from 0; it is -1",
			[]string{"x,y,w: 1,ill,1 2,well,-1"}},
		{weighedBy, "0.csv), column w: a weight must be above 0 in some rows; all are 0",
			[]string{"x,y,w: 1,ill,0 2,well,0"}},
		{weighedBy, "", []string{"w,x,y: 0,1,ill 1,2,well 1,3,ill"}},
		{weighedBy, `has no column "w"; its columns are x, y`, []string{good}},
		{func(o *features.Options) { o.Balance, o.Kind = true, features.Value },
			"-balance is for classes; the target y is a value", []string{"x,y: 1,1 2,2"}},
		{func(o *features.Options) { o.Missing = features.NoneMissing },
			"0.csv, line 3, column x: the value is missing, which -missing refuse does not allow",
			[]string{"x,y: 1,ill ,well"}},
		{func(o *features.Options) { o.Missing = features.NoneMissing }, "", []string{good}},
		{diesBy(""), "column y, the target, must have durations until events as numbers; it has words",
			[]string{"x,y,e: 1,a,1 2,b,0"}},
		{diesBy(""), "line 3, column e: it must be 1 for an event, else 0, or another number or word must stand for it " +
			"(-event e=WORD); it is 2", []string{"x,y,e: 1,3,1 2,4,2"}},
	} {
		_, err := prepareTexts(t, by(c.change), c.sites...)
		switch {
		case c.want == "":
			if err != nil {
				t.Errorf("%q: %v", c.sites, err)
			}
		default:
			testkit.WantError(t, fmt.Sprint(c.sites), err, dsbo.ErrConfig, c.want)
		}
	}
	empty := features.Sites{Tables: append(tablesOf(good), testkit.Get(tables.New("1.csv",
		tables.NumberColumn("x", []float32{}), tables.WordColumn("y", nil)))), Collective: alone(t, 2)}
	_, err := features.Prepare(empty, by(nil))
	testkit.WantError(t, "no rows", err, dsbo.ErrConfig, "site 1 (1.csv): there must be rows; there are none")
}

// TestTargetKinds: words and at most 20 whole numbers at every site are classes, other numbers
// values; names of classes are written as in files, and sorted by size.
func TestTargetKinds(t *testing.T) {
	numbers := func(n int, step float64) string {
		text := "x,y:"
		for k := range n {
			text += fmt.Sprintf(" %d,%g", k, float64(k)*step)
		}
		return text
	}
	for _, c := range []struct {
		change  func(o *features.Options)
		want    features.TargetKind
		classes string
		sites   []string
	}{
		{nil, features.Class, "ill well", []string{"x,y: 1,well 2,ill"}},
		{nil, features.Class, "", []string{numbers(20, 1)}},
		{nil, features.Value, "", []string{numbers(21, 1)}},
		{nil, features.Value, "", []string{numbers(3, .5)}},
		{nil, features.Value, "", []string{numbers(3, 1), numbers(21, 1)}},
		{nil, features.Value, "", []string{numbers(21, 1), numbers(3, 1)}},
		{kindIs(features.Counts), features.Counts, "", []string{numbers(3, 1)}},
		{kindIs(features.Class), features.Class, "-2 0 9e-05 0.00012 0.5 10 100000000000000000000 1e+21",
			[]string{"x,y: 1,10 2,1e21 3,0 4,-2 5,1e20 6,9e-5 7,.00012 8,.5"}},
	} {
		p := testkit.Get(prepareTexts(t, by(c.change), c.sites...))
		if got := strings.Join(p.Recipe.Target.Classes, " "); p.Recipe.Target.Kind != c.want ||
			c.classes != "" && got != c.classes {
			t.Errorf("%.60q: %s %q", c.sites, p.Recipe.Target.Kind, got)
		}
		if (p.Data.Counted == "event") != (c.want == features.Survival) {
			t.Errorf("counted are %q", p.Data.Counted)
		}
	}
}

// TestRareClasses: classes that no site has five times are refused, merged or left out, with a note.
func TestRareClasses(t *testing.T) {
	const words, numbers = "x,y: 1,a 2,b", "x,y: 1,1 2,2"
	rare := func(text string, more ...string) []*tables.Table { // classes of a row each
		list := tablesOf(text, text)
		head, _, _ := strings.Cut(text, ":")
		for i := range list {
			rows := strings.Fields(strings.TrimPrefix(text, head+":"))
			list[i] = read(fmt.Sprintf("%d.csv", i), head+"\n"+strings.Repeat(strings.Join(rows, "\n")+"\n", 12)+
				strings.Join(more, "\n"))
		}
		return list
	}
	for _, c := range []struct {
		tables    []*tables.Table
		rule      features.RareRule
		classes   string
		rows      int
		err, note string
	}{
		{rare(words, "3,c", "4,d"), features.RefuseRare, "", 0,
			"it has not in 4 of 52 rows of all sites, as of names or numbers of persons, which do not leave a site (" +
				"-rare-classes merge makes one class of the rare ones, drop leaves their rows out)", ""},
		{rare(numbers, "3,3"), features.RefuseRare, "", 0, "drop leaves their rows out; -task regression or count takes it", ""},
		{rare(words, "3,c"), features.MergeRare, "a b (rare)", 50, "", "2 rows of classes that no site has 5 times are " +
			"the class (rare)"},
		{rare(words), features.MergeRare, "a b", 48, "", ""},
		{rare(words, "3,c", "4,d"), features.DropRare, "a b", 48, "",
			"4 rows of classes that no site has 5 times are left out"},
		{rare(words), features.DropRare, "a b", 48, "", ""},
		{append(rare(words)[:1], read("1.csv", "x,y\n1,c\n2,d\n")), features.DropRare, "", 0,
			"site 1 (1.csv): no row has a class that some site has 5 times at least", ""},
	} {
		p, err := features.Prepare(features.Sites{Tables: c.tables, Seed: 1, Collective: alone(t, 2)},
			by(func(o *features.Options) { o.RareClasses, o.Kind = c.rule, features.Class }))
		if c.err != "" {
			testkit.WantError(t, "rare classes", err, dsbo.ErrConfig, c.err)
			continue
		}
		testkit.OK(err)
		got, notes := strings.Join(p.Recipe.Target.Classes, " "), strings.Join(p.Notes, "\n")
		if got != c.classes || p.Rows[0]+p.Rows[1]+p.Rows[2] != c.rows || c.note != "" && !strings.Contains(notes, c.note) ||
			c.note == "" && strings.Contains(notes, "no site has") {
			t.Errorf("%q: classes %q, %v rows, notes %q", c.rule, got, p.Rows, notes)
		}
	}
}

// TestNamesOf: what a site would name to the others is its columns, words but for those of columns
// with roles, and classes.
func TestNamesOf(t *testing.T) {
	for _, c := range []struct {
		text           string
		kind           features.TargetKind
		words, classes bool
	}{
		{"x,y: 1,ill 2,well", "", false, true}, {"x,y: a,1 b,2", "", true, true}, {"x,y: 1,.5 2,1", "", false, false},
		{"x,y: 1,.5 2,1", features.Class, false, true}, {"x,y: 1,1 2,2", features.Value, false, false},
		{"x,s,y: 1,train,.5 2,test,1", "", false, false}, {"x,z,y: a,1,ill b,2,well", "", true, true},
	} {
		table := tablesOf(c.text)[0]
		columns, words, classes := by(func(o *features.Options) { o.Kind, o.SplitColumn = c.kind, "s" }).NamesOf(table)
		if words != c.words || classes != c.classes || len(columns) != len(table.Columns) || columns[0] != "x" {
			t.Errorf("%q: columns %q, words %t, classes %t", c.text, columns, words, classes)
		}
	}
	if columns, _, _ := by(nil).NamesOf(read("a.svm", "1 1:2\n")); !slices.Equal(columns, []string{"label", "(sparse)"}) {
		t.Errorf("columns %q of a sparse table", columns)
	}
}

// TestFollowed: by a recipe that is known rows are encoded as when it was found, with its rules, and
// nothing is found anew.
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
	if testkit.WantError(t, "a target", err, dsbo.ErrConfig, "the target must be numbers; the column holds words"); target.At(0, 0) != 2 {
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
		{features.Target{Kind: features.Class}, 3, 3}, {features.Target{Kind: features.Value, Mean: 1, Deviation: 2}, 3, 7},
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
		{"1e4,2020-01-01,3", features.Value, ""}, {"2e6,2020-01-01,3", features.Value, "column x: the number must be in " +
			"proportion to the others; it is 2000000, 2e+06 times their standard deviation from their mean (-drop"},
		{"-1,2020-01-01,3e6", features.Value, "column y: the number must be in proportion to the others; it is 3000000"},
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
		if noted := strings.Contains(strings.Join(p.Notes, "\n"), "times that end with another word of e than died"); !noted ||
			strings.Contains(strings.Join(p.Notes, "\n"), "without an event, 0") {
			t.Errorf("notes %q", p.Notes)
		}
	}
}

// TestCounts: what is counted is of training rows alone, each class has its shares, and what is no
// deviation from the usual has neither weights nor notes.
func TestCounts(t *testing.T) {
	const text = "y,c,s,w: 1,a,train,1.5 2,b,train,.01 1,a,train,1.5 2,,train,.01 1,,test,1 2,,validation,1 3,a,test,1"
	p := testkit.Get(prepareTexts(t, by(func(o *features.Options) { o.SplitColumn, o.Kind = "s", features.Class }), text))
	if notes := strings.Join(p.Notes, "\n"); !slices.Equal(p.Missing, []float64{12, 0}) ||
		!slices.Equal(p.Classes, []float64{24, 24, 0}) || p.OwnRows != nil || p.Data.Shards[0].Train.Weight != nil ||
		!strings.Contains(notes, "class 3 has no training row") || strings.Contains(notes, "class 2 has no training row") {
		t.Errorf("missing %v, classes %v, own %v, notes %q", p.Missing, p.Classes, p.OwnRows, notes)
	}
	o := by(func(o *features.Options) { splitBy(o); weighedBy(o) })
	if got := testkit.Get(prepareTexts(t, o, text, text)); len(got.Recipe.Target.Classes) != 3 || got.OwnRows != nil ||
		!slices.Equal(got.Recipe.MissingWords, tables.MissingWords) {
		t.Errorf("classes %q: rows of small weights are named as others; own %v", got.Recipe.Target.Classes, got.OwnRows)
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
