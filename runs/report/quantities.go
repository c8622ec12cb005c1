package report

import (
	"fmt"
	"math"

	"dsbo/runs"
)

// An axis is something to draw against: what was spent.
type axis struct {
	Name  string `json:"name"` // name in file names and of the switch on the page
	Title string `json:"title"`
	label string // label of the axis, before the unit
	Count bool   `json:"count"` // whole numbers
	units []unit
	of    func(*runs.Record) float64
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

// iterationsAxis is the name of the axis on which marks stand.
const iterationsAxis = "iterations"

// callsAxis is the name of the axis on which kinds of calls are added up.
const callsAxis = "calls"

// axes lists what figures are drawn against. The calls of an oracle count alike, a Hessian once:
// the table of costs has them by kind.
func axes() []axis {
	seconds := func(r *runs.Record) float64 { return r.Seconds }
	bytes := func(r *runs.Record) float64 { return float64(r.Bytes) }
	return []axis{
		{iterationsAxis, "iterations", "outer iterations k", true, nil, iteration},
		{"seconds", "time", "time of iterations", false, timeUnits, seconds},
		{callsAxis, "oracle calls", "oracle calls of all agents", false, nil, calls},
		{"bytes", "traffic", "traffic of all agents", false, byteUnits, bytes},
	}
}

func iteration(r *runs.Record) float64 { return float64(r.Iteration) }

func calls(r *runs.Record) float64 {
	return float64(r.UpperGrad + r.LowerGrad + r.HVP + r.JVP + r.Hessian + r.Jacobian)
}

// A quantity is what one figure shows: one number of each evaluation, or a few that
// belong together.
type quantity struct {
	name    string // name in file names
	title   string // for people
	label   string // label of the y axis, with the unit
	caption string // under the figure
	parts   []part // of each curve
	// compared is how many of the parts, from the first, have a figure of their own where several
	// methods are compared; 0: all.
	compared int
	levels   []level            // as horizontal lines
	lines    string             // what the caption adds where there are such lines
	less     func(*Run) float64 // what is subtracted from the numbers of each run; nil: nothing
	view     string             // name among the views of the figure before it; "": it has a figure of its own
	scale    Scale              // of the y axis
}

// A part is a number of a record, by its name in JSON, which files that show it alone have too. Its
// name for people tells it from the others.
type part struct {
	of, name string
	late     bool // without the start, whose model knows nothing and would flatten the figure
}

// in returns the number of a record.
func (p part) in(r *runs.Record) float64 {
	if p.late && r.Iteration == 0 {
		return math.NaN()
	}
	return float64(runs.NumberOf(*r, p.of))
}

// A level is a number of a run's end.
type level struct {
	name string
	of   func(*Run) float64
}

func bestPhi(r *Run) float64 { return r.bestConstant().Phi }

// objective is Φ. Of one run that knows it seldom, where exact solutions cost traffic, the losses
// of the model as it stands are drawn beside it, if they are on the same scale.
func objective(all []*Run) quantity {
	q := quantity{
		name: "phi", title: "Upper objective Φ", label: "Φ at the average x" + all[0].phiUnit(), view: "Φ",
		compared: 1, parts: []part{{of: "phi", name: "Φ"}}, levels: []level{{"best constant", bestPhi}},
		caption: "Φ at the agents' average hyperparameters, with the lower problem solved exactly. Lower is better.",
	}
	known := 0
	for i := range all[0].Records {
		if all[0].Records[i].Phi.Known() {
			known++
		}
	}
	if len(all) == 1 && all[0].phiUnit() == meanPerExample && 2*known < len(all[0].Records) {
		q.parts = append(q.parts, part{of: "val_loss", name: "validation loss as it stands", late: true},
			part{of: "holdout_loss", name: "held-out loss as it stands", late: true})
		q.caption += " Beside it, the losses of the agents' average model as it stands in each iteration."
	}
	return q
}

// quantities lists what is drawn of some runs.
func quantities(all []*Run) []quantity {
	zero := func(r *Run) float64 { return bestPhi(r) - bestPhi(r) } // unknown where the constant is
	only, unit := []part{{of: "phi"}}, all[0].phiUnit()
	return []quantity{
		objective(all),
		{name: "phi_gain", title: "Φ less that of the best constant",
			label: "Φ less that of the best constant" + unit, parts: only,
			view: "Φ − best constant", less: bestPhi, levels: []level{{"best constant", zero}}},
		{name: "phi_gap", title: "Φ less the lowest", label: "Φ less the lowest of the same data" + unit, parts: only,
			view: "Φ − lowest", less: lowestPhi(all), scale: Log},
		{name: "gradient", title: "Hypergradient norm", label: "norm of the gradient of Φ at the average x",
			parts:   []part{{of: "grad_norm"}},
			caption: "The norm of the exact hypergradient is 0 at a stationary point."},
		{name: "accuracy", title: "Accuracy", label: "share of right answers of the average y", compared: 1,
			levels: []level{{"test, solved exactly at λ = 0", summaryValue("test_accuracy_lambda0")},
				{"test, solved exactly at the tuned λ", summaryValue("test_accuracy_tuned")}},
			parts: []part{{of: "test_accuracy", name: "test"}, {of: "val_accuracy", name: "validation"},
				{of: "holdout_accuracy", name: "held-out"}, {of: "train_accuracy", name: "training"}},
			caption: "The accuracy is that of the agents' average model as it stands, before the lower " +
				"problem is solved."},
		{name: "loss", title: "Loss", label: "loss of the average y, mean per example",
			parts: []part{{"test_loss", "test", true}, {"val_loss", "validation", true},
				{"holdout_loss", "held-out", true}, {"train_loss", "training", true}},
			levels: []level{{"test, baseline", baselineValue("test_loss")},
				{"held-out, baseline", baselineValue("holdout_loss")}},
			caption: "The loss is that of the agents' average model, per example and without regularization.",
			lines:   " The baseline is the model with which the tuned one is compared, solved exactly."},
		{name: "hypergradient_error", title: "Hypergradient error", label: "distance from the exact one, relative",
			parts: []part{{of: "hypergradient_error"}},
			caption: "The error is the distance of the agents' average estimate, by which the last step of x was " +
				"made, from the exact hypergradient after that step, as a share of the latter's norm. It is 1 or " +
				"more " +
				"where a step has taken most of the slope away, as near the end."},
		{name: "lower_error", title: "Distance to the lower solution",
			label: "distance of the average y from y*, relative",
			parts: []part{{of: "lower_error"}},
			caption: "The distance is that of the agents' average model from the exact solution y* of the " +
				"lower problem."},
		{name: "least_eigenvalue", title: "Least eigenvalue",
			label: "least eigenvalue of the averaged Hessian of the lower loss", scale: Linear,
			parts: []part{{of: "least_eigenvalue"}},
			caption: "Where it is negative, the agents' average model is at no minimum of the lower loss, which is " +
				"not convex."},
		{name: "consensus", title: "Consensus error", label: "mean squared distance from the average",
			parts: []part{{of: "consensus_x", name: "x"}, {of: "consensus_y", name: "y"},
				{of: "consensus_z", name: "z"}},
			caption: "The distance of the agents from their average is 0 where all agree."},
	}
}

// lowestPhi returns a function that gives the lowest Φ of all runs of the same problem and seed as
// a run.
func lowestPhi(all []*Run) func(*Run) float64 {
	key := func(r *Run) string { return fmt.Sprint(r.Config.Seed, r.problem()) }
	lowest := map[string]float64{}
	for _, r := range all {
		for _, rec := range r.Records {
			if low, is := lowest[key(r)]; rec.Phi.Known() && (!is || float64(rec.Phi) < low) {
				lowest[key(r)] = float64(rec.Phi)
			}
		}
	}
	return func(r *Run) float64 { return lowest[key(r)] }
}
