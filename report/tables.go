package report

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"dsbo/runs"
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
	var known []measure
	for _, m := range ms {
		for _, g := range gs {
			if v, _, _ := g.value(m.of); !math.IsNaN(v) {
				known = append(known, m)
				break
			}
		}
	}
	return known
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

// comparison is the table of groups, in a column of the given heading, and measures, sorted by the first measure.
func comparison(name, heading string, gs []group, ms []measure) *table {
	ms = measured(gs, ms)
	t := &table{Name: name, Columns: []column{{Title: heading}}}
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
	indices := make([]int, len(gs))
	for i, g := range gs {
		indices[i] = i
		values[i] = math.NaN()
		if len(ms) > 0 {
			values[i], _, _ = g.value(ms[0].of)
		}
		if math.IsNaN(values[i]) {
			values[i] = math.Inf(1)
		}
	}
	slices.SortStableFunc(indices, func(i, j int) int { return cmp.Compare(values[i], values[j]) })
	return indices
}

// chip numbers the colour of group i; a single group has one line for each part, and so none.
func chip(gs []group, i int) int {
	if len(gs) == 1 {
		return 0
	}
	return i%len(seriesColours) + 1
}

// runTable lists the runs: folder, seed, how each ended, and the settings in which they differ.
func runTable(gs []group) (*table, error) {
	t := &table{Name: "Runs", Columns: []column{{Title: "Folder"}, {Title: "Method"}, {Title: "Seed", Numeric: true}, {Title: "End"},
		{Title: "Done", Hint: "outer iterations at the last evaluation", Numeric: true}, {Title: "Φ at the end", Numeric: true}}}
	differ := varying(gs)
	for _, name := range differ {
		t.Columns = append(t.Columns, column{Title: name})
	}
	for i, g := range gs {
		for _, r := range g.runs {
			one := group{runs: []*Run{r}}
			seed := strconv.FormatUint(r.Config.Seed, 10)
			end := string(r.state().Kind)
			row := []cell{
				{Text: r.Name, Sort: r.Name, Chip: chip(gs, i)},
				{Text: r.method(), Sort: r.method()},
				{Text: seed, Sort: seed},
				{Text: end, Sort: end},
				one.cell(measure{of: iterations, show: count}),
				one.cell(measure{of: last(phi), show: number}),
			}
			values, _, err := r.Config.Values()
			if err != nil {
				return nil, err
			}
			for _, name := range differ {
				value, _ := lookUp(values, name)
				row = append(row, cell{Text: orNone(value), Sort: value})
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t, nil
}

// varying lists the settings in which any two groups differ, but for the method and its name.
func varying(gs []group) []string {
	var names []string
	for _, g := range gs[1:] {
		one, other := *gs[0].runs[0], *g.runs[0]
		one.Config.Algorithm, one.Config.Label = "", ""
		other.Config.Algorithm, other.Config.Label = "", ""
		for _, d := range differences(&one, &other) {
			if !slices.Contains(names, d.Name) {
				names = append(names, d.Name)
			}
		}
	}
	return names
}

// lookUp returns the value of a name.
func lookUp(values runs.Differences, name string) (string, bool) {
	i := slices.IndexFunc(values, func(d runs.Difference) bool { return d.Name == name })
	if i < 0 {
		return "", false
	}
	return values[i].Here, true
}

func orNone(s string) string {
	if s == "" {
		return none
	}
	return s
}

// sharedSettings lists the settings that all runs have in common, and what they have in common of program and machine.
func sharedSettings(gs []group) (settings, build []fact, err error) {
	var shared [2]runs.Differences
	for i, g := range gs {
		for j, r := range g.runs {
			var values [2]runs.Differences
			if values[0], values[1], err = r.Config.Values(); err != nil {
				return nil, nil, err
			}
			if i == 0 && j == 0 {
				shared = values
			}
			for k := range shared {
				shared[k] = slices.DeleteFunc(shared[k], func(d runs.Difference) bool {
					value, there := lookUp(values[k], d.Name)
					return !there || value != d.Here
				})
			}
		}
	}
	facts := func(values runs.Differences) (fs []fact) {
		for _, d := range values {
			fs = append(fs, fact{Title: d.Name, Text: shownSetting(d.Here)})
		}
		return fs
	}
	return facts(shared[0]), facts(shared[1]), nil
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
