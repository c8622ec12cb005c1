package adtest

import (
	"os"
	"strings"
	"testing"

	"dsbo/internal/kernel"
)

func TestEverywhere(t *testing.T) { Everywhere(t, "^TestProbe$") }

// TestProbe is what TestEverywhere runs on the other paths.
func TestProbe(t *testing.T) {
	if path, is := os.LookupEnv(marker); is && path != kernel.Active().String() {
		t.Errorf("path %s, want %s", kernel.Active(), path)
	}
}

// TestProbeFails fails where TestFaults runs it.
func TestProbeFails(t *testing.T) {
	if _, is := os.LookupEnv(marker); is {
		t.Error("as it should")
	}
}

// TestProbeSkips is a test that runs nowhere.
func TestProbeSkips(t *testing.T) { t.Skip("it always does") }

func TestFaults(t *testing.T) {
	if _, is := os.LookupEnv(marker); is {
		Everywhere(t, "")
		return
	}
	for _, c := range []struct{ path, run, says string }{
		{"generic", "^TestProbe$", ""},
		{"generic", "^TestProbe", "as it should"},
		{"generic", "^TestProbeSkips$", `0 have passed besides TestFaults`},
		{"generic", "^TestOfAnotherName$", `0 have passed besides TestFaults`},
		{"sse", "^TestProbe$", `it is "sse"`},
		{"generic", "(", "error parsing regexp"},
	} {
		err := runOnPath(t, c.path, c.run)
		switch {
		case c.says == "" && err != nil:
			t.Errorf("%s on %s: %v", c.run, c.path, err)
		case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%s on %s: error is %v, want one with %q", c.run, c.path, err, c.says)
		}
	}
}

// TestOtherPaths: each path but the one in use; plain Go alone if time is short.
func TestOtherPaths(t *testing.T) {
	best := kernel.Generic
	for kernel.Supported(best + 1) {
		best++
	}
	for p := kernel.Generic; p <= best; p++ {
		restore := kernel.Use(p)
		if n := len(otherPaths()); n != int(best) {
			t.Errorf("on %s: %d other paths, want %d", p, n, best)
		}
		restore()
	}
}
