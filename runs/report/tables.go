package report

import (
	"cmp"
	"encoding/json"
	"html/template"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"dsbo"
	"dsbo/internal/wording"
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
	Range string // least and greatest over seeds, or what is below the text
	Sort  string // what to sort by, a number in numeric columns; empty sorts last
	Look  *Look  // sample of its line before a first cell; nil: none
	Kind  string // better or worse
	Mark  string // warning behind the text
	Note  string // word behind the text
	value float64
}

// A fact is a setting, or a measure of the only group, with its name.
type fact struct {
	column
	cell
}

// functions are what templates make tables of.
var functions = template.FuncMap{
	"table": newTable, "num": numberOf, "sent": sentCells, "scored": scoredCell,
	"text": func(n any, show string) string { return numberOf(n, show).Text },
	"cell": func(text string) cell { return cell{Text: text, Sort: text} },
	"plusMinus": func(v, e runs.Number) cell {
		return numberCell(v, func(v float64) string { return withError(v, float64(e)) })
	},
	"lossChange": lossChange, "accuracyChange": accuracyChange, "siteModels": runs.SiteModels,
	"role": func(set string) string { return shown.Roles[set] }, "lostHeldOut": runs.LostHeldOut,
	"part": func(v, of runs.Number) float64 { return 100 * max(0, float64(v)) / max(float64(of), 1e-300) },
	"list": func(texts ...string) []string { return texts },
	"add":  func(list []string, text string) []string { return append(list, text) },
	"has":  slices.Contains[[]string], "join": strings.Join, "count": wording.Count, "some": wording.Some,
	"ranges": wording.Ranges, "unbroken": withoutBreaks, "csv": drawing.csv,
	"capital": func(s string) string {
		first, n := utf8.DecodeRuneInString(s)
		return string(unicode.ToUpper(first)) + s[n:]
	},
}

// newTable returns a table without rows, with columns of the given titles and hints; those with a
// hint are numeric.
func newTable(name string, titlesAndHints ...string) *table {
	t := &table{Name: name}
	t.Column(titlesAndHints...)
	return t
}

// Column adds columns, and returns "" for templates.
func (t *table) Column(titlesAndHints ...string) string {
	for pair := range slices.Chunk(titlesAndHints, 2) {
		t.Columns = append(t.Columns, column{Title: pair[0], Hint: pair[1], Numeric: pair[1] != ""})
	}
	return ""
}

// Add adds a row, as And extends it.
func (t *table) Add(cells ...any) string {
	t.Rows = append(t.Rows, nil)
	return t.And(cells...)
}

// And adds cells and texts, or lists of them, to the last row, and returns "" for templates.
func (t *table) And(cells ...any) string {
	row := &t.Rows[len(t.Rows)-1]
	for _, c := range cells {
		switch c := c.(type) {
		case []cell:
			*row = append(*row, c...)
		case []string:
			for _, text := range c {
				t.And(text)
			}
		case string:
			*row = append(*row, textCell(c))
		case cell:
			*row = append(*row, c)
		}
	}
	return ""
}

// Colored, Over and Noted are the cell with a kind, a text below and a word behind its own.
func (c cell) Colored(kind string) cell {
	c.Kind = kind
	return c
}

func (c cell) Over(text string) cell {
	c.Range = text
	return c
}

func (c cell) Noted(word string) cell {
	c.Note = word
	return c
}

// numberOf is the cell of any kind of number, written in a way of [shows].
func numberOf(n any, show string) cell {
	v := reflect.ValueOf(n)
	if v.CanInt() {
		return numberCell(float64(v.Int()), shows[show])
	}
	return numberCell(v.Float(), shows[show])
}

func numberCell[T ~int | ~float64](n T, show func(float64) string) cell {
	v := float64(n)
	c := cell{Text: show(v), value: v}
	if runs.Number(v).Known() {
		c.Sort = strconv.FormatFloat(v, 'g', -1, 64)
	}
	return c
}

func textCell(s string) cell { return cell{Text: cmp.Or(s, none), Sort: s} }

// sentCells are the numbers of traffic.
func sentCells(t dsbo.Traffic) []cell {
	return []cell{numberOf(t.Messages, "whole"), numberOf(t.Floats, "whole"), numberOf(t.Bytes, "bytes")}
}

// scoredCell is a loss, with the accuracy below it where there is one.
func scoredCell(s runs.SiteScore) cell {
	c := numberCell(s.Loss, number)
	if s.Accuracy.Known() {
		c.Range = share(float64(s.Accuracy), 1) + " right"
	}
	return c
}

// facts lists the measures of one group.
func facts(g group, ms []measure) (fs []fact) {
	t := table{Rows: make([][]cell, 1)}
	addMeasures(&t, [][]*Run{g.runs}, ms, (*Run).value)
	for i, c := range t.Columns {
		fs = append(fs, fact{c, t.Rows[0][i]})
	}
	return fs
}

