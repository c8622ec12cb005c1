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
//
// Held-out losses that differ by less than a thousandth do not tell which iterate is better, and later ones fit the
// validation examples more: of the iterates so near to the lowest loss the earliest is taken.
type Best struct {
	X, Y      []float64 // x̄ and ȳ; nil before the first record
	Iteration int
	By        string      // "held-out loss", "Φ", "validation loss" or ""
	Value     runs.Number // of what By names; unknown if By is ""
}

// criteria are the values of Best.By, with the share of the least value within which values count as equal.
var criteria = []struct {
	by    string
	share float64
}{{"", 0}, {"held-out loss", 1e-3}, {"Φ", 0}, {"validation loss", 0}}

// mostCandidates is how many iterates may wait for the end of the run; later ones are not taken while there are so many.
const mostCandidates = 8

// A chosen is the candidates for the best iterate so far, the earliest first, in vectors that a checkpoint can hold. Each was better
// than all before it when it came, and is within the share of the best.
type chosen struct {
	x, y       []float64 // of mostCandidates candidates
	candidates []float64 // the iteration and the value of each
	head       []float64 // the number of candidates, the index of By in criteria, and the least value
}

// newChosen returns that of a run without records.
func newChosen(p, q int) chosen {
	return chosen{make([]float64, mostCandidates*p), make([]float64, mostCandidates*q), make([]float64, mostCandidates*2), make([]float64, 3)}
}

// state returns views of what a checkpoint holds.
func (c *chosen) state() []dsbo.Named {
	return []dsbo.Named{{Name: "best_x", Value: c.x}, {Name: "best_y", Value: c.y}, {Name: "best_candidates", Value: c.candidates}, {Name: "best", Value: c.head}}
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
	n, least := int(c.head[0]), float64(value)
	if n > 0 && by > 0 {
		if !(least < c.head[2] || value.Known() && math.IsNaN(c.head[2])) {
			return
		}
		n = c.drop(n, least+criteria[by].share*math.Abs(least))
	} else {
		n = 0
	}
	copy(c.head, []float64{float64(n), float64(by), least})
	if n == mostCandidates {
		return
	}
	p, q := len(m.x), len(m.y)
	copy(c.x[n*p:], m.x)
	copy(c.y[n*q:], m.y)
	copy(c.candidates[2*n:], []float64{float64(r.Iteration), least})
	c.head[0]++
}

// drop removes the candidates, of n, whose value is above a bound, which are the earliest ones, and returns the number of the others.
func (c *chosen) drop(n int, bound float64) int {
	gone := 0
	for gone < n && !(c.candidates[2*gone+1] <= bound) {
		gone++
	}
	for _, v := range [][]float64{c.x, c.y, c.candidates} {
		copy(v, v[gone*len(v)/mostCandidates:])
	}
	return n - gone
}

// best returns the best iterate so far, the earliest of the candidates.
func (e *evaluator) best() Best {
	c := e.chosen
	if c.head[0] == 0 {
		return Best{Value: runs.Unknown()}
	}
	p, q := len(c.x)/mostCandidates, len(c.y)/mostCandidates
	return Best{slices.Clone(c.x[:p]), slices.Clone(c.y[:q]), int(c.candidates[0]), criteria[int(c.head[1])].by, runs.Number(c.candidates[1])}
}
