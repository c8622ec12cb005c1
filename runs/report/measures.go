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

// lastValue is a number of a run's last evaluation that knows it.
func lastValue(of func(*runs.Record) runs.Number) func(*Run) float64 {
	return func(r *Run) float64 {
		for i := len(r.Records) - 1; i >= 0; i-- {
			if v := of(&r.Records[i]); v.Known() {
				return float64(v)
			}
		}
		return math.NaN()
	}
}

// summaryValue is a number of a run's summary.
func summaryValue(of func(*runs.Summary) runs.Number) func(*Run) float64 {
	return func(r *Run) float64 {
		if r.Summary == nil {
			return math.NaN()
		}
		return float64(of(r.Summary))
	}
}

// usageValue is a number of what all agents together had spent at a run's end.
func usageValue[T int | int64 | float64](of func(runs.Usage) T) func(*Run) float64 {
	return func(r *Run) float64 { return float64(of(r.usage())) }
}

func iterations(r *Run) float64 { return iteration(r.lastRecord()) }

func startPhi(r *Run) float64 { return float64(r.Records[0].Phi) }

// allBytes is what all agents sent: in the whole run where it says so, else in its iterations.
func allBytes(r *Run) float64 {
	if r.Summary != nil && r.Summary.Traffic.Total().Bytes > 0 {
		return float64(r.Summary.Traffic.Total().Bytes)
	}
	return float64(r.usage().Bytes)
}

// matrixCalls is a number of calls for whole matrices, unknown where there are none: most methods
// make none.
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
	return lastValue(func(r *runs.Record) runs.Number { return r.MsPerIteration })(r)
}

// What a run did and sent, in several tables.
var (
	formatTime  = unitFormat(timeUnits)
	formatBytes = unitFormat(byteUnits)
	memory      = unitFormat([]unit{{0, 1 << 20, "MiB"}, {1 << 30, 1 << 30, "GiB"}})

	done    = measure[*Run]{"Iterations", "at the last evaluation", iterations, wholeNumber}
	lastPhi = measure[*Run]{"Φ at the end", "at the average hyperparameters", lastValue(phi), number}
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
	summary := func(title, hint string, of func(*runs.Summary) runs.Number, show func(float64) string) measure[*Run] {
		return measure[*Run]{title, hint, summaryValue(of), show}
	}
	last := func(title, hint string, of func(*runs.Record) runs.Number, show func(float64) string) measure[*Run] {
		return measure[*Run]{title, hint, lastValue(of), show}
	}
	change := func(title, set string) measure[*Run] {
		return measure[*Run]{title, perExample, gainNumber(set, lossChange), withSign(number)}
	}
	return []topic{
		{Name: "Exact values", Hint: "with the lower problem solved to its tolerance", models: true,
			measures: []measure[*Run]{
				{"Φ − best constant", "Φ less that of the best single penalty of the same run", (*Run).phiGain,
					withSign(number)},
				lastPhi,
				{"Φ at the start", "before the first iteration", startPhi, number},
				{"Φ, best constant", "where all hyperparameters are the best single number", bestPhi, number},
				summary("Φ at λ = 0", "all hyperparameters are 0", func(s *runs.Summary) runs.Number {
					return s.PhiLambda0
				}, number),
				last("‖∇Φ‖", "norm of the exact hypergradient", gradNorm, number),
				summary("Test loss", "at the tuned λ", func(s *runs.Summary) runs.Number { return s.TestLossTuned },
					number),
				summary("Test accuracy", "at the tuned λ", testAccuracyTuned, percent),
			}},
		{Name: "Tuned against the best constant", Hint: "differences over the same examples, tuned less constant",
			models: true, paired: true, measures: []measure[*Run]{
				change("Change of test loss", runs.Test),
				{"Change of test accuracy", "percentage points", gainNumber(runs.Test, accuracyChange),
					withSign(percentPoints)},
				change("Change of held-out loss", runs.HeldOut),
				change("Change of validation loss", runs.Validation),
			}},
		{Name: "The average model as it stands", Hint: "at the last evaluation, before the lower problem is solved",
			measures: []measure[*Run]{
				last("Test loss", perExample, testLoss, number),
				last("Test accuracy", "share of right answers", testAccuracy, percent),
				last("Validation loss", perExample, valLoss, number),
				last("Training loss", "mean per example, without regularization", trainLoss, number),
				last("Consensus of x", "mean squared distance of the agents' x from their average", consensusX, number),
				last("Hypergradient error", "of the agents' estimate, relative", hypergradientError, number),
			}},
		{Name: "Cost", Hint: "sums over all agents, where nothing else is said", measures: costs()},
	}
}

