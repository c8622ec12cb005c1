package algo_test

import (
	"slices"
	"testing"

	"dsbo/algo"
	"dsbo/algo/algotest"
	"dsbo/internal/testkit"
)

// TestSearchKeepsTheBest: after each training x and y are of the one whose f is least, by closed
// forms of f and y*.
func TestSearchKeepsTheBest(t *testing.T) {
	qs := algotest.NewQuadratics(1, 3, 4, 2)
	a := ready(t, &algo.Search{Rule: "random", Each: true, Clip: []float64{-2, 2}, T: 2, N: 4}, 3, 4)
	exact := algotest.Solve(qs)
	var best float64
	moved := 0
	for k := range 12 {
		before := slices.Clone(a.X())
		testkit.OK(a.Step(t.Context(), k, qs[0], algotest.NewMixers(algotest.Ring(1, 0.5))[0]))
		f, _ := testkit.Get2(qs[0].Values(a.X(), a.Y(), whole))
		if d := distance(a.Y(), exact.LowerSolution(a.X())); !(d < 1e-9) { // 4 products solve for 4 entries
			t.Errorf("iteration %d: y is off by %g", k, d)
		}
		if k > 0 && f > best {
			t.Errorf("iteration %d: f rose from %g to %g", k, best, f)
		}
		if best = f; !slices.Equal(before, a.X()) {
			moved++
		}
	}
	if moved < 2 || moved == 12 {
		t.Errorf("x moved in %d of 12 iterations; it must in some", moved)
	}
}
