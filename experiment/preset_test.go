package experiment

import (
	"io"
	"path/filepath"
	"testing"

	"dsbo/algo"
	"dsbo/internal/testkit"
)

// TestPresetsOfAll: a task without presets has paper and madsbo_tuned, by either name, and they
// lower Φ.
func TestPresetsOfAll(t *testing.T) {
	for _, c := range []struct{ flag, preset, method string }{
		{"-preset=paper", "paper", "madsbo"}, {"-algorithm=madsbo", "paper", "madsbo"},
		{"-preset=madsbo_tuned", "madsbo_tuned", "madsbo_tuned"},
		{"-algorithm=madsbo_tuned", "madsbo_tuned", "madsbo_tuned"},
		{"-algorithm=dsoba", "tuned", "dsoba"}, // nothing is made for it
	} {
		j := testkit.Get(Parse(newMean(), []string{c.flag}, io.Discard))
		p := testkit.Get(j.resolveParameters())
		if s := j.Settings; s.Preset != c.preset || s.Algorithm != c.method {
			t.Errorf("%s: preset %s, method %s; want %s, %s", c.flag, s.Preset, s.Algorithm, c.preset, c.method)
		}
		if m, ok := p.method.(*algo.Tuned); ok && m.XStep != "adam" {
			t.Errorf("%s: %+v has none of its preset's settings", c.flag, m)
		}
	}
	for _, preset := range []string{"paper", "madsbo_tuned"} {
		folder := filepath.Join(t.TempDir(), "run")
		s := testkit.Get(runMean(t.Context(), folder, "-rows=60", "-preset="+preset, "-K=30"))
		if !(s.PhiEnd < s.PhiStart) {
			t.Errorf("%s: Φ went from %g to %g", preset, s.PhiStart, s.PhiEnd)
		}
	}
}
