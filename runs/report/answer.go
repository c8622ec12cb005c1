package report

import (
	"encoding/json"
	"fmt"
	"html/template"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"dsbo/internal/num"
	"dsbo/internal/wording"
	"dsbo/network/membership"
	"dsbo/runs"
)

// A tableProblem is what the settings of a task over tables say.
type tableProblem struct {
	Target   string   `json:"target"`
	Task     string   `json:"task"` // "class", "value", "count" or "survival"
	Loss     string   `json:"loss"`
	Classes  []string `json:"classes"`
	Features int      `json:"features"`
}

// Problem returns the settings of a run over tables; of another one Target is empty.
func (r *Run) Problem() (p tableProblem) {
	if json.Unmarshal(r.Config.Problem, &p) != nil {
		return tableProblem{}
	}
	return p
}

// Answered reports whether the page begins for readers without mathematics, with what is predicted,
// how good that is, what joining gave, and which features count: the page of one run over tables
// whose predictions are assessed. How it was computed folds away below.
func (p *page) Answered() bool {
	return p.Run != nil && p.Run.Problem().Target != "" &&
		len(p.Run.Assessment.Measures)+len(p.Run.Assessment.Coefficients) > 0
}

// An effectScale is how the effects of a target are told.
type effectScale struct {
	Name, Step string // of the effect; what a step does
	Part       string // of which a column makes a part
	None       string // no effect
	of         func(v float64) float64
}

// Effect returns how effects are told, weights as they are where estimates are refused.
func (p tableProblem) Effect(refused string) effectScale {
	plain := func(v float64) float64 { return v }
	e := effectScale{"Effect, in " + p.Target, "changes " + p.Target + " by the effect", p.Target, "0", plain}
	switch p.Task {
	case "class":
		e = effectScale{"Odds ratio", "multiplies the odds of the class by the odds ratio", "the log-odds", "1",
			num.Exp}
	case "count":
		e = effectScale{"Rate ratio", "multiplies the expected count by the rate ratio",
			"the logarithm of the count", "1", num.Exp}
	case "survival":
		e = effectScale{"Hazard ratio", "multiplies the hazard by the hazard ratio", "the logarithm of the hazard", "1",
			num.Exp}
	}
	if refused != "" {
		e.of = plain
	}
	return e
}

// Of is the effect of a step of a coefficient, by one of its values.
func (e effectScale) Of(c runs.Coefficient, v runs.Number) float64 {
	return e.of(float64(v) * c.Step())
}

// measureText writes a measure's number.
func measureText(v float64) string {
	if a := math.Abs(v); a < 1.5 && a >= 0.01 {
		return decimals(v, 3)
	}
	return number(v)
}

// A siteRow is a site, or all sites together, in tables of them.
type siteRow struct {
	runs.Site
	Name  string
	sites int // how many there are beside it
}

// Sites lists the sites of a run, and all together where they have been scored.
func (r *Run) Sites() (all []siteRow) {
	for i, s := range r.Summary.Sites {
		all = append(all, siteRow{s, s.Label(i), len(r.Summary.Sites)})
	}
	if r.Summary.AllSites != nil {
		all = append(all, siteRow{*r.Summary.AllSites, "all sites", 1})
	}
	return all
}

// Interval writes the interval of what joining changed.
func (s siteRow) Interval() string {
	low, high := s.ChangeInterval(s.sites)
	show := shows["signed"]
	return show(float64(low)) + " to " + show(float64(high))
}

// Kind is what joining gave where it is beyond chance, else "".
func (s siteRow) Kind() string {
	if o := s.ChangeOutcome(s.sites); o != runs.Same {
		return string(o)
	}
	return ""
}

// KeptReason says why the model that is kept is, "" where nothing was compared, or no
// loss decided.
func (r *Run) KeptReason() string {
	s := &r.Summary
	if len(s.Models) < 2 || s.KeepsLasso() {
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

// csv returns the points of a figure as a link to a file of comma-separated values.
func (d Drawing) csv() template.URL {
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

// A mark is an upright line on the axis of iterations.
type mark struct {
	Iteration int    `json:"x"`
	Text      string `json:"text"`
}

// changeMarks returns a mark for each change of members.
func changeMarks(r *Run) (all []mark) {
	for _, c := range r.Changes {
		all = append(all, mark{c.Iteration, strings.Join(c.Why, "; ")})
	}
	return all
}

// Founders are the members at the start.
func (r *Run) Founders() []int { return membership.First(r.Config.Agents).Members }

// explainChanges has changes of members that lack a reason say who left and who came, such as "2, 3
// left".
func (r *Run) explainChanges() {
	before := r.Founders()
	for i := range r.Changes {
		c := &r.Changes[i]
		told := func(all, of []int, what string) {
			rest := slices.DeleteFunc(slices.Clone(all), func(i int) bool { return slices.Contains(of, i) })
			if len(rest) > 0 {
				c.Why = append(c.Why, wording.Ranges(rest)+what)
			}
		}
		if c.Why == nil {
			told(before, c.Members, " left")
			told(c.Members, before, " came in")
		}
		before = c.Members
	}
}
