package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html/template"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"dsbo/internal/wording"
	"dsbo/runs"
)

// An answer is what the page of a run over tables begins with, for readers without mathematics:
// what is predicted, how good that is, what joining gave, and which features count. How it was
// computed folds away below it.
type answer struct {
	About        string        // what is predicted, from what, by how many rows, and how well
	Card         *table        // how the tables were read
	CardIs       string        // of how many rows
	CardFolded   string        // what the card is where it is folded, as it is long; "": it is not
	SiteRows     *table        // the rows of each site
	Odd          []string      // what is unusual of the files
	Measures     *table        // of the predictions
	Confusion    *table        // of classes
	Threshold    string        // for a stated cost
	Joined       *table        // what joining gave each site
	JoinedIs     string        // what its changes are
	Coefficients *coefficients // of the model
	Kept         string        // why the hyperparameters that are kept are kept
	Predict      string        // the command
}

// tableProblem is what the settings of a task over tables say.
type tableProblem struct {
	Target   string   `json:"target"`
	Task     string   `json:"task"` // "class", "value" or "count"
	Loss     string   `json:"loss"`
	Classes  []string `json:"classes"`
	Features int      `json:"features"`
}

// tables returns the settings of a run over tables; of another one Target is empty.
func (r *Run) tables() (p tableProblem) {
	if json.Unmarshal(r.Config.Problem, &p) != nil {
		return tableProblem{}
	}
	return p
}

// lossName says in which unit losses are, as far as the settings tell.
func (r *Run) lossName() string {
	p := r.tables()
	switch {
	case p.Target == "":
		return ""
	case p.Task == "class":
		return "A loss is the negative logarithm of the probability that the model gave to the truth."
	case p.Task == "count":
		return "A loss is the negative log-likelihood of the count, up to what the model cannot change."
	case p.Task == "survival":
		return "A loss is minus the logarithm of the partial likelihood, and examples are rows with an event."
	case p.Loss == "squared":
		return "A loss is half of the squared error, in standard deviations of " + p.Target + "."
	}
	return "A loss is Huber's, of errors in standard deviations of " + p.Target + "."
}

// newAnswer returns the answer of a run whose predictions are assessed, else nil.
func newAnswer(r *Run) *answer {
	p, a := r.tables(), r.Assessment
	if p.Target == "" || len(a.Measures)+len(a.Coefficients) == 0 {
		return nil
	}
	what := "a number"
	switch {
	case len(p.Classes) > 8:
		what = fmt.Sprintf("one of %d classes", len(p.Classes))
	case p.Task == "class":
		what = "one of " + strings.Join(p.Classes, ", ")
	case p.Task == "count":
		what = "a count"
	case p.Task == "survival":
		what = "the time until an event"
	}
	sites := "site"
	if n := r.Config.Agents; n > 1 {
		sites = "sites together"
	}
	about := fmt.Sprintf("%s, %s, is predicted from %s. %s of %d %s made the model. %s", p.Target, what,
		wording.Count(p.Features, "feature"), wording.Count(a.Made, "row"), r.Config.Agents, sites, a.Judgement())
	card, cardIs := cardTable(r.Summary.Card)
	siteRows, odd := siteRowsTable(r.Summary.Card)
	return &answer{About: withoutBreaks(about), Card: card, CardIs: cardIs, CardFolded: cardFolded(r.Summary.Card),
		SiteRows: siteRows, Odd: append(odd, r.Levels...),
		Measures:  measuresTable(a.Measures),
		Confusion: confusionTable(a),
		Threshold: thresholdText(a.Threshold), Joined: joined(&r.Summary),
		JoinedIs:     r.Summary.ChangeMeaning(),
		Coefficients: cmp.Or(newCoefficients(p, a), newImportances(a.Importances)),
		Kept:         keptReason(&r.Summary), Predict: "dsbo predict -model " + r.Name + " -data new.csv"}
}

// measureText writes a measure's number.
func measureText(m runs.Measure) func(v float64) string {
	if m.Share {
		return func(v float64) string { return share(v, 1) }
	}
	return func(v float64) string {
		if a := math.Abs(v); a < 1.5 && a >= 0.01 {
			return decimals(v, 3)
		}
		return number(v)
	}
}

// Of how many columns the page has the card, and shows it before a click.
const (
	mostColumns = 50
	mostShown   = 12
)

