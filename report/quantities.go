package report

// Names in metrics.jsonl that the report itself needs.
const keyIteration = "iteration"

// callsAxis is the name of the axis on which kinds of calls are added up.
const callsAxis = "calls"

// An axis is something to draw against: what was spent.
type axis struct {
	name  string // of files and of the switch on the page
	title string
	label string // of the axis, before the unit
	keys  []string
	units []unit
	count bool
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

func timeUnits() []unit {
	return []unit{{0, 1e-3, "ms"}, {1, 1, "s"}, {600, 60, "min"}, {5 * 3600, 3600, "h"}}
}

func byteUnits() []unit {
	return []unit{{0, 1, "B"}, {1e3, 1e3, "kB"}, {1e6, 1e6, "MB"}, {1e9, 1e9, "GB"}, {1e12, 1e12, "TB"}}
}

// axes lists what figures are drawn against. The calls of an oracle count alike, a Hessian once:
// the table of costs has them by kind.
func axes() []axis {
	return []axis{
		{name: "iterations", title: "iterations", label: "outer iterations k", keys: []string{keyIteration}, count: true},
		{name: "seconds", title: "time", label: "time of iterations", keys: []string{"seconds"}, units: timeUnits()},
		{name: callsAxis, title: "oracle calls", label: "oracle calls of all agents", keys: callKeys()},
		{name: "bytes", title: "traffic", label: "traffic of all agents", keys: []string{"bytes"}, units: byteUnits()},
	}
}

func callKeys() []string {
	return []string{"upper_grad", "lower_grad", "hvp", "jvp", "hessian", "jacobian"}
}

// A quantity is what one figure shows: one number of each evaluation, or a few that belong together.
type quantity struct {
	name    string // of files
	title   string
	label   string // of the y axis
	caption string
	parts   []part
	// compared is how many of the parts, from the first, have a figure of their own where several methods
	// are compared; 0: all.
	compared int
	levels   []part // of summary.json, as horizontal lines
}

// A part is one number with its name among the others.
type part struct{ key, name string }

func quantities() []quantity {
	return []quantity{
		{name: "phi", title: "Upper objective Φ", label: "Φ at the average x", parts: []part{{"phi", ""}}, levels: []part{{"phi_lambda0", "λ = 0"}},
			caption: "The objective at the agents' average hyperparameters, with the lower problem solved exactly."},
		{name: "gradient", title: "Hypergradient norm", label: "norm of the gradient of Φ at the average x", parts: []part{{"grad_norm", ""}},
			caption: "The exact hypergradient: 0 at a stationary point."},
		{name: "accuracy", title: "Accuracy", label: "share of right answers of the average y", compared: 1,
			levels:  []part{{"test_accuracy_lambda0", "test, solved exactly at λ = 0"}, {"test_accuracy_tuned", "test, solved exactly at the average x"}},
			parts:   []part{{"test_accuracy", "test"}, {"val_accuracy", "validation"}, {"train_accuracy", "training"}},
			caption: "Of the agents' average model as it stands, not refitted."},
		{name: "loss", title: "Loss", label: "mean loss of the average y",
			parts:   []part{{"test_loss", "test"}, {"val_loss", "validation"}, {"train_loss", "training"}},
			caption: "Per example, without regularization, of the agents' average model."},
		{name: "hypergradient_error", title: "Hypergradient error", label: "distance from the exact one, relative", parts: []part{{"hypergradient_error", ""}},
			caption: "Of the estimate that the agents step along, relative to the exact one."},
		{name: "lower_error", title: "Distance to the lower solution", label: "distance of the average y from y*, relative", parts: []part{{"lower_error", ""}},
			caption: "How far the agents' average model is from the exact solution of the lower problem."},
		{name: "consensus", title: "Consensus error", label: "mean squared distance from the average", parts: []part{{"consensus_x", "x"}, {"consensus_y", "y"}, {"consensus_z", "z"}},
			caption: "How far the agents are from their average: 0 where all agree."},
	}
}

// isMetric says whether a name in metrics.jsonl is one that is drawn, and so has to be a number.
func isMetric(key string) bool {
	for _, a := range axes() {
		for _, k := range a.keys {
			if k == key {
				return true
			}
		}
	}
	for _, q := range quantities() {
		for _, p := range q.parts {
			if p.key == key {
				return true
			}
		}
	}
	return false
}
