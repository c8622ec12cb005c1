package features_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

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
		{nil, `column 1 is "x" at site 0 (0.csv) and "x\u200b" at site 1 (1.csv)`,
			[]string{good, "x\u200b,y: 1,ill 2,well"}},
		{nil, "site 1 (1.csv) has 2 columns; column 3 of site 0 (0.csv), z, is missing there",
			[]string{"x,y,z: 1,ill,3 2,well,4", good}},
		{nil, "site 0 (0.csv) has 2 columns; column 3 of site 1 (1.csv), z, is missing there",
			[]string{good, "x,y,z: 1,ill,3 2,well,4"}},
		{nil, "column x holds words at site 1 (1.csv) and numbers at site 2 (2.csv): it must be the same at all " +
			"sites (-words x takes it as words at all sites)", []string{"x,y: ,ill ,well", "x,y: a,ill b,well", good}},
		{nil, "column x holds numbers at site 0 (0.csv) and words at site 1 (1.csv): it must be the same at all " +
			"sites (-words", []string{good, "x,y: a,ill b,well"}},
		{nil, "column x holds numbers in % at site 0 (0.csv) and numbers at site 1 (1.csv): it must be the " +
			"same at all sites",
			[]string{"x,y: 1%,ill 2%,well", good}},
		{func(o *features.Options) { o.Target = "q" }, `site 0 (0.csv) has no column "q"; its columns are x, y`,
			[]string{good}},
		{nil, "column y, the target, must have values; all are missing at all sites", []string{"x,y: 1, 2,"}},
		{nil, "0.csv, line 3, column y: each row must have a target; it is missing", []string{"x,y: 1,ill 2, 3,well"}},
		{kindIs(features.Counts), "line 3, column y: a count must be a whole number from 0 to 16777216; it is -1",
			[]string{"x,y: 1,0 2,-1"}},
		{kindIs(features.Counts), "line 2, column y: a count must be a whole number from 0 to 16777216; it is 0.5",
			[]string{"x,y: 1,.5 2,1"}},
		{kindIs(features.Counts), "line 3, column y: a count must be a whole number from 0 to 16777216; it is 16777217",
			[]string{"x,y: 1,16777216 2,16777217"}},
		{kindIs(features.Counts), "column y, the target, must have two values at least; all training rows have 3",
			[]string{"x,y: 1,3 2,3"}},
		{kindIs(features.Value), "column y, the target, must hold numbers to be learned as a value; it holds words " +
			"(-task classification learns words)", []string{good}},
		{kindIs(features.Class), "", []string{good}},
		{nil, "no column is left that could be a feature: all are the target or", []string{"y: ill well"}},
		{nil, "no column is left that could be a feature: column x is dropped: all training rows have one value",
			[]string{"x,y: 1,ill 1,well"}},
		{func(o *features.Options) { o.Rare = 1 }, `columns a and a=b both make the feature "a=b=c"`,
			[]string{"a,a=b,y: b=c,c,ill d,e,well"}},
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
		{diesBy(""), "line 3, column e: it must be 1 for an event, else 0, or another number or word must stand for " +
			"it (-event e=WORD); it is 2", []string{"x,y,e: 1,3,1 2,4,2"}},
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

// TestRareClasses: classes that no site has five times are refused, merged or left out, with
// a note.
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
		{rare(numbers, "3,3"), features.RefuseRare, "", 0,
			"drop leaves their rows out; -task regression or count takes it", ""},
		{rare(words, "3,c"), features.MergeRare, "a b (rare)", 50, "",
			"2 rows of classes that no site has 5 times are the class (rare)"},
		{rare(words), features.MergeRare, "a b", 48, "", ""},
		{rare(words, "3,c", "3,c", "3,c", "3,c"), features.MergeRare, "a b (rare)", 56, "", "8 rows of classes"},
		{rare(words, "3,c", "3,c", "3,c", "3,c", "3,c"), features.MergeRare, "a b c", 58, "", ""},
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
		if got != c.classes || p.Rows[0]+p.Rows[1]+p.Rows[2] != c.rows ||
			!strings.Contains(notes, c.note) || c.note == "" && strings.Contains(notes, "no site has") {
			t.Errorf("%q: classes %q, %v rows, notes %q", c.rule, got, p.Rows, notes)
		}
	}
}

// TestNamesOf: a site names its columns to the others, words of columns without a role,
// and classes.
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
	columns, _, _ := by(nil).NamesOf(read("a.svm", "1 1:2\n"))
	if !slices.Equal(columns, []string{"label", "(sparse)"}) {
		t.Errorf("columns %q of a sparse table", columns)
	}
}

// TestFewNumbers: of more than 10 distinct whole numbers at a site, most of which have a row, none
// is a class; those that are classes are refused here, where they have fewer than 5 rows.
func TestFewNumbers(t *testing.T) {
	for _, c := range []struct {
		distinct, rows int
		few            bool
	}{{10, 10, true}, {11, 21, false}, {11, 22, true}, {20, 39, false}, {20, 40, true}, {21, 100, false}} {
		text := "x,y\n"
		for row := range c.rows {
			text += fmt.Sprintf("%d,%d\n", row, row%c.distinct)
		}
		p, err := features.Prepare(features.Sites{Tables: []*tables.Table{read("0.csv", text)}, Seed: 1,
			Collective: alone(t, 1)}, by(nil))
		if c.few {
			testkit.WantError(t, fmt.Sprint(c), err, dsbo.ErrConfig, "must have each class in 5 rows")
		} else if testkit.OK(err); p.Recipe.Target.Kind != features.Value {
			t.Errorf("%v: %s", c, p.Recipe.Target.Kind)
		}
	}
}
