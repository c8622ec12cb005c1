package report

import "dsbo/runs"

// An axis is something to draw against: what was spent.
type axis struct {
	Name  string // name in file names and of the switch on the page
	Title string
	label string // label of the axis, before the unit
	of    func(*runs.Record) float64
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

var (
	timeUnits = []unit{{0, 1e-3, "ms"}, {1, 1, "s"}, {600, 60, "min"}, {5 * 3600, 3600, "h"}}
	byteUnits = []unit{{0, 1, "B"}, {1e3, 1e3, "kB"}, {1e6, 1e6, "MB"}, {1e9, 1e9, "GB"}, {1e12, 1e12, "TB"}}
)

// callsAxis is the name of the axis on which kinds of calls are added up.
const callsAxis = "calls"

// axes lists what figures are drawn against. The calls of an oracle count alike, a Hessian once:
// the table of costs has them by kind.
func axes() []axis {
	return []axis{
		{Name: "iterations", Title: "iterations", label: "outer iterations k", of: iteration, count: true},
		{Name: "seconds", Title: "time", label: "time of iterations", of: func(r *runs.Record) float64 { return r.Seconds }, units: timeUnits},
		{Name: callsAxis, Title: "oracle calls", label: "oracle calls of all agents", of: calls},
		{Name: "bytes", Title: "traffic", label: "traffic of all agents", of: func(r *runs.Record) float64 { return float64(r.Bytes) }, units: byteUnits},
	}
}

func iteration(r *runs.Record) float64 { return float64(r.Iteration) }

func calls(r *runs.Record) float64 {
	return float64(r.UpperGrad + r.LowerGrad + r.HVP + r.JVP + r.Hessian + r.Jacobian)
}

// A quantity is what one figure shows: one number of each evaluation, or a few that belong together.
type quantity struct {
	name    string // name in file names
	title   string
	label   string // label of the y axis
	caption string
	parts   []part
	// compared is how many of the parts, from the first, have a figure of their own where several methods
	// are compared; 0: all.
	compared int
	levels   []level // as horizontal lines
}

// A part is one number with its name among the others, and the name of files that show it alone.
type part struct {
	file, name string
	of         func(*runs.Record) runs.Number
}

// A level is a number of the run's end.
type level struct {
	name string
	of   func(*runs.Summary) runs.Number
}

// The numbers that figures and tables share.
func phi(r *runs.Record) runs.Number                { return r.Phi }
func gradNorm(r *runs.Record) runs.Number           { return r.GradNorm }
func testAccuracy(r *runs.Record) runs.Number       { return r.TestAccuracy }
func testLoss(r *runs.Record) runs.Number           { return r.TestLoss }
func valLoss(r *runs.Record) runs.Number            { return r.ValLoss }
func trainLoss(r *runs.Record) runs.Number          { return r.TrainLoss }
func hypergradientError(r *runs.Record) runs.Number { return r.HypergradientError }
func consensusX(r *runs.Record) runs.Number         { return r.ConsensusX }
func consensusY(r *runs.Record) runs.Number         { return r.ConsensusY }
func consensusZ(r *runs.Record) runs.Number         { return r.ConsensusZ }
func lowerError(r *runs.Record) runs.Number         { return r.LowerError }
func phiAtZero(s *runs.Summary) runs.Number         { return s.PhiLambda0 }
func accuracyAtTuned(s *runs.Summary) runs.Number   { return s.TestAccuracyTuned }

func quantities() []quantity {
	return []quantity{
		{name: "phi", title: "Upper objective Φ", label: "Φ at the average x", parts: []part{{of: phi}}, levels: []level{{"λ = 0", phiAtZero}},
			caption: "The objective at the agents' average hyperparameters, with the lower problem solved exactly."},
		{name: "gradient", title: "Hypergradient norm", label: "norm of the gradient of Φ at the average x", parts: []part{{of: gradNorm}},
			caption: "The norm of the exact hypergradient is 0 at a stationary point."},
		{name: "accuracy", title: "Accuracy", label: "share of right answers of the average y", compared: 1,
			levels: []level{{"test, solved exactly at λ = 0", func(s *runs.Summary) runs.Number { return s.TestAccuracyLambda0 }},
				{"test, solved exactly at the average x", accuracyAtTuned}},
			parts: []part{{"test_accuracy", "test", testAccuracy},
				{"val_accuracy", "validation", func(r *runs.Record) runs.Number { return r.ValAccuracy }},
				{"train_accuracy", "training", func(r *runs.Record) runs.Number { return r.TrainAccuracy }}},
			caption: "The accuracy is that of the agents' average model as it stands, not refitted."},
		{name: "loss", title: "Loss", label: "mean loss of the average y",
			parts:   []part{{"test_loss", "test", testLoss}, {"val_loss", "validation", valLoss}, {"train_loss", "training", trainLoss}},
			caption: "The loss is that of the agents' average model, per example and without regularization."},
		{name: "hypergradient_error", title: "Hypergradient error", label: "distance from the exact one, relative", parts: []part{{of: hypergradientError}},
			caption: "The error is that of the average estimate along which the agents step, relative to the exact hypergradient."},
		{name: "lower_error", title: "Distance to the lower solution", label: "distance of the average y from y*, relative", parts: []part{{of: lowerError}},
			caption: "The distance is that of the agents' average model from the exact solution y* of the lower problem."},
		{name: "consensus", title: "Consensus error", label: "mean squared distance from the average",
			parts:   []part{{"consensus_x", "x", consensusX}, {"consensus_y", "y", consensusY}, {"consensus_z", "z", consensusZ}},
			caption: "The distance of the agents from their average is 0 where all agree."},
	}
}
