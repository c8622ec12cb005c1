package train

import (
	"math"
	"slices"

	"dsbo"
	"dsbo/runs"
)

// Best is the best iterate of a run, of those that records are of: by the loss of ȳ on held-out examples; without such examples by
// exact Φ, of the records that have it ([Config.ExactAt]); without that by the validation loss of ȳ. Where there is none of these it is
// the newest one. By losses the start is one of them, so that the best is never worse than it.
type Best struct {
	X, Y      []float64 // x̄ and ȳ; nil before the first record
	Iteration int
	By        string      // "held-out loss", "Φ", "validation loss" or ""
	Value     runs.Number // of what By names; unknown if By is ""
}

// A chosen is the best iterate so far, in vectors that a checkpoint can hold.
type chosen struct {
	x, y []float64
	head []float64 // whether there is one, its iteration, the index of By in criteria, and Value
}

var criteria = []string{"", "held-out loss", "Φ", "validation loss"}

// newChosen returns that of a run without records.
func newChosen(p, q int) chosen {
	return chosen{make([]float64, p), make([]float64, q), make([]float64, 4)}
}

// state returns views of what a checkpoint holds.
func (c *chosen) state() []dsbo.Named {
	return []dsbo.Named{{Name: "best_x", Value: c.x}, {Name: "best_y", Value: c.y}, {Name: "best", Value: c.head}}
}

// consider takes a record's iterate if it is the best so far. exact says that some records have exact values: those decide then,
// where no examples are held out.
func (c *chosen) consider(r runs.Record, m *means, exact bool) {
	by, value := 0, runs.Unknown()
	switch {
	case r.HoldoutLoss.Known():
		by, value = 1, r.HoldoutLoss
	case exact:
		by, value = 2, r.Phi
	case r.ValLoss.Known():
		by, value = 3, r.ValLoss
	}
	if c.head[0] == 1 && by > 0 && !(float64(value) < c.head[3] || value.Known() && math.IsNaN(c.head[3])) {
		return
	}
	copy(c.x, m.x)
	copy(c.y, m.y)
	copy(c.head, []float64{1, float64(r.Iteration), float64(by), float64(value)})
}

// best returns the best iterate so far.
func (e *evaluator) best() Best {
	c := e.chosen
	if c.head[0] == 0 {
		return Best{Value: runs.Unknown()}
	}
	return Best{slices.Clone(c.x), slices.Clone(c.y), int(c.head[1]), criteria[int(c.head[2])], runs.Number(c.head[3])}
}
