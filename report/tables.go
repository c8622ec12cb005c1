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
	return slices.DeleteFunc(ms, func(m measure) bool {
		return !slices.ContainsFunc(gs, func(g group) bool {
			mid, _, _ := g.value(m.of)
			return !math.IsNaN(mid)
		})
	})
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
	c := numberCell(mid, m.show)
	if from, to := m.show(low), m.show(high); len(g.runs) > 1 && from != to {
		c.Range = from + " to " + to
	}
	return c
}

func numberCell(v float64, show func(float64) string) cell {
	if math.IsNaN(v) {
		return cell{Text: show(v)}
	}
	return cell{Text: show(v), Sort: strconv.FormatFloat(v, 'g', -1, 64)}
}

// comparison is the table of groups, in a column of the given heading, and measures, sorted by the first measure:
// the least come first, and last those without it.
func comparison(name, heading string, gs []group, ms []measure) *table {
	ms = measured(gs, ms)
	seeds := slices.ContainsFunc(gs, func(g group) bool { return len(g.runs) > 1 })
	t := &table{Name: name, Columns: []column{{Title: heading}}}
	if seeds {
		t.Columns = append(t.Columns, column{Title: "Runs", Hint: "with different seeds: medians, and below them the range", Numeric: true})
	}
	for i, m := range ms {
		t.Columns = append(t.Columns, column{Title: m.title, Hint: m.hint, Numeric: true, Sorted: i == 0})
	}
	rank := func(g group) float64 {
		mid, _, _ := g.value(ms[0].of)
		if math.IsNaN(mid) {
			return math.Inf(1)
		}
		return mid
	}
	for _, g := range slices.SortedStableFunc(slices.Values(gs), func(a, b group) int { return cmp.Compare(rank(a), rank(b)) }) {
		row := []cell{{Text: g.label, Sort: g.label, Chip: g.chip}}
		if seeds {
			row = append(row, textCell(strconv.Itoa(len(g.runs))))
		}
		for _, m := range ms {
			row = append(row, g.cell(m))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// runTable lists the runs: folder, seed, how each ended, and the settings in which they differ.
func runTable(gs []group) *table {
	t := &table{Name: "Runs", Columns: []column{{Title: "Folder"}, {Title: "Method"}, {Title: "Seed", Numeric: true}, {Title: "End"},
		{Title: "Done", Hint: "outer iterations at the last evaluation", Numeric: true}, {Title: "Φ at the end", Numeric: true}}}
	differ := varying(gs)
	for _, name := range differ {
		t.Columns = append(t.Columns, column{Title: name})
	}
	for _, g := range gs {
		for _, r := range g.runs {
			one := group{runs: []*Run{r}}
			end, _ := r.state()
			row := []cell{
				{Text: r.Name, Sort: r.Name, Chip: g.chip},
				textCell(r.method()),
				textCell(strconv.FormatUint(r.Config.Seed, 10)),
				textCell(string(end)),
				one.cell(measure{of: iterations, show: count}),
				one.cell(measure{of: ofLast(phi), show: number}),
			}
			for _, name := range differ {
				i := slices.IndexFunc(r.settings, func(d runs.Difference) bool { return d.Name == name })
				if i < 0 {
					row = append(row, textCell(""))
				} else {
					row = append(row, textCell(r.settings[i].Here))
				}
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

func textCell(s string) cell { return cell{Text: cmp.Or(s, none), Sort: s} }

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

// sharedSettings lists those of some values of each run that all runs have in common.
func sharedSettings(gs []group, values func(*Run) runs.Differences) []fact {
	n, runsWith := 0, map[runs.Difference]int{} // by name and value
	for _, g := range gs {
		for _, r := range g.runs {
			n++
			for _, d := range values(r) {
				runsWith[d]++
			}
		}
	}
	var fs []fact
	for _, d := range values(gs[0].runs[0]) {
		if runsWith[d] == n {
			fs = append(fs, fact{Title: d.Name, Text: shownSetting(d.Here)})
		}
	}
	return fs
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
