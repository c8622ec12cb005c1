package compare

import (
	"math"
	"slices"

	"dsbo/internal/num"
	"dsbo/runs"
)

// criteria are the quantities by which the best point of a grid may be chosen: the least at the end
// of a run, as a mean over seeds. The test loss is none of them, since a choice by it would spoil
// it as evidence.
var criteria = []Quantity{Phi, ValLoss, HoldoutLoss}

// A Quantity is a number of a record, by its name there.
type Quantity string

// Quantities.
const (
	Phi          Quantity = "phi"
	ValLoss      Quantity = "val_loss"
	HoldoutLoss  Quantity = "holdout_loss"
	TestLoss     Quantity = "test_loss"
	TestAccuracy Quantity = "test_accuracy"
)

func (q Quantity) Title() string {
	return map[Quantity]string{Phi: "Φ", ValLoss: "validation loss", HoldoutLoss: "held-out loss"}[q]
}

// of returns the quantity of a record, NaN if it is not known.
func (q Quantity) of(r runs.Record) float64 { return float64(runs.NumberOf(r, string(q))) }

// A Cost is what is spent: in exchanges of the method, calls of its oracles, or time, evaluations
// left aside.
type Cost string

// Costs, with their units.
const (
	Bytes   Cost = "MB sent by all agents"
	Calls   Cost = "oracle calls of an agent"
	Seconds Cost = "seconds"
)

var costs = []Cost{Bytes, Calls, Seconds}

// of returns what a run of n agents has spent up to a record. A whole matrix is one call.
func (c Cost) of(r runs.Record, agents int) float64 {
	switch c {
	case Bytes:
		return float64(r.Bytes) / 1e6
	case Seconds:
		return r.Seconds
	}
	calls := r.UpperGrad + r.LowerGrad + r.HVP + r.JVP + r.Hessian + r.Jacobian + r.Diagonal + r.Value
	return float64(calls) / float64(max(1, agents))
}

// medianOf returns the median of a number of some runs, NaN where one of them does not have it.
func medianOf(trials []*Trial, of func(*Trial) float64) float64 {
	return median(each(trials, of))
}

// median returns the median of numbers, NaN if one of them is.
func median(all []float64) float64 {
	if slices.ContainsFunc(all, math.IsNaN) {
		return math.NaN()
	}
	return num.Median(all)
}
