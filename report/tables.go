package report

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A table is rows under headings; the page can sort it by each of them.
type table struct {
	Name    string // for screen readers
	Columns []column
	Rows    [][]cell
}

type column struct {
	Title, Hint string
	Numeric     bool
	Sorted      bool // ascending, as the rows come
}

type cell struct {
	Text  string
	Range string // least and greatest over seeds
	Sort  string // what to sort by, a number in numeric columns; empty sorts last
	Chip  int    // of a first cell: 1 + the number of its line's colour; 0: none
}

// A fact is a measure of the only group.
type fact struct{ Title, Hint, Text, Range string }

// measured drops the measures that no group has.
func measured(gs []group, ms []measure) []measure {
	var there []measure
	for _, m := range ms {
		for _, g := range gs {
			if v, _, _ := g.value(m.of); !math.IsNaN(v) {
				there = append(there, m)
				break
			}
		}
	}
	return there
}

// facts lists the measures of one group.
func facts(g group, ms []measure) []fact {
	var fs []fact
	for _, m := range measured([]group{g}, ms) {
		c := g.cell(m)
		fs = append(fs, fact{m.title, m.hint, c.Text, c.Range})
	}
	return fs
}

// cell shows a measure: the median over seeds, with the range where there is one.
func (g group) cell(m measure) cell {
	mid, low, high := g.value(m.of)
	c := cell{Text: m.show(mid)}
	if !math.IsNaN(mid) {
		c.Sort = strconv.FormatFloat(mid, 'g', -1, 64)
	}
	if from, to := m.show(low), m.show(high); len(g.runs) > 1 && from != to {
		c.Range = from + " to " + to
	}
	return c
}

// compared is the table of groups, which are called what, and measures, sorted by the first measure.
func compared(name, what string, gs []group, ms []measure) table {
	ms = measured(gs, ms)
	t := table{Name: name, Columns: []column{{Title: what}}}
	seeds := false
	for _, g := range gs {
		seeds = seeds || len(g.runs) > 1
	}
	if seeds {
		t.Columns = append(t.Columns, column{Title: "Runs", Hint: "with different seeds: medians, and below them the range", Numeric: true})
	}
	for i, m := range ms {
		t.Columns = append(t.Columns, column{Title: m.title, Hint: m.hint, Numeric: true, Sorted: i == 0})
	}
	for _, i := range order(gs, ms) {
		g := gs[i]
		row := []cell{{Text: g.label, Sort: g.label, Chip: chip(gs, i)}}
		if seeds {
			n := strconv.Itoa(len(g.runs))
			row = append(row, cell{Text: n, Sort: n})
		}
		for _, m := range ms {
			row = append(row, g.cell(m))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// order sorts groups by their first measure, those without it last.
func order(gs []group, ms []measure) []int {
	values := make([]float64, len(gs))
	at := make([]int, len(gs))
	for i, g := range gs {
		at[i] = i
		values[i] = math.NaN()
		if len(ms) > 0 {
			values[i], _, _ = g.value(ms[0].of)
		}
		if math.IsNaN(values[i]) {
			values[i] = math.Inf(1)
		}
	}
	slices.SortStableFunc(at, func(i, j int) int { return cmp.Compare(values[i], values[j]) })
	return at
}

// chip numbers the colour of group i; a single group has one line for each part, and so none.
func chip(gs []group, i int) int {
	if len(gs) == 1 {
		return 0
	}
	return i%len(seriesColours) + 1
}

// runTable lists the runs: folder, seed, how each ended, and the settings in which they differ.
func runTable(gs []group) table {
	t := table{Name: "Runs", Columns: []column{{Title: "Folder"}, {Title: "Method"}, {Title: "Seed", Numeric: true}, {Title: "End"},
		{Title: "Done", Hint: "outer iterations at the last evaluation", Numeric: true}, {Title: "Φ at the end", Numeric: true}}}
	differ := varying(gs)
	for _, key := range differ {
		t.Columns = append(t.Columns, column{Title: key})
	}
	for i, g := range gs {
		for _, r := range g.runs {
			one := group{runs: []*Run{r}}
			row := []cell{
				{Text: r.Name, Sort: r.Name, Chip: chip(gs, i)},
				{Text: r.method(), Sort: r.method()},
				{Text: orNone(r.Config.Get("seed")), Sort: r.Config.Get("seed")},
				{Text: r.state().Kind, Sort: r.state().Kind},
				one.cell(measure{of: end(keyIteration), show: count}),
				one.cell(measure{of: end("phi"), show: number}),
			}
			for _, key := range differ {
				row = append(row, cell{Text: orNone(r.Config.Get(key)), Sort: r.Config.Get(key)})
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// varying lists the settings in which any two groups differ, but for the method itself, its name and its
// number of iterations, which the configuration has twice.
func varying(gs []group) []string {
	elsewhere := []string{"algorithm", "label", "params.K"}
	var keys []string
	for _, g := range gs[1:] {
		for _, key := range differences(gs[0].runs[0], g.runs[0]) {
			if !slices.Contains(keys, key) && !slices.Contains(elsewhere, key) {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

func orNone(s string) string {
	if s == "" {
		return none
	}
	return s
}

// settings lists what all runs have in common, and is all there is for one run.
func settings(gs []group, wanted func(key string) bool) []fact {
	var fs []fact
	for _, f := range gs[0].runs[0].Config {
		if !wanted(f.Key) || !shared(gs, f) {
			continue
		}
		fs = append(fs, fact{Title: f.Key, Text: shownSetting(f.Text)})
	}
	return fs
}

// shared says whether all runs have the same value of a setting.
func shared(gs []group, f Field) bool {
	for _, g := range gs {
		for _, r := range g.runs {
			if r.Config.Get(f.Key) != f.Text {
				return false
			}
		}
	}
	return true
}

// shownSetting writes lists of words as words, and cuts long values, such as lists of edges.
func shownSetting(s string) string {
	const most = 160
	var words []string
	if json.Unmarshal([]byte(s), &words) == nil {
		s = strings.Join(words, " ")
	}
	runes := []rune(strings.TrimSpace(s))
	if len(runes) == 0 {
		return none
	}
	if len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return string(runes)
}
