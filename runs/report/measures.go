package report

import (
	"math"

	"dsbo/runs"
)

// A measure is a number of what a table has rows of: of a whole run, or of a model.
type measure[T any] struct {
	title string
	hint  string // what it is, in a few words
	of    func(T) float64
	show  func(float64) string
}

// measureBy returns what makes measures of the numbers that by finds by their names in JSON.
func measureBy[T any](by func(name string) func(T) float64) func(title, hint, name string,
	show func(float64) string) measure[T] {
	return func(title, hint, name string, show func(float64) string) measure[T] {
		return measure[T]{title, hint, by(name), show}
	}
}

// lastValue is a number of a run's last evaluation that knows it, by its name in JSON.
func lastValue(name string) func(*Run) float64 {
	return func(r *Run) float64 {
		for i := len(r.Records) - 1; i >= 0; i-- {
			if v := runs.NumberOf(r.Records[i], name); v.Known() {
				return float64(v)
			}
		}
		return math.NaN()
	}
}

// summaryValue is a number of a run's summary, by its name in JSON.
func summaryValue(name string) func(*Run) float64 {
	return func(r *Run) float64 {
		if r.Summary.State == runs.Absent {
			return math.NaN()
		}
		return float64(runs.NumberOf(r.Summary, name))
	}
}

// baselineValue is a number of the model with which the tuned one is compared, by its name in JSON.
func baselineValue(name string) func(*Run) float64 {
	return func(r *Run) float64 {
		for _, m := range r.Summary.Models {
			if m.Name == r.Summary.Verdict.Against {
				return float64(runs.NumberOf(m, name))
			}
		}
		return math.NaN()
	}
}

// usageValue is a number of what all agents together had spent at a run's end, by its name in JSON.
func usageValue(name string) func(*Run) float64 {
	return func(r *Run) float64 { return float64(runs.NumberOf(r.usage(), name)) }
}

// allBytes is what all agents sent: in the whole run where it says so, else in its iterations.
func allBytes(r *Run) float64 {
	if all := r.Summary.Traffic.Total().Bytes; all > 0 {
		return float64(all)
	}
	return float64(r.usage().Bytes)
}

// matrixCalls is a number of calls for whole matrices, unknown where there are none: most methods
// make none.
func matrixCalls(name string) func(*Run) float64 {
	return func(r *Run) float64 {
		if n := usageValue(name)(r); n > 0 {
			return n
		}
		return math.NaN()
	}
}

// seconds is the time of a run's iterations.
func seconds(r *Run) float64 { return max(r.Summary.Seconds, r.lastRecord().Seconds) }

// evaluationSeconds is the time of all evaluations together.
func evaluationSeconds(r *Run) float64 {
	sum := 0.0
	for _, rec := range r.Records {
		sum += rec.EvaluationSeconds
	}
	return sum
}

// milliseconds is the median time of an iteration.
func milliseconds(r *Run) float64 {
	if r.Summary.State != runs.Absent && r.Summary.MsPerIteration.Known() {
		return float64(r.Summary.MsPerIteration)
	}
	return lastValue("ms_per_iteration")(r)
}

// What a run did and sent, in several tables.
var (
	formatTime  = unitFormat(timeUnits)
	formatBytes = unitFormat(byteUnits)
	memory      = unitFormat([]unit{{0, 1 << 20, "MiB"}, {1 << 30, 1 << 30, "GiB"}})

	done = measure[*Run]{"Iterations", "at the last evaluation",
		func(r *Run) float64 { return iteration(r.lastRecord()) }, wholeNumber}
	lastPhi = measure[*Run]{"Φ, last iterate", "at the agents' average x, of the last evaluation that has it",
		lastValue("phi"), number}
	clock   = measure[*Run]{"Time", "of the iterations, evaluation excluded", seconds, formatTime}
	traffic = measure[*Run]{"Traffic", "sent by all agents in the whole run", allBytes, formatBytes}
)

// A topic is measures of one kind: exact values and values of models as they stand are never in
// one table.
type topic struct {
	Name, Hint string
	models     bool // the measures are of models that may not have converged
	paired     bool // the measures stand in the table of gains
	measures   []measure[*Run]
}