// cardFolded says what a card has that is folded, and of which columns nothing is learned; "": it
// is short.
func cardFolded(c *runs.Card) string {
	if c == nil || len(c.Columns) <= mostShown {
		return ""
	}
	var dropped []string
	for _, one := range c.Columns {
		if one.Dropped != "" {
			dropped = append(dropped, one.Name)
		}
	}
	text := fmt.Sprintf("How %d columns were read", len(c.Columns))
	if dropped != nil {
		text += ", of which nothing is learned from " + wording.Some(dropped)
	}
	return text
}

// cardTable lists how columns were read, and says of how many rows; nil where that is not known.
func cardTable(c *runs.Card) (t *table, about string) {
	if c == nil {
		return nil, ""
	}
	rows := c.Table()
	about = c.About()
	if more := len(rows) - 1 - mostColumns; more > 0 {
		about += fmt.Sprintf(" %s more are in summary.json.", wording.Count(more, "column"))
		rows = rows[:1+mostColumns]
	}
	t = newTable("The data", "Column", "", "Read as", "", "Missing", "training rows", "Values", "", "Use", "")
	for k, row := range rows[1:] {
		last := cell{Text: row[4]}
		if k > 0 && c.Columns[k-1].Dropped != "" { // the target comes first
			last.Kind = "worse"
		}
		t.add(row[0], row[1], row[2], row[3], last)
	}
	return t, about
}

// siteRowsTable lists the rows of each site, nil of one, and returns what is unusual of the files.
func siteRowsTable(c *runs.Card) (t *table, odd []string) {
	if c == nil {
		return nil, nil
	}
	for k, row := range c.SiteRows() {
		if k == 0 {
			t = newTable("Rows of each site", "Site", "", "Training", "rows", "Validation", "rows", "Test", "rows")
			continue
		}
		cells := []any{row[0]}
		for j := range c.Rows {
			cells = append(cells, cell{Text: row[1+j], Sort: row[1+j]})
		}
		t.add(cells...)
	}
	return t, c.Odd
}

// measuresTable lists how good the predictions are, nil where nothing was measured.
func measuresTable(all []runs.Measure) *table {
	if len(all) == 0 {
		return nil
	}
	t := newTable("How good the predictions are", "Measure", "", "On test rows",
		"on rows that neither trained nor tuned the model", "95 % interval", "over the draw of the test rows",
		"What it says", "")
	for _, m := range all {
		show := measureText(m)
		name := m.Name
		if m.Unit != "" {
			name += ", in units of " + m.Unit
		}
		between := ""
		if m.Low.Known() && m.High.Known() {
			between = show(float64(m.Low)) + " to " + show(float64(m.High))
		}
		t.add(name, numberCell(m.Value, show), cell{Text: cmp.Or(between, "too few rows"), Range: m.Note}, m.Hint)
	}
	return t
}

// confusionTable says which classes the rows of each class are taken for, nil of another target.
func confusionTable(a runs.Assessment) *table {
	if len(a.Confusion) == 0 || len(a.Confusion) > mostClasses {
		return nil
	}
	t := newTable("Confusion matrix", "True class", "")
	for _, c := range a.Classes {
		t.Columns = append(t.Columns, column{Title: "taken for " + c.Name, Hint: "test rows", Numeric: true})
	}
	for k, counts := range a.Confusion {
		row := []any{a.Classes[k].Name}
		for of, n := range counts {
			c := numberCell(n, wholeNumber)
			if of == k {
				c.Kind = string(runs.Better)
			}
			row = append(row, c)
		}
		t.add(row...)
	}
	return t
}

// thresholdText says what the threshold for a stated cost gives, "" where there is none.
func thresholdText(h *runs.Threshold) string {
	if h == nil {
		return ""
	}
	return fmt.Sprintf("Where a missed row of %[1]s costs as much as %[2]s false alarms, a row is best taken for "+
		"%[1]s from a probability of %.3[3]f on, as %[4]s validation rows tell. On the test rows this finds %[5]s of "+
		"%[6]s, with %[7]s false alarms, and costs %.3[8]f a row; taking the likeliest class finds %[9]s with %[10]s, "+
		"and costs %.3[11]f.", h.Class, number(h.Cost), h.Probability, wholeNumber(h.Chosen),
		wholeNumber(h.At.Found), wholeNumber(h.Own), wholeNumber(h.At.Alarms), h.Paid(h.At),
		wholeNumber(h.Likeliest.Found), wholeNumber(h.Likeliest.Alarms), h.Paid(h.Likeliest))
}