// costs are what a run took.
func costs() []measure[*Run] {
	calls := func(title, hint string, of func(runs.Usage) int) measure[*Run] {
		return measure[*Run]{title, hint, usageValue(of), wholeNumber}
	}
	matrices := func(title string, of func(runs.Usage) int) measure[*Run] {
		return measure[*Run]{title, "whole matrices", matrixCalls(of), wholeNumber}
	}
	time := func(title, hint string, of func(runs.Usage) float64) measure[*Run] {
		return measure[*Run]{title, hint, usageValue(of), formatTime}
	}
	peak := func(r *runs.Record) runs.Number { return r.PeakRSSMiB * (1 << 20) }
	perAgent := func(s *runs.Summary) runs.Number { return runs.Number(s.FloatsSent) }
	return []measure[*Run]{
		clock, traffic, done,
		calls("Gradients of f", "calls of the oracles", func(u runs.Usage) int { return u.UpperGrad }),
		calls("Gradients of g", "calls of the oracles", func(u runs.Usage) int { return u.LowerGrad }),
		calls("HVPs", "Hessian-vector products", func(u runs.Usage) int { return u.HVP }),
		calls("JVPs", "Jacobian-vector products", func(u runs.Usage) int { return u.JVP }),
		matrices("Hessians", func(u runs.Usage) int { return u.Hessian }),
		matrices("Jacobians", func(u runs.Usage) int { return u.Jacobian }),
		{"Messages", "one to each neighbour in an exchange", usageValue(func(u runs.Usage) int64 { return u.Messages }),
			wholeNumber},
		{"Numbers sent", "in the iterations", usageValue(func(u runs.Usage) int64 { return u.Floats }), wholeNumber},
		{"Per agent and iteration", "numbers that one agent sends in one iteration",
			summaryValue(perAgent), wholeNumber},
		{"ms per iteration", "median, evaluation excluded", milliseconds, number},
		time("In oracles", "time, all agents added", func(u runs.Usage) float64 { return u.OracleSeconds }),
		time("In exchanges", "time, all agents added, with waiting", func(u runs.Usage) float64 {
			return u.MixSeconds
		}),
		time("In algebra", "time, all agents added: the rest", func(u runs.Usage) float64 { return u.AlgebraSeconds }),
		{"Evaluation", "time of all evaluations", evaluationSeconds, formatTime},
		{"Peak memory", "of the process", lastValue(peak), memory},
	}
}

// modelMeasures are what the models at the tuned and at fixed hyperparameters are compared by.
func modelMeasures() []measure[runs.Model] {
	const perExample = "mean per example"
	is := func(title, hint string, of func(runs.Model) runs.Number, show func(float64) string) measure[runs.Model] {
		return measure[runs.Model]{title, hint, func(m runs.Model) float64 { return float64(of(m)) }, show}
	}
	return []measure[runs.Model]{
		is("Φ", "upper objective", func(m runs.Model) runs.Number { return m.Phi }, number),
		is("Validation loss", perExample, func(m runs.Model) runs.Number { return m.ValLoss }, number),
		is("Held-out loss", perExample, func(m runs.Model) runs.Number { return m.HoldoutLoss }, number),
		is("Test loss", perExample, func(m runs.Model) runs.Number { return m.TestLoss }, number),
		is("Test accuracy", "share of right answers", func(m runs.Model) runs.Number { return m.TestAccuracy },
			percent),
		is("Steps", "of the agents' solver", func(m runs.Model) runs.Number { return runs.Number(m.Steps) },
			wholeNumber),
		is("Gradient", "of the lower problem, its norm", func(m runs.Model) runs.Number { return m.Gradient }, number),
	}
}
