package cli

import (
	"strings"
	"testing"
)

// TestProgressOnTerminal: a bar is as full as its share, lines come above it, one for each call,
// and nothing of it is left at the end; a share below 0 or above 1, of an estimate, is a bar all
// the same.
func TestProgressOnTerminal(t *testing.T) {
	for _, c := range []struct {
		share float64
		want  string
	}{{0.25, " 25% "}, {-0.1, "  0% "}, {1.1, " 99% "}} {
		var out strings.Builder
		p := NewProgress(&out, false)
		p.terminal = true
		p.Show(c.share, "run")
		before := out.Len()
		p.Show(0.5, "too soon")
		if got := out.String(); !strings.Contains(got, c.want) || !strings.Contains(got, "run") || len(got) != before {
			t.Errorf("share %g: %q, want %q", c.share, got, c.want)
		}
		p.Log("line %d of %s", 1, "a\nb")
		got := out.String()[before:]
		if !strings.HasPrefix(got, clearLine+`line 1 of a\nb`+"\n") || !strings.Contains(got, c.want) {
			t.Errorf("share %g: a line is %q, want it above the bar", c.share, got)
		}
		before = out.Len()
		p.Stop()
		if got := out.String()[before:]; strings.TrimRight(got, "\r\x1b[2K ") != "" {
			t.Errorf("share %g: %q is left", c.share, got)
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
