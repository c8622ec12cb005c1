package candidates

import (
	"math"
	"slices"

	"dsbo/internal/linalg"
)

// Of a search downhill: the most by which an entry of x changes in the first step, and in any one;
// and how many pairs it remembers.
const (
	firstChange = 1
	mostChange  = 4
	mostPairs   = 6
)

// A downhill is a search for an x of the least Φ by BFGS, whose entries are no farther from 0 than
// the farthest constant, and than the start's. All agents have the same bits of it, as of
// the solutions.
type downhill struct {
	best  *Model  // the lowest one so far, at a solution with a gradient
	bound float64 // of the entries of x
	bfgs  linalg.BFGS
	d     []float64
	slope float64 // of Φ along d, negative; 0 where nothing leads down
	share float64 // of d, of the next trial
	reach float64 // the most that an entry of d may be
}

// newDownhill returns the search that begins at a model.
func newDownhill(from *Model) *downhill {
	s := &downhill{best: from, bound: farthestConstant, reach: firstChange, bfgs: linalg.BFGS{Most: mostPairs}}
	for _, v := range from.X {
		s.bound = max(s.bound, math.Abs(v))
	}
	s.turn()
	return s
}

// promise returns about how much Φ would fall by the next trial.
func (s *downhill) promise() float64 { return float64(-s.slope*s.share) / 2 }

// worth reports whether one more solution, of a number from 1 on, is not beyond the most, and Φ is
// expected to fall by it by more than a share.
func (s *downhill) worth(solved, most int, share float64) bool {
	return solved <= most && s.promise() > share*math.Abs(float64(s.best.Phi))
}

// trial returns the x to be solved for next.
func (s *downhill) trial() []float64 {
	x := slices.Clone(s.best.X)
	linalg.Axpy(x, s.share, s.d)
	for r, v := range x {
		x[r] = min(max(v, -s.bound), s.bound)
	}
	return x
}

// accept moves to a trial that is lower. Otherwise it shortens the step, to the minimum of a
// parabola through the known values of Φ along it.
func (s *downhill) accept(m *Model) {
	if !m.Below(s.best) || m.gradient == nil {
		rise := float64(m.Phi - s.best.Phi)
		nearer := -s.slope * s.share / (2 * (rise - float64(s.slope*s.share)))
		if !(nearer >= 0.1) { // also where Φ is not known
			nearer = 0.1
		}
		s.share *= min(nearer, 0.5)
		return
	}
	s.bfgs.Add(m.X, m.gradient, s.best.X, s.best.gradient)
	s.best, s.reach = m, min(2*s.reach, mostChange)
	s.turn()
}

// turn finds the direction from the best model.
func (s *downhill) turn() {
	g := slices.Clone(s.best.gradient)
	for r, v := range s.best.X { // what leads beyond the bound is no way down
		if math.Abs(v) >= s.bound && float64(v*g[r]) < 0 {
			g[r] = 0
		}
	}
	s.d, s.share = slices.Clone(g), 1
	s.bfgs.Solve(s.d, g)
	s.slope = -linalg.Dot(g, s.d) // not above 0, as each pair curves upward
	linalg.Scale(s.d, -1, s.d)
	largest := 0.0
	for _, v := range s.d {
		largest = max(largest, math.Abs(v))
	}
	if largest > s.reach || !s.bfgs.Known() && largest > 0 { // the gradient alone gives no length
		linalg.Scale(s.d, s.reach/largest, s.d)
		s.slope *= s.reach / largest
	}
}
