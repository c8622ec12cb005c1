package exact_test

import (
	"math"
	"testing"

	"dsbo/train/exact"
)

// TestFallsEnough: a step is taken where the lower loss falls by 1e-4 of what its slope promises
// for that share of it, whatever the sign of the loss, and not where it falls by less or rises.
func TestFallsEnough(t *testing.T) {
	for _, c := range []struct {
		fall, share float64
		want        bool
	}{
		{1.01e-4, 1, true}, {0.99e-4, 1, false}, {-0.5e-4, 1, false}, {0.51e-4, 0.5, true}, {0.49e-4, 0.5, false},
		{2, 1, true}, {-1, 1, false}, {math.NaN(), 1, false},
	} {
		for _, before := range []float64{3, -3} {
			if got := exact.FallsEnough(before-3*c.fall, before, c.share, 3); got != c.want {
				t.Errorf("from %g the loss falls by %g of its slope in %g of a step: taken is %t", before, c.fall,
					c.share, got)
			}
		}
	}
}

// TestSecondOrder: what Φ may be off by is four times the second-order term of a loss that touches
// 0: f(t) = (s + t b)² from s² on has the first-order term 2sb and the second-order term b².
func TestSecondOrder(t *testing.T) {
	for _, c := range [][2]float64{{1, 2}, {3, 0.1}, {0.5, -7}} {
		s, b := c[0], c[1]
		if got, want := exact.SecondOrder(2*s*b, s*s), 4*b*b; math.Abs(got-want) > 1e-14*want {
			t.Errorf("f = (%g + %g t)²: Φ may be off by %g, want %g", s, b, got, want)
		}
	}
}
