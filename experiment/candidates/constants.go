package candidates

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"dsbo/internal/linalg"
	"dsbo/runs"
)

// farthestConstant bounds the constants that are tried, on both sides of 0.
const farthestConstant = 14

// flatShare is the share of Φ below which its fall from a constant to the next one would show in
// no table.
const flatShare = 1e-4

// Constants finds the model of λ = 0 and the best one of a constant λ, which may be the same. It
// tries 0, and then searches as ConstantNear does, from near if the slope at 0 points there.
func (f *Finder) Constants(ctx context.Context, near int) (zero, best *Model, err error) {
	if zero, err = f.constant(ctx, 0, f.fineTol); err != nil {
		return nil, nil, err
	}
	if zero.pointsFrom(near) {
		near = 0
	}
	best, err = f.ConstantNear(ctx, near)
	return zero, best, err
}

// pointsFrom reports whether the slope of Φ at 0 points away from another constant.
func (m *Model) pointsFrom(near int) bool { return m.tells() && !(float64(near)*m.slope <= 0) }

// ConstantNear finds the best model of a constant λ: it tries near, then moves downhill by ones
// from the best so far, until both neighbours of the best are known to be worse. A constant is
// solved only as exactly as the comparison needs.
func (f *Finder) ConstantNear(ctx context.Context, near int) (*Model, error) {
	_, err := f.constant(ctx, near, f.roughTol)
	for err == nil {
		best := f.bestSolved()
		next, ok := f.nextConstant(best)
		if ok {
			_, err = f.constant(ctx, next, f.roughTol)
		} else if m := f.contender(best); m != nil {
			err = f.solve(ctx, m, m.Y, m.z, f.finer(m, best))
			f.addTried(m)
		} else {
			return best, nil
		}
	}
	return nil, err
}

// constant returns the model whose λ is one number. If it is not known yet, it is solved to a
// tolerance from the nearest known one, or from the last solution.
func (f *Finder) constant(ctx context.Context, c int, tol float64) (*Model, error) {
	if m := f.constants[c]; m != nil {
		return m, nil
	}
	m, near := NewModel(fmt.Sprintf("%s = %d", f.Symbol, c), runs.Number(c), make([]float64, f.length)), f.nearest(c)
	linalg.Fill(m.X, float64(c))
	f.watch.Expect(len(f.constants) + 3)
	if err := f.solve(ctx, m, near.Y, near.z, tol); err != nil {
		return nil, err
	}
	f.constants[c] = m
	f.addTried(m)
	return m, nil
}

// addTried adds Φ of a constant to those that were tried, or puts it in place of what is there.
func (f *Finder) addTried(m *Model) {
	for i, c := range f.Tried {
		if c.Lambda == float64(m.Lambda) {
			f.Tried[i].Phi = float64(m.Phi)
			return
		}
	}
	if m.Phi.Known() {
		f.Tried = append(f.Tried, runs.Constant{Lambda: float64(m.Lambda), Phi: float64(m.Phi)})
	}
}

// nearest returns the model of the constant nearest to c, of two the smaller one's.
func (f *Finder) nearest(c int) *Model {
	near, least := new(Model), math.MaxInt
	for _, d := range f.solvedConstants() {
		if far := max(d-c, c-d); far < least {
			near, least = f.constants[d], far
		}
	}
	return near
}

// solvedConstants returns the constants that are solved, in order.
func (f *Finder) solvedConstants() []int { return slices.Sorted(maps.Keys(f.constants)) }

// bestSolved returns the model of the best constant so far, of equal ones the nearest to 0.
func (f *Finder) bestSolved() (best *Model) {
	for _, c := range f.solvedConstants() {
		m := f.constants[c]
		if best == nil || m.Below(best) || !best.Below(m) && max(c, -c) < int(math.Abs(float64(best.Lambda))) {
			best = m
		}
	}
	return best
}

// nextConstant returns a constant that may be better than the best one, m, and is not known yet: a
// neighbour on the side to which Φ falls, on either side where its slope is not known. Beyond the
// farthest constant there is none, nor where Φ is flat, unless another one could not be solved:
// then Φ may be lower on the way to that. Where none could be, it is a larger one, at which the
// lower problem is better conditioned.
func (f *Finder) nextConstant(m *Model) (next int, ok bool) {
	solved, last := true, 0
	for c, other := range f.constants {
		solved, last = solved && other.tells(), max(last, c)
	}
	if !m.tells() {
		return max(1, 2*last), 2*last <= farthestConstant
	}
	if solved && m.slope != 0 && math.Abs(m.slope) <= flatShare*math.Abs(float64(m.Phi)) {
		return 0, false
	}
	at := int(m.Lambda)
	for _, side := range []int{1, -1} {
		next := at + side
		if float64(side)*m.slope <= 0 && f.constants[next] == nil &&
			(side*at < 0 || max(next, -next) <= farthestConstant) {
			return next, true
		}
	}
	return 0, false
}

// contender returns a constant that is solved roughly and may be the best one, that one first; nil
// if there is none.
func (f *Finder) contender(best *Model) *Model {
	if best.tol != f.fineTol {
		return best
	}
	for _, c := range f.solvedConstants() {
		if m := f.constants[c]; m.tol != f.fineTol && m.objective()-m.phiError <= best.objective()+best.phiError {
			return m
		}
	}
	return nil
}

// BeyondNotes returns a note if the best constant is the farthest tried, and Φ still falls there.
func (m *Model) BeyondNotes() []string {
	if !m.Lambda.Known() || math.Abs(float64(m.Lambda)) < farthestConstant || float64(m.Lambda)*m.slope >= 0 {
		return nil
	}
	return []string{fmt.Sprintf(
		"Φ falls still at %s = %v, the farthest constant that was tried: a better one may be beyond.", m.Finder.Symbol,
		float64(m.Lambda))}
}

// finer returns to which tolerance a contender is solved: the best constant to the one of models
// that are shown, another one more exactly than it was.
func (f *Finder) finer(m, best *Model) float64 {
	if m == best {
		return f.fineTol
	}
	return max(f.fineTol, m.tol/4)
}
