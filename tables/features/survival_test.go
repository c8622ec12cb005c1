package features_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/tables"
	"dsbo/tables/features"
)

// TestFewEvents: with fewer than 50 training events the best of several λ is noted as optimistic,
// where folds choose it; with fewer than 10 nothing is learned.
func TestFewEvents(t *testing.T) {
	for _, c := range []struct {
		events, folds int
		noted         bool
	}{{49, 5, true}, {50, 5, false}, {49, 0, false}, {10, 5, true}, {9, 5, false}} {
		event := make([]float32, 80)
		for row := range c.events {
			event[row] = 1
		}
		table := testkit.Get(tables.New("site.csv", tables.NumberColumn("months", numbersOf(80, 1)),
			tables.NumberColumn("dead", event), tables.NumberColumn("age", numbersOf(80, 3))))
		p, err := features.Prepare(features.Sites{Tables: []*tables.Table{table}, Seed: 1, Collective: alone(t, 1)},
			features.Options{Target: "months", Kind: features.Survival, Event: "dead", Folds: c.folds,
				Split: features.Shares{1, 0, 0}, Missing: features.MeanOfOthers})
		if (err != nil) != (c.events < 10) {
			t.Fatalf("%d events: %v", c.events, err)
		}
		if err != nil && !strings.Contains(err.Error(), "there must be 10 events at least") {
			t.Error(err)
		}
		if err == nil && strings.Contains(strings.Join(p.Notes, "\n"), "fewer than 50 events") != c.noted {
			t.Errorf("%d events, %d folds: %q", c.events, c.folds, p.Notes)
		}
		if err == nil && c.folds > 0 { // all rows train and validate
			if s := p.Data.Shards[0]; s.Train.Len() != 80 || s.Val.Len() != 80 || s.Train.X == nil || s.Val.X == nil {
				t.Errorf("%d folds: %d training and %d validation rows", c.folds, s.Train.Len(), s.Val.Len())
			}
		}
		if err == nil && strings.Contains(strings.Join(p.Notes, "\n"), "column ") {
			t.Errorf("notes %q, of which no column is unusual", p.Notes)
		}
	}
}

// TestFewJudgedEvents: validation rows have five events at least, and test rows where there are
// some; the notes have how many sites have no event.
func TestFewJudgedEvents(t *testing.T) {
	for _, c := range []struct {
		test              int // rows of it at each of two sites
		validated, tested int // events at the first site
		want              string
	}{
		{8, 5, 5, ""}, {0, 5, 0, ""}, {8, 4, 5, "5 events at least among the validation rows of all sites; there are"},
		{8, 5, 4, "5 events at least among the test rows of all sites; there are fewer"},
		{8, 5, 0, "5 events at least among the test rows of all sites; there are fewer"},
	} {
		s := features.Sites{Seed: 1, Collective: alone(t, 2)}
		for site := range 2 {
			split, event := slices.Repeat([]string{"train"}, 40), make([]float32, 40)
			for row := range split {
				events, of := 12, row // of the first rows of each set
				switch {
				case row < 8:
					split[row], events = "validation", c.validated
				case row < 8+c.test:
					split[row], events, of = "test", c.tested, row-8
				default:
					of -= 8 + c.test
				}
				if site == 0 && of < events {
					event[row] = 1
				}
			}
			s.Tables = append(s.Tables, testkit.Get(tables.New("", tables.NumberColumn("months", numbersOf(40, 9)),
				tables.NumberColumn("dead", event), tables.NumberColumn("age", numbersOf(40, 3)),
				tables.WordColumn("set", split))))
		}
		p, err := features.Prepare(s, features.Options{Target: "months", Kind: features.Survival, Event: "dead",
			SplitColumn: "set", Missing: features.MeanOfOthers})
		if c.want != "" {
			testkit.WantError(t, "events", err, dsbo.ErrConfig, c.want)
		} else if err != nil || !strings.Contains(strings.Join(p.Notes, "\n"), "without an event, 1 of 2, tell") {
			t.Errorf("%d and %d events: %v", c.validated, c.tested, err)
		}
	}
}

// TestFailure: a time is a finite number from 0, an event 1 or 0, or any word where one is named.
func TestFailure(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	times := tables.NumberColumn("time", []float32{0, 3, -1, nan, inf, 3, 3, 3})
	events := tables.NumberColumn("event", []float32{0, 1, 1, 1, 1, nan, 2, -1})
	for row, want := range []string{"", "", "time a time must be a number from 0; it is -1",
		"time each row must have a time; it is missing", "time a time must be a number from 0; it is +Inf",
		"event each row must say whether there was an event; it is missing", "event it must be 1 for an event",
		"event it must be 1 for an event"} {
		for _, word := range []string{"", "2"} {
			column, why := features.Failure(times, events, row, word)
			want := want
			if word != "" && row > 5 { // any number stands for an end
				want = ""
			}
			if got := strings.TrimSpace(column + " " + why); !strings.HasPrefix(got, want) || want == "" && got != "" {
				t.Errorf("row %d, of the word %q: %q, want %q", row, word, got, want)
			}
		}
	}
	words := tables.WordColumn("event", []string{"died", "moved"})
	for word, want := range map[string]string{"": "event", "died": ""} {
		if column, _ := features.Failure(times, words, 0, word); column != want {
			t.Errorf("words of which %q is the event fail by column %q", word, column)
		}
	}
}

// TestOneValue: a column has one value where its variance around one distance from the mean is a
// millionth of the distance's square at most; rows of less than a billionth of all are rounding.
func TestOneValue(t *testing.T) {
	for _, c := range []struct {
		distance, variance float64
		want               bool
	}{{1, 0.9 * 0x1p-20, true}, {1, 1.1 * 0x1p-20, false}, {-2, 3.9 * 0x1p-20, true}, {-2, 4.1 * 0x1p-20, false},
		{0, 0, true}, {0, 1e-30, false}} {
		if got := features.IsConstant(4, 4*(c.distance*c.distance+c.variance), 4*c.distance); got != c.want {
			t.Errorf("%+v: one value %t", c, got)
		}
	}
	for rows, want := range map[float64]float64{3: 3, 1.1e-7: 1.1e-7, .9e-7: 0, 0: 0, -1e-9: 0} {
		if got := features.MissingRows(rows); got != want {
			t.Errorf("%g of 100 rows are taken for %g", rows, got)
		}
	}
}