// topics are what methods are compared by: the first measure of a topic that was measured orders
// its table.
func topics() []topic {
	const perExample = "mean per example"
	summary, last := measureBy(summaryValue), measureBy(lastValue)
	change := func(title, set string) measure[*Run] {
		return measure[*Run]{title, "of examples that chose " + roles[set],
			gainNumber(set, func(g runs.Gain) runs.Number { return g.LossChange }), withSign(number)}
	}
	return []topic{
		{Name: "Exact values", Hint: "with the lower problem solved to its tolerance", models: true,
			measures: []measure[*Run]{
				{"Φ − best constant", "Φ less that of the best single penalty of the same run", (*Run).phiGain,
					withSign(number)},
				{"Φ, tuned", "at the tuned hyperparameters", (*Run).tunedPhi, number},
				lastPhi,
				{"Φ at the start", "before the first iteration",
					func(r *Run) float64 { return float64(r.Records[0].Phi) }, number},
				{"Φ, best constant", "where all hyperparameters are the best single number", bestPhi, number},
				summary("Φ at λ = 0", "all hyperparameters are 0", "phi_lambda0", number),
				last("‖∇Φ‖", "norm of the exact hypergradient", "grad_norm", number),
				summary("Test loss, solved", "of the model at the tuned hyperparameters", "test_loss_tuned", number),
				summary("Test accuracy, solved", "of the same model", "test_accuracy_tuned", percent),
			}},
		{Name: "Tuned against the best constant", Hint: "differences over the same examples, tuned less constant",
			models: true, paired: true, measures: []measure[*Run]{
				change("Change of test loss", runs.Test),
				{"Change of test accuracy", "percentage points",
					gainNumber(runs.Test, func(g runs.Gain) runs.Number { return g.AccuracyChange }),
					withSign(percentPoints)},
				change("Change of held-out loss", runs.HeldOut),
				change("Change of cross-fitted loss", runs.CrossFitted),
				change("Change of validation loss", runs.Validation),
			}},
		{Name: "The average model as it stands", Hint: "at the last evaluation, before the lower problem is solved",
			measures: []measure[*Run]{
				last("Test loss as it stands", perExample, "test_loss", number),
				last("Test accuracy as it stands", "share of right answers", "test_accuracy", percent),
				last("Validation loss as it stands", perExample, "val_loss", number),
				last("Training loss as it stands", "mean per example, without regularization", "train_loss", number),
				last("Consensus of x", "mean squared distance of the agents' x from their average", "consensus_x",
					number),
			}},
		{Name: "Cost", Hint: "sums over all agents, where nothing else is said", measures: costs()},
	}
}

// costs are what a run took.
func costs() []measure[*Run] {
	spent, matrices := measureBy(usageValue), measureBy(matrixCalls)
	peak := func(r *Run) float64 { return lastValue("peak_rss_mib")(r) * (1 << 20) }
	return []measure[*Run]{
		clock, traffic, done,
		spent("Gradients of f", "calls of the oracles", "upper_grad", wholeNumber),
		spent("Gradients of g", "calls of the oracles", "lower_grad", wholeNumber),
		spent("HVPs", "Hessian-vector products", "hvp", wholeNumber),
		spent("JVPs", "Jacobian-vector products", "jvp", wholeNumber),
		matrices("Hessians", "whole matrices", "hessian", wholeNumber),
		matrices("Jacobians", "whole matrices", "jacobian", wholeNumber),
		spent("Messages", "one to each neighbour in an exchange", "messages", wholeNumber),
		spent("Numbers sent", "in the iterations", "floats", wholeNumber),
		{"Per agent and iteration", "numbers that one agent sends in one iteration",
			summaryValue("floats_sent_per_agent_per_iteration"), wholeNumber},
		{"ms per iteration", "median, evaluation excluded", milliseconds, number},
		spent("In oracles", "time, all agents added", "oracle_seconds", formatTime),
		spent("In exchanges", "time, all agents added, with waiting", "mix_seconds", formatTime),
		spent("In algebra", "time, all agents added: the rest", "algebra_seconds", formatTime),
		{"Evaluation", "time of all evaluations", evaluationSeconds, formatTime},
		{"Peak memory", "of the process", peak, memory},
	}
}

// modelMeasures are what the models at the tuned and at fixed hyperparameters are compared by.
func modelMeasures() []measure[runs.Model] {
	const perExample = "mean per example"
	is := measureBy(func(name string) func(runs.Model) float64 {
		return func(m runs.Model) float64 { return float64(runs.NumberOf(m, name)) }
	})
	return []measure[runs.Model]{
		is("Φ", "upper objective", "phi", number),
		is("Validation loss", perExample, "val_loss", number),
		is("Held-out loss", perExample, "holdout_loss", number),
		is("Test loss", perExample, "test_loss", number),
		is("Test accuracy", "share of right answers", "test_accuracy", percent),
		is("Steps", "of the agents' solver", "refit_steps", wholeNumber),
		is("Gradient", "of the lower problem, its norm", "refit_gradient", number),
	}
}
