package compare

import (
	"math"
	"slices"

	"dsbo/internal/num"
	"dsbo/runs"
)

// criteria are what the best point of a grid may have the least of: at the end of a run, as a
// mean over seeds. The test loss is none: what is chosen by it says nothing of other examples any
// more.
var criteria = []Quantity{Phi, ValLoss, HoldoutLoss}

// A Quantity is what a figure shows.
type Quantity string

// Quantities, by their names in the JSON of a record. PhiGap is Φ less the lowest of all runs of
// the task with the same seed, whose data are the same.
const (
	Phi          Quantity = "phi"
	PhiGap       Quantity = "phi_gap"
	ValLoss      Quantity = "val_loss"
	HoldoutLoss  Quantity = "holdout_loss"
	TrainLoss    Quantity = "train_loss"
	TestLoss     Quantity = "test_loss"
	TestAccuracy Quantity = "test_accuracy"
)

var quantities = []Quantity{Phi, PhiGap, ValLoss, HoldoutLoss, TrainLoss, TestLoss, TestAccuracy}

func (q Quantity) title() string {
	return map[Quantity]string{
		Phi: "Φ", PhiGap: "Φ less the lowest", ValLoss: "validation loss", HoldoutLoss: "held-out loss",
		TrainLoss: "training loss", TestLoss: "test loss",
		TestAccuracy: "test accuracy",
	}[q]
}

// of returns the quantity of a record, NaN if it is not known. For PhiGap it is Φ.
func (q Quantity) of(r runs.Record) float64 {
	if q == PhiGap {
		q = Phi
	}
	return float64(runs.NumberOf(r, string(q)))
}

// A Cost is what is spent: in exchanges of the method, calls of its oracles, or time, evaluations
// left aside.
type Cost string

// Costs.
const (
	Bytes      Cost = "bytes"
	Calls      Cost = "calls"
	Seconds    Cost = "seconds"
	Iterations Cost = "iterations"
)

var costs = []Cost{Bytes, Calls, Seconds, Iterations}

// tableCosts are the costs of the tables.
var tableCosts = []Cost{Bytes, Calls, Seconds}

// title names the cost, with its unit.
func (c Cost) title() string {
	return map[Cost]string{
		Bytes: "MB sent by all agents", Calls: "oracle calls of an agent", Seconds: "seconds",
		Iterations: "outer iterations k",
	}[c]
}

// of returns what a run of n agents has spent up to a record, in the unit of the title. A whole
// matrix is one call.
func (c Cost) of(r runs.Record, agents int) float64 {
	calls := r.UpperGrad + r.LowerGrad + r.HVP + r.JVP + r.Hessian + r.Jacobian + r.Diagonal + r.Value
	return map[Cost]float64{
		Bytes: float64(r.Bytes) / 1e6, Calls: float64(calls) / float64(max(1, agents)), Seconds: r.Seconds,
		Iterations: float64(r.Iteration),
	}[c]
}

// medianOf returns the median of a number of some runs, NaN where one of them does not have it.
func medianOf(trials []*Trial, of func(*Trial) float64) float64 {
	return median(numbersOf(trials, of))
}

// median returns the median of numbers, NaN if one of them is.
func median(all []float64) float64 {
	if slices.ContainsFunc(all, math.IsNaN) {
		return math.NaN()
	}
	return num.Median(all)
}
