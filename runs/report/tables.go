package report

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"dsbo"
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
	Range string    // least and greatest over seeds
	Sort  string    // what to sort by, a number in numeric columns; empty sorts last
	Look  *lookData // sample of its line before a first cell; nil: none
	Kind  string    // better or worse
	Mark  string    // warning behind the text
	Note  string    // word behind the text
	value float64
}

// known is 1 for a cell that has something to sort by, else 0.
func (c cell) known() int { return min(1, len(c.Sort)) }

// A fact is a setting, or a measure of the only group, with its name.
type fact struct {
	column
	cell
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

// newTable returns a table without rows, with columns of the given titles and hints; those with a
// hint are numeric.
func newTable(name string, titlesAndHints ...string) *table {
	t := &table{Name: name}
	for i := 0; i < len(titlesAndHints); i += 2 {
		hint := titlesAndHints[i+1]
		t.Columns = append(t.Columns, column{Title: titlesAndHints[i], Hint: hint, Numeric: hint != ""})
	}
	return t
}

// add adds a row of cells and texts.
func (t *table) add(row ...any) {
	cells := make([]cell, len(row))
	for i, v := range row {
		if text, is := v.(string); is {
			v = textCell(text)
		}
		cells[i] = v.(cell)
	}
	t.Rows = append(t.Rows, cells)
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
	t := &table{Name: name, Columns: []column{{Title: heading}}}
	seeds := slices.ContainsFunc(gs, func(g group) bool { return len(g.runs) > 1 })
	if seeds {
		hint := "with different seeds: medians, and below them the range"
		t.Columns = append(t.Columns, column{Title: "Runs", Hint: hint, Numeric: true})
	}
	var rows [][]*Run
	for _, g := range gs {
		rows = append(rows, g.runs)
		row := []cell{{Text: g.label, Sort: g.label, Look: lookOf(g.look)}}
		if of.Models && slices.ContainsFunc(g.runs, (*Run).unconverged) {
			row[0].Mark = notConverged
		}
		if seeds {
			row = append(row, textCell(strconv.Itoa(len(g.runs))))
		}
		t.Rows = append(t.Rows, row)
	}
	first := len(t.Columns)
	addMeasures(t, rows, of.Measures, (*Run).value)
	if len(t.Columns) == first {
		return nil
	}
	t.Columns[first].Sorted = true
	slices.SortStableFunc(t.Rows, func(a, b []cell) int {
		return cmp.Or(cmp.Compare(b[first].known(), a[first].known()), cmp.Compare(a[first].value, b[first].value))
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
			end, _ := r.state()
			rows = append(rows, []*Run{r})
			t.add(cell{Text: r.Name, Sort: r.Name, Look: lookOf(g.look)}, r.method(),
				strconv.FormatUint(r.Config.Seed, 10), string(end))
		}
	}
	addMeasures(t, rows, shown.Runs, (*Run).value)
	for _, name := range varyingSettings(gs) {
		t.Columns = append(t.Columns, column{Title: name})
		for i, row := range rows {
			value := ""
			for _, d := range row[0].settings {
				if d.Name == name {
					value = d.This
				}
			}
			t.Rows[i] = append(t.Rows[i], textCell(value))
		}
	}
	return t
}

// models is the table of those models that have converged, or of those that have not; nil where a
// run has none.
func models(s *runs.Summary, name string, converged bool) *table {
	t := &table{Name: name, Columns: []column{{Title: "Hyperparameters"}}}
	var rows [][]runs.Model
	for _, m := range s.Models {
		if m.Converged != converged {
			continue
		}
		rows = append(rows, []runs.Model{m})
		c := textCell(m.Name)
		if m.Kept {
			c.Note = "kept"
		}
		if !converged {
			c.Mark = notConverged
		}
		t.add(c)
	}
	addMeasures(t, rows, shown.Models,
		func(m runs.Model, name string) float64 { return float64(runs.NumberOf(m, name)) })
	if len(t.Columns) == 1 {
		return nil
	}
	return t
}

// structuresTable lists the structures of penalties that a run has tried, nil where it has none.
func structuresTable(s *runs.Summary) *table {
	if len(s.Structures) == 0 {
		return nil
	}
	t := newTable("Structures of penalties that were tried", "Structure", "", "Loss",
		"of rows by models that have not seen them, ± standard error", "Log-penalty",
		"its strength")
	for _, one := range s.Structures {
		loss := func(v float64) string { return strings.TrimPrefix(withError(v, float64(one.Error)), "+") }
		name := textCell(one.Name)
		if one.Kept {
			name.Note = "kept"
		}
		t.add(name, numberCell(one.Loss, loss), numberCell(one.Strength, number))
	}
	return t
}

// trafficTable is what was sent by what it was for, nil where a run does not say it.
func trafficTable(s *runs.Summary) *table {
	if s.Traffic.Total().Bytes == 0 {
		return nil
	}
	t := newTable("Traffic", "Sent for", "", "Messages", "vectors", "Numbers", "in them", "Bytes", "of these numbers")
	for _, row := range []struct {
		name string
		part dsbo.Traffic
	}{{"loading", s.Traffic.Setup}, {"iterations", s.Traffic.Method}, {"evaluation", s.Traffic.Evaluation},
		{"models", s.Traffic.Models}, {"all", s.Traffic.Total()}} {
		part := row.part
		if row.name == "loading" && part.Messages == 0 {
			continue
		}
		t.add(row.name, numberCell(part.Messages, wholeNumber), numberCell(part.Floats, wholeNumber),
			numberCell(part.Bytes, formatBytes))
	}
	return t
}

// sitesTable says what each site gains by taking part, nil where the run does not say it.
func sitesTable(s *runs.Summary) *table {
	if len(s.Sites) == 0 {
		return nil
	}
	const loss, right = "mean test loss", "share of right answers"
	t := newTable("What each site gains", "Site", "", "Examples", "test examples of the site", "Alone",
		loss+" of the site's own model", "One penalty", loss+" of the model of all sites at the best constant λ",
		"Tuned", loss+" of the model of all sites at the tuned λ",
		"Alone, accuracy", right, "One penalty, accuracy", right, "Tuned, accuracy", right)
	add := func(name string, site runs.Site) {
		row := []any{name, numberCell(site.Examples, wholeNumber)}
		scores := []runs.SiteScore{site.Alone, site.Constant, site.Tuned}
		for _, score := range scores {
			row = append(row, numberCell(score.Loss, number))
		}
		for _, score := range scores {
			row = append(row, numberCell(score.Accuracy, percent))
		}
		t.add(row...)
	}
	for i, site := range s.Sites {
		add(site.Label(i), site)
	}
	if s.AllSites != nil {
		add("all sites", *s.AllSites)
	}
	const losses = 5 // columns before accuracies, of which numbers have none
	if !slices.ContainsFunc(t.Rows, func(row []cell) bool { return row[losses].Sort != "" }) {
		t.Columns = t.Columns[:losses]
		for i, row := range t.Rows {
			t.Rows[i] = row[:losses]
		}
	}
	return t
}

// crossTable says how good the model of each site alone and the models of all sites are on the test
// examples of each site; nil where the sites' own models have not been tried on others' examples.
func crossTable(s *runs.Summary) *table {
	if len(s.Sites) == 0 || len(s.Sites[0].OthersAlone) == 0 {
		return nil
	}
	columns := []string{"Model", ""}
	for i, site := range s.Sites {
		name := site.Label(i)
		columns = append(columns, strings.ToUpper(name[:1])+name[1:], "mean loss on the test examples of this site")
	}
	t := newTable("Each model at each site",
		append(columns, "All sites", "mean loss on the test examples of all sites")...)
	for _, m := range runs.SiteModels(s.Sites) {
		row := []any{m.Name}
		for _, score := range m.Scores {
			row = append(row, numberCell(score.Loss, number))
		}
		t.add(row...)
	}
	return t
}

// constants says in a sentence what Φ is where all hyperparameters are one number.
func constants(s *runs.Summary) string {
	if len(s.Constants) == 0 {
		return ""
	}
	var parts []string
	for _, c := range s.Constants {
		parts = append(parts, number(c.Phi)+" at "+number(c.Lambda))
	}
	return "Exact Φ with one number for all hyperparameters: " + strings.Join(parts, ", ") + "."
}

func numberCell[T ~int | ~int64 | ~float64](n T, show func(float64) string) cell {
	v := float64(n)
	c := cell{Text: show(v), value: v}
	if runs.Number(v).Known() {
		c.Sort = strconv.FormatFloat(v, 'g', -1, 64)
	}
	return c
}

func textCell(s string) cell { return cell{Text: cmp.Or(s, none), Sort: s} }

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

// agentsTable says where each agent spent its time, and how long others waited for it; nil where
// all were in one process.
func agentsTable(s *runs.Summary) *table {
	if len(s.Waited) == 0 || len(s.Waited) != len(s.PerAgent) {
		return nil
	}
	t := newTable("Agents", "Agent", "", "In oracles", "time of the agent", "In exchanges",
		"time of the agent, with waiting for others",
		"Others waited", "time of its neighbours' exchanges that waited for its vectors, added")
	for i, u := range s.PerAgent {
		t.add("agent "+strconv.Itoa(i), numberCell(u.OracleSeconds, formatTime), numberCell(u.MixSeconds, formatTime),
			numberCell(s.Waited[i], formatTime))
	}
	return t
}
