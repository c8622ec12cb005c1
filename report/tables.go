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
	Name    string // name for screen readers
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
	Chip  int    // colour mark of a first cell: 1 + the number of its line's colour; 0: none
	value float64
}

// A fact is a setting, or a measure of the only group, with its name.
type fact struct {
	column
	cell
}

// facts lists the measures of one group.
func facts(g group, ms []measure[*Run]) (fs []fact) {
	t := table{Rows: make([][]cell, 1)}
	addMeasures(&t, [][]*Run{g.runs}, ms)
	for i, c := range t.Columns {
		fs = append(fs, fact{c, t.Rows[0][i]})
	}
	return fs
}

// addMeasures appends the columns of those measures that any row has. A cell shows the median of its row's items, such
// as the runs of a group, with the range where there is one.
func addMeasures[T any](t *table, rows [][]T, ms []measure[T]) {
	for _, m := range ms {
		cells := make([]cell, len(rows))
		measured := false
		for i, items := range rows {
			mid, low, high := spread(items, m.of)
			cells[i] = cell{Text: m.show(mid), value: mid}
			if from, to := m.show(low), m.show(high); from != to {
				cells[i].Range = from + " to " + to
			}
			if !math.IsNaN(mid) {
				cells[i].Sort = strconv.FormatFloat(mid, 'g', -1, 64)
				measured = true
			}
		}
		if !measured {
			continue
		}
		t.Columns = append(t.Columns, column{Title: m.title, Hint: m.hint, Numeric: true})
		for i, c := range cells {
			t.Rows[i] = append(t.Rows[i], c)
		}
	}
}

// comparison is the table of groups, in a column of the given heading, and measures, sorted by the first measure:
// the least come first, and last those without it.
func comparison(name, heading string, gs []group, ms []measure[*Run]) *table {
	t := &table{Name: name, Columns: []column{{Title: heading}}}
	seeds := slices.ContainsFunc(gs, func(g group) bool { return len(g.runs) > 1 })
	if seeds {
		t.Columns = append(t.Columns, column{Title: "Runs", Hint: "with different seeds: medians, and below them the range", Numeric: true})
	}
	var rows [][]*Run
	for _, g := range gs {
		rows = append(rows, g.runs)
		row := []cell{{Text: g.label, Sort: g.label, Chip: g.chip}}
		if seeds {
			row = append(row, textCell(strconv.Itoa(len(g.runs))))
		}
		t.Rows = append(t.Rows, row)
	}
	first := len(t.Columns)
	addMeasures(t, rows, ms)
	t.Columns[first].Sorted = true
	rank := func(row []cell) float64 {
		if row[first].Sort == "" {
			return math.Inf(1)
		}
		return row[first].value
	}
	slices.SortStableFunc(t.Rows, func(a, b []cell) int { return cmp.Compare(rank(a), rank(b)) })
	return t
}

// runTable lists the runs: folder, seed, how each ended, and the settings in which they differ.
func runTable(gs []group) *table {
	t := &table{Name: "Runs", Columns: []column{{Title: "Folder"}, {Title: "Method"}, {Title: "Seed", Numeric: true}, {Title: "End"}}}
	var rows [][]*Run
	for _, g := range gs {
		for _, r := range g.runs {
			end, _ := r.state()
			rows = append(rows, []*Run{r})
			t.Rows = append(t.Rows, []cell{{Text: r.Name, Sort: r.Name, Chip: g.chip}, textCell(r.method()),
				textCell(strconv.FormatUint(r.Config.Seed, 10)), textCell(string(end))})
		}
	}
	addMeasures(t, rows, []measure[*Run]{done, lastPhi})
	for _, name := range varying(gs) {
		t.Columns = append(t.Columns, column{Title: name})
		for i, row := range rows {
			value := ""
			for _, d := range row[0].settings {
				if d.Name == name {
					value = d.Here
				}
			}
			t.Rows[i] = append(t.Rows[i], textCell(value))
		}
	}
	return t
}

// baselines is the table of the models that a finished run compares its own with: the same solver of the
// lower problem at fixed hyperparameters. It is nil where the run has none.
func baselines(s *runs.Summary) *table {
	if s == nil || len(s.Models) == 0 {
		return nil
	}
	t := &table{Name: "Models at the tuned and at fixed hyperparameters", Columns: []column{{Title: "Hyperparameters"}}}
	var rows [][]runs.Model
	for _, m := range s.Models {
		rows = append(rows, []runs.Model{m})
		t.Rows = append(t.Rows, []cell{textCell(m.Name)})
	}
	addMeasures(t, rows, ofModels())
	return t
}

// constants says in a sentence what Φ is where all hyperparameters are one number.
func constants(s *runs.Summary) string {
	if s == nil || len(s.Constants) == 0 {
		return ""
	}
	var parts []string
	for _, c := range s.Constants {
		parts = append(parts, number(c.Phi)+" at "+number(c.Lambda))
	}
	return "Exact Φ with one number for all hyperparameters: " + strings.Join(parts, ", ") + "."
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
func sharedSettings(all []*Run, values func(*Run) runs.Differences) (fs []fact) {
	for _, d := range values(all[0]) {
		if !slices.ContainsFunc(all, func(r *Run) bool { return !slices.Contains(values(r), d) }) {
			fs = append(fs, fact{column{Title: d.Name}, cell{Text: shownSetting(d.Here)}})
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
