package candidates

import (
	"context"
	"fmt"

	"dsbo/runs"
)

// Descents bounds the solutions by which a tuned x is looked for downhill from its rival's.
const Descents = 12

// leastPromise is the share of Φ by which it has to be expected to fall for one more solution.
const leastPromise = 1e-5

// Descent returns a tuned model whose Φ is below its rival's, the best constant, if one is found,
// else the tuned model, and a note on what was found. A constant is an x like all others: where the
// tuned one is not below it, the iterations have ended on the way, and x is looked for from the
// constant on, along exact hypergradients. Solutions that have none, as of lower problems that are
// not convex, leave the tuned model as it is. It takes about as many products as the iterations and
// the models so far, at most: a solution that may not fit, by the one before it, is not begun.
func (f *Finder) Descent(ctx context.Context, tuned, rival *Model) (*Model, []string, error) {
	if tuned.Below(rival) || rival.Finder != f || !rival.Lambda.Known() || rival.gradient == nil {
		return tuned, nil, nil
	}
	note := fmt.Sprintf("Φ at the %s of the iterations is %.4g, not below that of %s, %.4g", f.Symbol,
		float64(tuned.Phi), rival.Name, float64(rival.Phi))
	if !tuned.Solved() {
		note = fmt.Sprintf("Φ at the %s of the iterations is not known, as its model has not converged; at %s it "+
			"is %.4g", f.Symbol, rival.Name, float64(rival.Phi))
	}
	search, effort := newDownhill(rival), f.Spent+f.products(tuned)
	f.watch.Log("%s: it is looked for downhill from there, by about %d products at most", note, effort)
	for solved, likely := 1, 0; goesOn(search, solved, likely, effort); solved++ {
		f.watch.Expect(1 + len(f.constants) + solved)
		next := NewModel(tuned.Name, runs.Unknown(), search.trial())
		if err := f.Solve(ctx, next, search.best.Y, search.best.z); err != nil {
			return nil, nil, err
		}
		likely, effort = next.Steps, effort-next.Steps
		search.accept(next)
	}
	switch {
	case search.best == rival && rival.BeyondNotes() != nil: // Φ falls there, but beyond the farthest constant
		return tuned, nil, nil
	case search.best == rival:
		return tuned, []string{note + ", and was not found to fall from there."}, nil
	}
	search.best.FoundBy = FoundBySearch
	return search.best, []string{fmt.Sprintf("%s: the tuned %s was found downhill from there.", note, f.Symbol)}, nil
}

// goesOn reports whether a further solution is worth it, of a number from 1 on: where as many
// products are left as it is likely to take, and Φ is expected to fall by enough.
func goesOn(search *downhill, solved, likely, effort int) bool {
	return likely <= effort && search.worth(solved, Descents, leastPromise)
}

// products returns how many the tuned model and the constants have taken.
func (f *Finder) products(tuned *Model) int {
	sum := tuned.Steps
	for _, m := range f.constants {
		sum += m.Steps
	}
	return sum
}
