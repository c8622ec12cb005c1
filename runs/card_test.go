package runs_test

import (
	"reflect"
	"testing"

	"dsbo/runs"
)

// TestCard: a card says of each column how it was read, how much is missing and what the values
// are.
func TestCard(t *testing.T) {
	none := runs.Unknown()
	c := runs.Card{Rows: [3]int{80, 80, 20},
		Target: runs.CardColumn{Name: "ill", Read: "class", Missing: none, Mean: none, Levels: []string{"No", "no"},
			Counts: []runs.Number{60, 20}},
		Columns: []runs.CardColumn{
			{Name: "age", Read: "number", Missing: 4, Mean: 49.987, Deviation: 2353.4},
			{Name: "code", Read: "number", Mean: -1e8 - .1, Deviation: 1.5},
			{Name: "visits", Read: "count", Missing: none, Mean: 2.25, Deviation: none},
			{Name: "seen", Read: runs.DateColumn, Mean: 18800.4, Deviation: 100.6},
			{Name: "at", Read: runs.TimeColumn, Mean: 86400 * 18800.4, Deviation: 43200},
			{Name: "where", Read: "words", Mean: none, Levels: []string{"a", "b", "c", "d", "e", "f", "g", "h"}},
			{Name: "same", Read: "number", Mean: 2, Deviation: 0, Dropped: "all values are the same"},
			{Name: "level", Read: "words", Missing: none, Mean: none,
				Levels: []string{"a", "b", "c", "d", "e", "f", "g"}},
			{Name: "six", Read: "words", Missing: none, Mean: none, Levels: []string{"a", "b", "c", "d", "e", "f"}},
			{Name: "sex", Read: "words", Missing: none, Mean: none, Levels: []string{"F", "M", "f", "m", "u"}},
			{Name: "empty", Read: "number", Missing: 80, Mean: none, Dropped: "all values are missing"},
		}}
	want := [][]string{
		{"column", "read as", "missing", "values", "use"},
		{"ill", "class", "", "No 75.0 %, no 25.0 %",
			"predicted; No and no differ in capitals alone"},
		{"age", "number", "4 (5.0 %)", "49.99 ± 2353", ""},
		{"code", "number", "0 (0.0 %)", "-100000000.1 ± 1.5", ""},
		{"visits", "count", "", "2.25", ""},
		{"seen", "date", "0 (0.0 %)", "2021-06-22 ± 101 days", ""},
		{"at", "date and time", "0 (0.0 %)", "2021-06-22 ± 0.5 days", ""},
		{"where", "words", "0 (0.0 %)", "a, b, c, d, e, f and 2 more", ""},
		{"same", "number", "0 (0.0 %)", "", "dropped: all values are the same"},
		{"level", "words", "", "a, b, c, d, e, f and 1 more", ""},
		{"six", "words", "", "a, b, c, d, e, f", ""},
		{"sex", "words", "", "F, M, f, m, u", "F and f, M and m differ in capitals alone"},
		{"empty", "number", "80 (100.0 %)", "", "dropped: all values are missing"},
	}
	if got := c.Table(); !reflect.DeepEqual(got, want) {
		t.Errorf("the table is\n%q, want\n%q", got, want)
	}
	one := runs.CardColumn{Levels: []string{"a"}, Counts: []runs.Number{1}}
	if rows := (runs.Card{Sites: make([][3]int, 1)}).SiteRows(); one.Values() != "a 100.0 %" || rows != nil {
		t.Errorf("one row of one site: %s, %q", one.Values(), rows)
	}
	// The second site's rows are as older folders have them.
	c.Sites, c.Own = [][3]int{{30, 30, 8}, {50, 0, 12}}, []runs.Number{10, 30}
	if got, want := c.SiteRows(), [][]string{{"site", "training rows", "validation rows", "test rows"},
		{"site 0", "30", "30", "8"}, {"site 1", "50", "50", "12"}}; !reflect.DeepEqual(got, want) {
		t.Errorf("the rows of sites are %q, want %q", got, want)
	}
	c.Rows[1] = 50 // without folds a site may have no validation rows
	if rows := c.SiteRows(); rows[1][2] != "30" || rows[2][2] != "0" {
		t.Errorf("without folds the rows of sites are %q", rows)
	}
	c.Rows[1] = 80
	if rows := (runs.Card{Rows: [3]int{0, 0, 0}, Columns: []runs.CardColumn{{Name: "a"}}}).Table(); rows[2][2] != "" {
		t.Errorf("of rows that nobody counts %q are missing", rows[2][2])
	}
	alike := c // as many validation rows as training rows by chance, without folds
	alike.Sites = [][3]int{{30, 50, 8}, {50, 30, 12}}
	if got := alike.SiteRows(); got[1][2] != "50" || got[2][2] != "30" {
		t.Errorf("the rows of sites are %q", got)
	}
	if got, want := c.About(), "80 training rows of all sites together, 20 test rows. Of the training rows of this "+
		"site alone: No 25.0 %, no 75.0 %."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for rows, want := range map[[3]int]string{
		{80, 80, 20}: "80 training rows of all sites together, 20 test rows.",
		{1, 2, 0}:    "1 training row of all sites together, 2 validation rows.",
		{4, 1, 1}:    "4 training rows of all sites together, 1 validation row, 1 test row.",
	} {
		if got := (runs.Card{Rows: rows}).About(); got != want {
			t.Errorf("%v: %q, want %q", rows, got, want)
		}
	}
}
