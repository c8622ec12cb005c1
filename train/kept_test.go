package train

import "testing"

// TestKeptBytes: what agents keep in all is bounded, but for two vectors each.
func TestKeptBytes(t *testing.T) {
	for _, c := range []struct{ agents, q, want int }{
		{1, 100, 0}, {20, 100, 0}, {21, 100, 640 << 20 / 21}, {64, 17155, 10 << 20}, {64, 1 << 20, 16 << 20},
	} {
		if got := keptBytes(c.agents, c.q); got != c.want {
			t.Errorf("each of %d agents keeps %d bytes for a y of %d, want %d", c.agents, got, c.q, c.want)
		}
	}
}
