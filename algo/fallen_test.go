package algo

import "testing"

// TestFallen: a search for the start continues where the loss falls by a share 1 − drop of its
// size, here 0.15, also below 0 and where the loss falls from above to below it.
func TestFallen(t *testing.T) {
	for _, c := range []struct {
		last, loss float64
		want       bool
	}{
		{2, 1.69, true}, {2, 1.71, false}, {2, 2.1, false}, {-2, -2.31, true}, {-2, -2.29, false}, {-2, -1.9, false},
		{-2, -1.6, false}, {.1, -.1, true}, {-.1, .1, false}, {0, -1, true}, {0, 1, false},
	} {
		if got := fallen(c.loss, c.last); got != c.want {
			t.Errorf("from %g to %g: fallen is %t", c.last, c.loss, got)
		}
	}
}
