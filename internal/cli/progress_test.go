package cli

import (
	"strings"
	"testing"
)

// TestProgressOnTerminal: a bar is as full as its share, lines come above it, and nothing of it is
// left at the end.
func TestProgressOnTerminal(t *testing.T) {
	var out strings.Builder
	p := NewProgress(&out, false)
	p.terminal = true
	p.Show(0.25, "run")
	p.Show(0.5, "too soon")
	p.Log("line %d", 1)
	p.Stop()
	bar := " 25 % |██████                  | run"
	if want := clearLine + bar + clearLine + "line 1\n" + bar + clearLine; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
	for _, share := range []float64{-0.1, 1.1} { // of estimates
		if n := len([]rune(barOf(share, ""))); n < barWidth+9 || n > barWidth+10 {
			t.Errorf("share %g: %q", share, barOf(share, ""))
		}
	}
}
