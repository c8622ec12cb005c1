package report

import (
	_ "embed"
	"encoding/json"
	"math"
	"strings"

	"dsbo/runs"
)

//go:embed shown.json
var shownJSON []byte

// shown is what tables and figures are made of.
var shown = func() (s struct {
	Topics       []topic
	Runs, Models []measure // of each run, and of each model, in the tables of these
	Quantities   []quantity
	Effects      map[string]effectScale // of targets of a task
	Roles        map[string]string      // of sets of examples: what was chosen by them
}) {
	if err := json.Unmarshal(shownJSON, &s); err != nil {
		panic(err) // the embedded file is tested
	}
	return s
}()

// A measure is a number of what a table has rows of, of a run by a name as [Run.value] has it. The
// hint is what it is, in a few words.
type measure struct{ Title, Hint, Value, Show string }

// shows are the ways to write a measure, by their names.
var shows = map[string]func(float64) string{
	"number": number, "whole": wholeNumber, "percent": func(v float64) string { return share(v, 2) },
	"signed": withSign(number), "points": withSign(percentPoints), "time": formatTime, "bytes": formatBytes,
	"measure": measureText, "share": func(v float64) string { return share(v, 1) },
	"memory": unitFormat([]unit{{0, 1, "MiB"}, {1 << 10, 1 << 10, "GiB"}}),
}

var formatTime, formatBytes = unitFormat(timeUnits), unitFormat(byteUnits)

// A topic is measures of one kind, by which methods are compared: the first one with values orders
// the table. Exact values and values of unsolved models are never in one table.
type topic struct {
	Name, Hint string
	Models     bool // the measures are of models that may not have converged
	Paired     bool // the measures are in the table of gains
	Measures   []measure
}

// value returns a number of a run, NaN where it has none. Its name is of two words: what it is a
// number of, and its name there in JSON.
func (r *Run) value(name string) float64 {
	of, field, _ := strings.Cut(name, " ")
	switch of {
	case "first":
		return float64(runs.NumberOf(r.Records[0], field))
	case "last": // evaluation that knows it
		for i := len(r.Records) - 1; i >= 0; i-- {
			if v := runs.NumberOf(r.Records[i], field); v.Known() {
				return float64(v)
			}
		}
	case "summary":
		if r.Summary.State != runs.Absent {
			return float64(runs.NumberOf(r.Summary, field))
		}
	case "baseline": // the model with which the tuned one is compared
		for _, m := range r.Summary.Models {
			if m.Name == r.Summary.Verdict.Against {
				return float64(runs.NumberOf(m, field))
			}
		}
	case "spent": // by all agents together
		return float64(runs.NumberOf(r.usage(), field))
	case "matrices": // of which most methods ask for none
		if n := r.value("spent " + field); n > 0 {
			return n
		}
	case "Φ":
		return r.phi(field)
	case "time":
		return max(r.Summary.Seconds, r.lastRecord().Seconds)
	case "evaluation":
		sum := 0.0
		for _, rec := range r.Records {
			sum += rec.EvaluationSeconds
		}
		return sum
	case "whole": // of the whole run, or of what there is of one that has not ended
		if v := r.value("summary " + field); !math.IsNaN(v) {
			return v
		}
		return r.value("last " + field)
	case "traffic": // of the whole run if a column is, else of its iterations
		if all := r.Summary.Traffic.Total().Bytes; all > 0 {
			return float64(all)
		}
		return r.value("spent bytes")
	default: // a set of examples, on which the verdict has compared models
		for _, g := range r.Summary.Verdict.Gains {
			if g.Set == of && field == "share" {
				return float64(g.Share())
			} else if g.Set == of {
				return float64(runs.NumberOf(g, field))
			}
		}
	}
	return math.NaN()
}

