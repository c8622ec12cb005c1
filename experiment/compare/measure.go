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
var criteria = []quantity{phi, valLoss, holdoutLoss}

// A quantity is a number of a record, by its name there.
type quantity string

// Quantities.
const (
	phi          quantity = "phi"
	valLoss      quantity = "val_loss"
	holdoutLoss  quantity = "holdout_loss"
	testLoss     quantity = "test_loss"
	testAccuracy quantity = "test_accuracy"
)

func (q quantity) Title() string {
	return map[quantity]string{phi: "Φ", valLoss: "validation loss", holdoutLoss: "held-out loss"}[q]
}

// of returns the quantity of a record, NaN if it is not known.
func (q quantity) of(r runs.Record) float64 { return float64(runs.NumberOf(r, string(q))) }

// A cost is what is spent: in exchanges of the method, calls of its oracles, or time, evaluations
// left aside.
type cost struct {
	name string
	of   func(r runs.Record, agents int) float64 // what agents have spent up to a record
}

// Costs.
var (
	megabytes   = cost{"MB sent by all agents", func(r runs.Record, _ int) float64 { return float64(r.Bytes) / 1e6 }}
	oracleCalls = cost{"oracle calls of an agent", func(r runs.Record, agents int) float64 {
		return float64(r.Calls.Total()) / float64(max(1, agents))
	}}
	seconds = cost{"seconds", func(r runs.Record, _ int) float64 { return r.Seconds }}
	costs   = []cost{megabytes, oracleCalls, seconds}
)

// medianOf returns the median of a number of some runs, NaN where one of them does not have it.
func medianOf(trials []*trial, of func(*trial) float64) float64 {
	return median(each(trials, of))
}

// median returns the median of numbers, NaN if one of them is.
func median(all []float64) float64 {
	if slices.ContainsFunc(all, math.IsNaN) {
		return math.NaN()
	}
	return num.Median(all)
}
