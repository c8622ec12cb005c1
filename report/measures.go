package report

import (
	"math"

	"dsbo/runs"
)

// A measure is a number of a whole run, as the tables have it.
type measure struct {
	title string
	hint  string // what it is, in a few words
	of    func(*Run) float64
	show  func(float64) string
}

// first is a number of a run's first evaluation.
func first(of func(*runs.Record) runs.Number) func(*Run) float64 {
	return func(r *Run) float64 { return float64(of(&r.Records[0])) }
}

// last is a number of a run's last evaluation that knows it.
func last(of func(*runs.Record) runs.Number) func(*Run) float64 {
	return func(r *Run) float64 {
		for i := len(r.Records) - 1; i >= 0; i-- {
			if v := of(&r.Records[i]); v.Known() {
				return float64(v)
			}
		}
		return math.NaN()
	}
}

// atEnd is a number of a run's summary.
func atEnd(of func(*runs.Summary) runs.Number) func(*Run) float64 {
	return func(r *Run) float64 {
		if r.Summary == nil {
			return math.NaN()
		}
		return float64(of(r.Summary))
	}
}

// spent is a number of what all agents together had spent at a run's end.
func spent[T int | int64 | float64](of func(runs.Usage) T) func(*Run) float64 {
	return func(r *Run) float64 { return float64(of(r.spent())) }
}

// positive drops zeros: a column of a kind of call that nobody makes.
func positive(of func(*Run) float64) func(*Run) float64 {
	return func(r *Run) float64 {
		if v := of(r); v > 0 {
			return v
		}
		return math.NaN()
	}
}

// iterations are those done at the last evaluation.
func iterations(r *Run) float64 { return iteration(r.lastRecord()) }

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
	return last(func(r *runs.Record) runs.Number { return r.MsPerIteration })(r)
}

// outcomes are what methods are compared by, the first of those that were measured above all.
func outcomes() []measure {
	return []measure{
		{"Φ at the end", "exact upper objective at the average hyperparameters x̄", last(phi), number},
		{"Φ at the start", "exact upper objective before the first iteration", first(phi), number},
		{"Φ at λ = 0", "exact upper objective where all hyperparameters are 0", atEnd(phiAtZero), number},
		{"‖∇Φ‖", "norm of the exact hypergradient at x̄", last(gradNorm), number},
		{"Test accuracy", "of the average model ȳ", last(testAccuracy), percent},
		{"Test accuracy, refitted", "of the model that the agents find together at x̄", atEnd(func(s *runs.Summary) runs.Number { return s.RefitTestAccuracy }), percent},
		{"Test accuracy, exact", "of the lower problem's exact solution at x̄", atEnd(accuracyAtTuned), percent},
		{"Test loss, refitted", "of the model that the agents find together at x̄", atEnd(func(s *runs.Summary) runs.Number { return s.RefitTestLoss }), number},
		{"Test loss", "of the average model ȳ", last(testLoss), number},
		{"Validation loss", "of the average model ȳ", last(valLoss), number},
		{"Training loss", "of the average model ȳ", last(trainLoss), number},
		{"Consensus of x", "mean squared distance of the agents' x from their average", last(consensusX), number},
		{"Hypergradient error", "of the agents' estimate, relative", last(hypergradientError), number},
		{"Iterations", "outer iterations at the last evaluation", iterations, count},
		{"Time", "of the iterations, evaluation excluded", seconds, in(timeUnits())},
		{"Traffic", "sent by all agents together", spent(func(u runs.Usage) int64 { return u.Bytes }), in(byteUnits())},
	}
}

// costs are what a run took.
func costs() []measure {
	const byCalls, matrices = "calls of the oracles, all agents together", "whole matrices, all agents together"
	memory := func(r *runs.Record) runs.Number { return r.PeakRSSMiB * (1 << 20) }
	return []measure{
		{"Gradients of f", byCalls, spent(func(u runs.Usage) int { return u.UpperGrad }), count},
		{"Gradients of g", byCalls, spent(func(u runs.Usage) int { return u.LowerGrad }), count},
		{"HVPs", "Hessian-vector products, all agents together", spent(func(u runs.Usage) int { return u.HVP }), count},
		{"JVPs", "Jacobian-vector products, all agents together", spent(func(u runs.Usage) int { return u.JVP }), count},
		{"Hessians", matrices, positive(spent(func(u runs.Usage) int { return u.Hessian })), count},
		{"Jacobians", matrices, positive(spent(func(u runs.Usage) int { return u.Jacobian })), count},
		{"Messages", "one to each neighbour in an exchange, all agents together", spent(func(u runs.Usage) int64 { return u.Messages }), count},
		{"Numbers sent", "by all agents together", spent(func(u runs.Usage) int64 { return u.Floats }), count},
		{"Per agent and iteration", "numbers that one agent sends in one iteration", atEnd(func(s *runs.Summary) runs.Number { return runs.Number(s.FloatsSent) }), count},
		{"Traffic", "sent by all agents together", spent(func(u runs.Usage) int64 { return u.Bytes }), in(byteUnits())},
		{"Time", "of the iterations, evaluation excluded", seconds, in(timeUnits())},
		{"ms per iteration", "median, evaluation excluded", milliseconds, number},
		{"In oracles", "time, all agents added", spent(func(u runs.Usage) float64 { return u.OracleSeconds }), in(timeUnits())},
		{"In exchanges", "time, all agents added, waiting for neighbours included", spent(func(u runs.Usage) float64 { return u.MixSeconds }), in(timeUnits())},
		{"In algebra", "time, all agents added: the rest", spent(func(u runs.Usage) float64 { return u.AlgebraSeconds }), in(timeUnits())},
		{"Evaluation", "time of all evaluations together", evaluationSeconds, in(timeUnits())},
		{"Peak memory", "of the process", last(memory), in([]unit{{0, 1 << 20, "MiB"}, {1 << 30, 1 << 30, "GiB"}})},
	}
}