// phi returns the measure of Φ with a name: "best", of the best constant; "zero", 0 if the best
// constant is known; "lowest", of all runs of the same data; "gain", the tuned Φ less the best
// constant's, and "share", that relative to it, which are comparable between seeds; "tuned", of the
// tuned model, unknown if that is not solved, or else the last record.
func (r *Run) phi(name string) float64 {
	best := r.bestConstant().Phi
	switch name {
	case "best":
		return best
	case "zero": // where the constant is known
		return best - best
	case "lowest": // of all runs of the same data
		return r.lowest
	case "gain":
		return r.phi("tuned") - best
	case "share":
		return r.phi("gain") / math.Abs(best)
	}
	if n := len(r.Summary.Models); n > 0 && r.Summary.Models[n-1].Phi.Known() {
		return float64(r.Summary.Models[n-1].PhiSolved())
	}
	return r.value("last phi")
}

// A quantity is what one figure shows: one number of each evaluation, or a few that
// belong together.
type quantity struct {
	Name    string // name in file names
	Title   string // for people
	Label   string // label of the y axis, with the unit
	Unit    bool   // the label ends with the unit of Φ
	Caption string // under the figure
	Parts   []part // of each curve
	Seldom  []part // beside them where they are known seldom, as exact solutions cost traffic
	// Compared is how many of the parts, from the first, have a figure of their own where several
	// methods are compared; 0: all.
	Compared int
	Levels   []measure // as horizontal lines
	Lines    string    // what the caption adds where there are such lines
	Less     string    // what is subtracted from the numbers of each run, by its name; "": nothing
	View     string    // name among the views of the figure before it; "": it has a figure of its own
	Log      bool      // the y axis is logarithmic
}

// A part is a number of a record, by its name in JSON, which is also the name of files that show it
// alone. Its name for people is unique.
type part struct {
	Of, Name string
	Late     bool // without the start, whose model may know nothing and would flatten the figure
}

// in returns the number of a record.
func (p part) in(r *runs.Record) float64 {
	if p.Late && r.Iteration == 0 {
		return math.NaN()
	}
	return float64(runs.NumberOf(*r, p.Of))
}

// quantities lists what is drawn of some runs.
func quantities(all []*Run) (qs []quantity) {
	first, known := all[0], 0
	for _, rec := range first.Records {
		if rec.Phi.Known() {
			known++
		}
	}
	for _, q := range shown.Quantities {
		if q.Unit {
			q.Label += first.phiUnit()
		}
		if q.Seldom != nil && len(all) == 1 && first.phiUnit() == meanPerExample && 2*known < len(first.Records) {
			q.Parts = append(q.Parts[:len(q.Parts):len(q.Parts)], q.Seldom...)
			q.Caption += " Beside it, the losses of the agents' average model as it stands in each iteration."
		}
		qs = append(qs, q)
	}
	return qs
}

// An axis is something to draw against: what was spent.
type axis struct {
	Name  string `json:"name"` // name in file names and of the switch on the page
	Title string `json:"title"`
	label string // label of the axis, before the unit
	Count bool   `json:"count"` // whole numbers
	units []unit
}

// A unit is the size of one, from the given number of basic ones on.
type unit struct {
	from, size float64
	name       string
}

// unitFor chooses the unit in which the largest number is easy to read.
func unitFor(units []unit, largest float64) unit {
	chosen := unit{size: 1}
	for _, u := range units {
		if largest >= u.from {
			chosen = u
		}
	}
	return chosen
}

var (
	timeUnits = []unit{{0, 1e-3, "ms"}, {1, 1, "s"}, {600, 60, "min"}, {5 * 3600, 3600, "h"}}
	byteUnits = []unit{{0, 1, "B"}, {1e3, 1e3, "kB"}, {1e6, 1e6, "MB"}, {1e9, 1e9, "GB"}, {1e12, 1e12, "TB"}}
)

// axes are the x-axes of figures; marks are on the first. An oracle's calls count alike, a Hessian
// once: the table of costs has them by kind.
var axes = []axis{
	{"iterations", "iterations", "outer iterations k", true, nil},
	{"seconds", "time", "time of iterations", false, timeUnits},
	{"calls", "oracle calls", "oracle calls of all agents", false, nil},
	{"bytes", "traffic", "traffic of all agents", false, byteUnits},
}

// of returns what was spent at an evaluation.
func (a axis) of(r *runs.Record) float64 {
	switch a.Name {
	case "iterations":
		return float64(r.Iteration)
	case "calls":
		return float64(r.Calls.Total())
	}
	return float64(runs.NumberOf(*r, a.Name))
}
