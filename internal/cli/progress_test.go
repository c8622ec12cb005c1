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

// TestPlain: what asks for plain text gets no bar and no colour, on a terminal too.
func TestPlain(t *testing.T) {
	for setting, want := range map[string]bool{"": false, "TERM=xterm": false, "NO_COLOR=1": true, "NO_COLOR=": false,
		"TERM=dumb": true, "OMPI_COMM_WORLD_RANK=0": true, "PMI_RANK=3": true, "PMIX_RANK=1": true} {
		name, value, _ := strings.Cut(setting, "=")
		if got := wantsPlain(func(n string) string { return map[string]string{name: value}[n] }); got != want {
			t.Errorf("%q: plain text is %t, want %t", setting, got, want)
		}
	}
}