// joined says what each site gained by joining, nil where a run does not tell.
func joined(s *runs.Summary) *table {
	if len(s.Sites) < 2 {
		return nil
	}
	t := newTable("What joining gave each site", "Site", "", "Test rows", "of the site", "Own model",
		"mean loss of the model that the site finds by its own rows alone", "Joint model",
		"mean loss of the model of all sites", "Change of loss", "joint less own", "Interval",
		"which holds the change on new rows of the site, those of all sites together in 95 % of draws")
	add := func(name string, one runs.Site, sites int) {
		if !one.Change.Known() {
			t.add(name, numberCell(one.Examples, wholeNumber), "", "", "", one.NoChange())
			return
		}
		low, high := one.ChangeInterval(sites)
		change := numberCell(one.Change, withSign(number))
		if o := one.ChangeOutcome(sites); o != runs.Same {
			change.Kind = string(o)
		}
		scored := func(s runs.SiteScore) cell {
			c := numberCell(s.Loss, number)
			if s.Accuracy.Known() {
				c.Range = share(float64(s.Accuracy), 1) + " right"
			}
			return c
		}
		t.add(name, numberCell(one.Examples, wholeNumber), scored(one.Alone), scored(one.Joint(s.TunedKept())), change,
			withSign(number)(float64(low))+" to "+withSign(number)(float64(high)))
	}
	for i, one := range s.Sites {
		add(one.Label(i), one, len(s.Sites))
	}
	if s.AllSites != nil {
		add("all sites", *s.AllSites, 1)
	}
	return t
}

// keptReason says why the model that is kept is, "" where nothing was compared.
func keptReason(s *runs.Summary) string {
	if len(s.Models) < 2 {
		return ""
	}
	tuned, other := s.Models[len(s.Models)-1], runs.Model{Phi: runs.Unknown()}
	for _, m := range s.Models {
		if m.Name == s.Verdict.Against {
			other = m
		}
	}
	if !tuned.Phi.Known() || !other.Phi.Known() {
		return ""
	}
	kept, with, without := "The tuned log-penalties are kept", "the tuned ones", "one for all"
	switch {
	case !tuned.Kept:
		kept = "One log-penalty for all is kept" + lostBy(s, tuned, other)
	case !other.Lambda.Known():
		kept, with, without = "The "+tuned.Name+" is kept", "it", other.Name
	}
	decides := "Φ, which decides, is the mean loss on the rows that tune and what keeps log-penalties together"
	if slices.ContainsFunc(s.Verdict.Gains, func(g runs.Gain) bool { return g.Set == runs.CrossFitted }) {
		decides = "The cross-fitted loss, which decides, is of each row by a model that has not seen it"
	}
	return fmt.Sprintf("%s. %s: it is %s with %s and %s with %s.", kept, decides, number(float64(tuned.Phi)), with,
		number(float64(other.Phi)), without)
}

// lostBy returns the rule by which a tuned model has lost, by the rules for models of a run,
// where that is not that its Φ is larger.
func lostBy(s *runs.Summary, tuned, other runs.Model) string {
	switch {
	case !tuned.Converged && !tuned.Reached:
		return ", as the solution with the tuned ones has not converged"
	case tuned.Phi > other.Phi:
		return ""
	case runs.LostHeldOut(s.Verdict.Gains):
		return ", as on rows that tune nothing it does better by more than a standard error"
	}
	return ", as the tuned ones are no better"
}

// Data returns the points of a figure as a link to a file of comma-separated values.
func (d Drawing) Data() template.URL {
	var b strings.Builder
	b.WriteString("line,x,y\n")
	for _, s := range d.Series {
		name := s.Name
		if name == "" {
			name = "reference"
		}
		for i := range s.X {
			fmt.Fprintf(&b, "%q,%s,%s\n", wording.Cell(name), strconv.FormatFloat(s.X[i], 'g', -1, 64),
				strconv.FormatFloat(s.Y[i], 'g', -1, 64))
		}
	}
	return template.URL("data:text/csv;charset=utf-8," + url.PathEscape(b.String()))
}
