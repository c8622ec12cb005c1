package report

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"html/template"
	"math"
	"net/url"
	"slices"
	"strings"

	"dsbo/internal/num"
	"dsbo/internal/wording"
	"dsbo/network/membership"
	"dsbo/runs"
)

// A tableProblem is the settings of a task over tables.
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

// An effectScale is the scale on which a target's effects are reported.
type effectScale struct {
	Name, Step string // of the effect; what a step does
	Part       string // of which a column makes a part
	None       string // no effect
	exp        bool   // it is the exponential of a coefficient
}

// Effect returns the scale of effects; plain weights if estimates are refused.
func (p tableProblem) Effect(refused string) effectScale {
	e, is := shown.Effects[p.Task]
	if !is {
		e = effectScale{Name: "Effect, in " + p.Target, Step: "changes " + p.Target + " by the effect", Part: p.Target,
			None: "0"}
	}
	e.exp = is && refused == ""
	return e
}

// Of is the effect of a step of a coefficient, by one of its values.
func (e effectScale) Of(c runs.Coefficient, v runs.Number) float64 {
	x := float64(v) * c.Step()
	if e.exp {
		return num.Exp(x)
	}
	return x
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

// csv returns the points of a figure as a link to a file of comma-separated values.
func (d drawing) csv() template.URL {
	var b strings.Builder
	w := csv.NewWriter(&b) // a builder takes all
	_ = w.Write([]string{"line", "x", "y"})
	for _, s := range d.Series {
		for i := range s.X {
			_ = w.Write([]string{wording.Cell(cmp.Or(s.Name, "reference")), fmt.Sprint(s.X[i]), fmt.Sprint(s.Y[i])})
		}
	}
	w.Flush()
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

// explainChanges gives changes of members without a reason a text on who left and who joined, such
// as "2, 3 left".
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
