package train

import (
	"slices"

	"dsbo"
	"dsbo/internal/num"
	"dsbo/runs"
)

// Best is the best iterate of a run, of those that records are of: by the loss of ȳ on held-out
// examples; without such examples by exact Φ, of the records that have it ([Config.ExactAt]);
// without that by the validation loss of ȳ. Without any of these, and with Config.Newest, it is the
// newest iterate. By losses the start is a candidate too, so the best is never worse than the
// start.
//
// By held-out examples it is the newest iterate, unless its loss exceeds the least by more than a
// standard error of their difference, taken example by example ([Problem.Each]; without it, unless
// it exceeds the least): then it is the iterate of the least loss. x descends on all other
// validation examples, so stopping early needs evidence, and a difference within chance is none.
type Best struct {
	X, Y, Z   []float64 // x̄, ȳ and z̄; nil before the first record, and z̄ of methods without
	Iteration int
	By        string      // "held-out loss", "Φ", "validation loss" or ""
	Value     runs.Number // of the criterion By; unknown if By is ""
	// Rose is the number of latest records in a row whose held-out loss exceeded the least by more
	// than chance: by 2.9 standard errors of their difference, more for few examples, in the ratio
	// of Student's quantile to 1.96. One error would not do, since the least of many losses is low
	// by chance. [LeastRose] in a row are evidence of over-fitting.
	Rose int
}

// LeastRose is the number of records in a row ([Best.Rose]) that a run without over-fitting has, of
// its some twenty, in at most one of twenty runs.
const LeastRose = 2

// criteria are the values of Best.By.
var criteria = []string{byNothing: "", byHeldOut: "held-out loss", byPhi: "Φ", byValidation: "validation loss"}

// The indices of criteria.
const (
	byNothing = iota
	byHeldOut
	byPhi
	byValidation
)

// An iterate is the averages x̄, ȳ and z̄ at a record.
type iterate struct {
	x, y, z []float64
	value   []float64 // two numbers: its iteration, and the value by which it is judged
}

// set copies the averages of a record to i.
func (i iterate) set(m *means, iteration int, value runs.Number) {
	copy(i.x, m.x)
	copy(i.y, m.y)
	copy(i.z, m.z)
	copy(i.value, []float64{float64(iteration), float64(value)})
}

// state returns views of i for a checkpoint.
func (i iterate) state(name string) []dsbo.Named {
	return []dsbo.Named{
		{Name: name + "_x", Value: i.x}, {Name: name + "_y", Value: i.y}, {Name: name + "_z", Value: i.z},
		{Name: name, Value: i.value},
	}
}

// A bestState is the best iterate so far, in vectors for a checkpoint.
type bestState struct {
	least  iterate   // of the least value
	newest iterate   // the newest one, if that is best though its value is not the least
	head   []float64 // of the newest record, from headBy on
}

// The numbers of a bestState's head.
const (
	headBy   = iota // index of By in criteria
	headBest        // 0 before the first record; leastIsBest or newestIsBest
	headRose        // Best.Rose
	headLength

	leastIsBest  = 1.0
	newestIsBest = 2.0
)

// newBestState returns the state of a run without records.
func newBestState(p, q int) bestState {
	iterate := func() iterate {
		return iterate{make([]float64, p), make([]float64, q), make([]float64, q), make([]float64, 2)}
	}
	return bestState{iterate(), iterate(), make([]float64, headLength)}
}

// state returns views of the part saved in a checkpoint.
func (c *bestState) state() []dsbo.Named {
	return slices.Concat(c.least.state("least"), c.newest.state("newest"), []dsbo.Named{{Name: "best", Value: c.head}})
}

// rises reports whether a loss is above another by more than chance: by more than the standard
// errors of [Best.Rose], in whose ratio 1.96 is the quantile for many examples.
func rises(g runs.Gain) bool {
	errors := 2.9 * num.StudentQuantile(0.975, g.Examples-1) / 1.96
	return float64(g.LossChange) > errors*float64(g.LossError)
}
