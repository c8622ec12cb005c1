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

// ofLast is a number of a run's last evaluation that knows it.
func ofLast(of func(*runs.Record) runs.Number) func(*Run) float64 {
	return func(r *Run) float64 {
		for i := len(r.Records) - 1; i >= 0; i-- {
			if v := of(&r.Records[i]); v.Known() {
				return float64(v)
			}
		}
		return math.NaN()
	}
}

// ofSummary is a number of a run's summary.
func ofSummary(of func(*runs.Summary) runs.Number) func(*Run) float64 {
	return func(r *Run) float64 {
		if r.Summary == nil {
			return math.NaN()
		}
		return float64(of(r.Summary))
	}
}

// ofUsage is a number of what all agents together had spent at a run's end.
func ofUsage[T int | int64 | float64](of func(runs.Usage) T) func(*Run) float64 {
	return func(r *Run) float64 { return float64(of(r.usage())) }
}

// allBytes is what all agents sent: in the whole run where it says so, else in its iterations.
func allBytes(r *Run) float64 {
	if r.Summary != nil && r.Summary.Traffic.Total().Bytes > 0 {
		return float64(r.Summary.Traffic.Total().Bytes)
	}
	return float64(r.usage().Bytes)
}

// matrixCalls is a number of calls for whole matrices, unknown where there are none: most methods make none.
func matrixCalls(of func(runs.Usage) int) func(*Run) float64 {
	return func(r *Run) float64 {
		if n := of(r.usage()); n > 0 {
			return float64(n)
		}
		return math.NaN()
	}
}

// seconds is the time of a run's iterations.
func seconds(r *Run) float64 {
	if r.Summary == nil {
		return r.lastRecord().Seconds
	}
	return max(r.Summary.Seconds, r.lastRecord().Seconds)
}

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
	if r.Summary != nil && r.Summary.MsPerIteration.Known() {
		return float64(r.Summary.MsPerIteration)
	}
	return ofLast(func(r *runs.Record) runs.Number { return r.MsPerIteration })(r)
}

// What a run did and sent, in several tables.
var (
	done    = measure[*Run]{"Iterations", "outer iterations at the last evaluation", func(r *Run) float64 { return iteration(r.lastRecord()) }, count}
	lastPhi = measure[*Run]{"Φ at the end", "exact upper objective at the average hyperparameters x̄", ofLast(phi), number}
	clock   = measure[*Run]{"Time", "of the iterations, evaluation excluded", seconds, inUnits(timeUnits)}
	traffic = measure[*Run]{"Traffic", "sent by all agents together in the whole run", allBytes, inUnits(byteUnits)}
)

// A topic is measures of one kind: exact values and those of models as they stand are never in one table.
type topic struct {
	Name, Hint string
	models     bool // the measures are of models that may not have converged
	paired     bool // the measures are those of the table of gains
	measures   []measure[*Run]
}

// topics are what methods are compared by: the first measure of a topic that was measured orders its table.
func topics() []topic {
	return []topic{
		{Name: "Exact values", Hint: "with the lower problem solved to its tolerance", models: true, measures: []measure[*Run]{
			{"Φ − best constant", "Φ less that of the best single penalty of the same run", (*Run).phiGain, signed(number)},
			lastPhi,
			{"Φ at the start", "exact upper objective before the first iteration", func(r *Run) float64 { return float64(r.Records[0].Phi) }, number},
			{"Φ, best constant", "exact upper objective where all hyperparameters are the best single number", func(r *Run) float64 { return r.bestConstant().Phi }, number},
			{"Φ at λ = 0", "exact upper objective where all hyperparameters are 0", ofSummary(phiAtZero), number},
			{"‖∇Φ‖", "norm of the exact hypergradient at x̄", ofLast(gradNorm), number},
			{"Test loss", "of the lower problem's solution at the tuned λ, mean per example", ofSummary(func(s *runs.Summary) runs.Number { return s.TestLossTuned }), number},
			{"Test accuracy", "of the lower problem's solution at the tuned λ", ofSummary(func(s *runs.Summary) runs.Number { return s.TestAccuracyTuned }), percent},
		}},
		{Name: "Tuned against the best constant", Hint: "differences over the same examples, tuned less constant", models: true, paired: true, measures: []measure[*Run]{
			{"Change of test loss", "mean per example", gain(runs.Test, func(g runs.Gain) runs.Number { return g.LossChange }), signed(number)},
			{"Change of test accuracy", "percentage points", gain(runs.Test, func(g runs.Gain) runs.Number { return g.AccuracyChange }), signed(percentPoints)},
			{"Change of held-out loss", "mean per example", gain(runs.HeldOut, func(g runs.Gain) runs.Number { return g.LossChange }), signed(number)},
			{"Change of validation loss", "mean per example", gain(runs.Validation, func(g runs.Gain) runs.Number { return g.LossChange }), signed(number)},
		}},
		{Name: "The average model as it stands", Hint: "at the last evaluation, not refitted", measures: []measure[*Run]{
			{"Test loss", "mean per example", ofLast(testLoss), number},
			{"Test accuracy", "share of right answers", ofLast(testAccuracy), percent},
			{"Validation loss", "mean per example", ofLast(valLoss), number},
			{"Training loss", "mean per example, without regularization", ofLast(trainLoss), number},
			{"Consensus of x", "mean squared distance of the agents' x from their average", ofLast(consensusX), number},
			{"Hypergradient error", "of the agents' estimate, relative", ofLast(hypergradientError), number},
		}},
		{Name: "Cost", Hint: "sums over all agents, where nothing else is said", measures: costs()},
	}
}