// addMeasures appends the columns of those measures that any row has. A cell shows the median of
// its row's items, such as the runs of a group, with the range where there is one.
func addMeasures[T any](t *table, rows [][]T, ms []measure, value func(T, string) float64) {
	for _, m := range ms {
		show, cells := shows[m.Show], make([]cell, len(rows))
		measured := false
		for i, items := range rows {
			mid, low, high := spread(items, func(item T) float64 { return value(item, m.Value) })
			cells[i] = numberCell(mid, show)
			if from, to := show(low), show(high); from != to {
				cells[i].Range = from + " to " + to
			}
			measured = measured || cells[i].Sort != ""
		}
		if !measured {
			continue
		}
		t.Columns = append(t.Columns, column{Title: m.Title, Hint: m.Hint, Numeric: true})
		for i, c := range cells {
			t.Rows[i] = append(t.Rows[i], c)
		}
	}
}

// comparison is a table with a row for each group of runs of one problem: its label, under the
// heading, and the measures of a topic. Rows ascend by the first measure, and rows without it come
// last. It is nil where nothing was measured.
func comparison(name, heading string, gs []group, of topic) *table {
	t := newTable(name, heading, "")
	seeds := slices.ContainsFunc(gs, func(g group) bool { return len(g.runs) > 1 })
	if seeds {
		t.Column("Runs", "with different seeds: medians, and below them the range")
	}
	var rows [][]*Run
	for _, g := range gs {
		rows = append(rows, g.runs)
		first := cell{Text: g.label, Sort: g.label, Look: g.sample()}
		if of.Models && slices.ContainsFunc(g.runs, (*Run).unconverged) {
			first.Mark = notConverged
		}
		if t.Add(first); seeds {
			t.And(strconv.Itoa(len(g.runs)))
		}
	}
	first := len(t.Columns)
	addMeasures(t, rows, of.Measures, (*Run).value)
	if len(t.Columns) == first {
		return nil
	}
	t.Columns[first].Sorted = true
	slices.SortStableFunc(t.Rows, func(a, b []cell) int {
		known := func(c cell) int { return min(1, len(c.Sort)) }
		return cmp.Or(known(b[first])-known(a[first]), cmp.Compare(a[first].value, b[first].value))
	})
	return t
}

// notConverged marks what belongs to a model whose solver has ended too early.
const notConverged = "not converged"

// runTable lists the runs: folder, seed, how each ended, and the settings in which they differ.
func runTable(gs []group) *table {
	t := newTable("Runs", "Folder", "", "Method", "", "Seed", "of all chance in the run", "End", "")
	var rows [][]*Run
	for _, g := range gs {
		for _, r := range g.runs {
			rows = append(rows, []*Run{r})
			t.Add(cell{Text: r.Name, Sort: r.Name, Look: g.sample()}, r.method(),
				strconv.FormatUint(r.Config.Seed, 10), string(r.End()))
		}
	}
	addMeasures(t, rows, shown.Runs, (*Run).value)
	for _, name := range varyingSettings(gs) {
		t.Column(name, "")
		for i, row := range rows {
			at := slices.IndexFunc(row[0].settings, func(d runs.Difference) bool { return d.Name == name })
			value := ""
			if at >= 0 {
				value = row[0].settings[at].This
			}
			t.Rows[i] = append(t.Rows[i], textCell(value))
		}
	}
	return t
}

// ModelTable is the table of those models that have converged, or of those that have not; nil where
// a run has none.
func (r *Run) ModelTable(converged bool) *table {
	t := newTable("Models", "Hyperparameters", "")
	mark := ""
	if !converged {
		t.Name, mark = "Models that have not converged", notConverged
	}
	var rows [][]runs.Model
	for _, m := range r.Summary.Models {
		if m.Converged != converged {
			continue
		}
		rows = append(rows, []runs.Model{m})
		c := textCell(m.Name)
		if c.Mark = mark; m.Kept {
			c.Note = "kept"
		}
		t.Add(c)
	}
	addMeasures(t, rows, shown.Models,
		func(m runs.Model, name string) float64 { return float64(runs.NumberOf(m, name)) })
	if len(t.Columns) == 1 {
		return nil
	}
	return t
}

// varyingSettings lists the settings in which any two groups differ, but for the method.
func varyingSettings(gs []group) []string {
	var names []string
	for _, g := range gs[1:] {
		one, other := *gs[0].runs[0], *g.runs[0]
		one.Config.Algorithm = ""
		other.Config.Algorithm = ""
		for _, d := range differences(&one, &other) {
			if !slices.Contains(names, d.Name) {
				names = append(names, d.Name)
			}
		}
	}
	return names
}

// sharedSettings lists the values of each run that all runs have in common.
func sharedSettings(all []*Run, values func(*Run) runs.Differences) (fs []fact) {
	for _, d := range values(all[0]) {
		if !slices.ContainsFunc(all, func(r *Run) bool { return !slices.Contains(values(r), d) }) {
			fs = append(fs, fact{column{Title: d.Name}, cell{Text: shownSetting(d.This)}})
		}
	}
	return fs
}

// shownSetting writes lists of words as words, and cuts long values, such as lists of edges, and
// digests, of which no more than the beginning is compared by eye.
func shownSetting(s string) string {
	most := 160
	if len(s) == 64 && strings.Trim(s, "0123456789abcdef") == "" {
		most = 12
	}
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
