package candidates_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"dsbo/experiment/candidates"
	"dsbo/internal/testkit"
	"dsbo/models"
)

// TestSeparateClasses: of classes with a gap between them no penalty is weaker than a normal prior
// of deviation 10 on each weight, and the note has a warning; others have neither.
func TestSeparateClasses(t *testing.T) {
	const d, rows, folds, warning = 3, 24, 3, "The classes separate: probabilities near 0 and 1"
	binary := models.Linear{Features: d, Outputs: 2}
	for name, c := range map[string]struct {
		noise float64
		apart bool
	}{"a gap": {0, true}, "noise": {2, false}} {
		f := crossFittedOf(binary, []float64{3, 0, 0}, c.noise, rows, folds, func(sum float64) []float64 {
			if sum > 0 {
				return []float64{0, 1}
			}
			return []float64{1, 0}
		})
		s := testkit.Get(f.Structures(t.Context(), 0))
		least := math.Log(2 * d / (2 * 10 * 10 * rows * (1 - 1./folds)))
		weaker := false
		for k := range folds {
			penalties, _ := s.PenaltiesOf(s.Best, k)
			for _, c := range penalties {
				weaker = weaker || c+s.Best.Strength < least
			}
		}
		if s.Best.Separate != c.apart || strings.Contains(s.Note("It is"), warning) != c.apart || weaker && !c.apart {
			t.Errorf("%s: %+v, %q", name, s.Best.Structure, s.Note("It is"))
		}
		one, best, err := s.Models(t.Context())
		testkit.OK(err)
		for _, x := range append(one.X, best.X...) {
			if !(x >= least-1e-12) {
				t.Errorf("%s: a log-penalty is %v, want at least %v", name, x, least)
			}
		}
		if weakest := slices.Min(best.X) <= least+1e-12; weakest && !c.apart {
			t.Errorf("%s: the weakest penalty is %v, the least one %v", name, slices.Min(best.X), least)
		}
		// Without noise the sign of the first feature is the class of all rows.
		for sign, want := range map[float64]float64{1: 0, -1: 1} {
			y := make([]float64, folds*2*(d+1))
			for k := range folds {
				weights, _ := f.Model.Fold(y, k)
				weights[0], weights[d] = -sign, sign
			}
			wrong := testkit.Get(f.Wrong(t.Context(), y))
			if c.apart && !(math.Abs(wrong-want) <= 1e-12) || !c.apart && !(wrong > .05 && wrong < .95) {
				t.Errorf("%s: %g of the rows are wrong by weights of sign %g", name, wrong, sign)
			}
		}
		// A refit keeps that the parts separate classes, whatever its weakest penalty counts.
		s.Best.Separate = true
		if _, err := s.Refit(t.Context(), f.All, nil, 1); err != nil || !s.Best.Separate {
			t.Errorf("%s: after a refit classes separate: %t, error %v", name, s.Best.Separate, err)
		}
		f.Blocks = candidates.Blocks{Names: []string{"all"}, Of: make([]int, d)}
		bound, _, _, err := f.AtBlocks(t.Context(), make([]float64, 2), least)
		testkit.OK(err)
		below, gradient, _, err := f.AtBlocks(t.Context(), make([]float64, 2), least-3)
		if testkit.OK(err); !(math.Abs(below-bound) <= 1e-6*bound) || gradient[0] != 0 || gradient[1] != 0 {
			t.Errorf("%s: blocks below the least penalty have loss %v with gradient %v, want %v", name, below,
				gradient, bound)
		}
	}
}