// costs are what a run took.
func costs() []measure[*Run] {
	const byCalls, byMatrices = "calls of the oracles, all agents together", "whole matrices, all agents together"
	memory := func(r *runs.Record) runs.Number { return r.PeakRSSMiB * (1 << 20) }
	return []measure[*Run]{
		clock, traffic, done,
		{"Gradients of f", byCalls, ofUsage(func(u runs.Usage) int { return u.UpperGrad }), count},
		{"Gradients of g", byCalls, ofUsage(func(u runs.Usage) int { return u.LowerGrad }), count},
		{"HVPs", "Hessian-vector products, all agents together", ofUsage(func(u runs.Usage) int { return u.HVP }), count},
		{"JVPs", "Jacobian-vector products, all agents together", ofUsage(func(u runs.Usage) int { return u.JVP }), count},
		{"Hessians", byMatrices, matrixCalls(func(u runs.Usage) int { return u.Hessian }), count},
		{"Jacobians", byMatrices, matrixCalls(func(u runs.Usage) int { return u.Jacobian }), count},
		{"Messages", "one to each neighbour in an exchange, all agents together", ofUsage(func(u runs.Usage) int64 { return u.Messages }), count},
		{"Numbers sent", "by all agents together", ofUsage(func(u runs.Usage) int64 { return u.Floats }), count},
		{"Per agent and iteration", "numbers that one agent sends in one iteration", ofSummary(func(s *runs.Summary) runs.Number { return runs.Number(s.FloatsSent) }), count},
		{"ms per iteration", "median, evaluation excluded", milliseconds, number},
		{"In oracles", "time, all agents added", ofUsage(func(u runs.Usage) float64 { return u.OracleSeconds }), inUnits(timeUnits)},
		{"In exchanges", "time, all agents added, waiting for neighbours included", ofUsage(func(u runs.Usage) float64 { return u.MixSeconds }), inUnits(timeUnits)},
		{"In algebra", "time, all agents added: the rest", ofUsage(func(u runs.Usage) float64 { return u.AlgebraSeconds }), inUnits(timeUnits)},
		{"Evaluation", "time of all evaluations together", evaluationSeconds, inUnits(timeUnits)},
		{"Peak memory", "of the process", ofLast(memory), inUnits([]unit{{0, 1 << 20, "MiB"}, {1 << 30, 1 << 30, "GiB"}})},
	}
}

// ofModels are what the models at the tuned and at fixed hyperparameters are compared by.
func ofModels() []measure[runs.Model] {
	is := func(title, hint string, of func(runs.Model) runs.Number, show func(float64) string) measure[runs.Model] {
		return measure[runs.Model]{title, hint, func(m runs.Model) float64 { return float64(of(m)) }, show}
	}
	return []measure[runs.Model]{
		is("Φ", "upper objective", func(m runs.Model) runs.Number { return m.Phi }, number),
		is("Validation loss", "mean per example", func(m runs.Model) runs.Number { return m.ValLoss }, number),
		is("Held-out loss", "mean per example", func(m runs.Model) runs.Number { return m.HoldoutLoss }, number),
		is("Test loss", "mean per example", func(m runs.Model) runs.Number { return m.TestLoss }, number),
		is("Test accuracy", "share of right answers", func(m runs.Model) runs.Number { return m.TestAccuracy }, percent),
		is("Steps", "of the agents' solver", func(m runs.Model) runs.Number { return runs.Number(m.Steps) }, count),
		is("Gradient", "norm that is left of the lower problem's gradient", func(m runs.Model) runs.Number { return m.Gradient }, number),
	}
}
