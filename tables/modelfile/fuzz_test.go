package modelfile

import (
	"os"
	"path/filepath"
	"testing"

	"dsbo/internal/testkit"
	"dsbo/runs"
)

// FuzzDescription: what can be read as a model.json is checked without a panic, with weights that
// are not there.
func FuzzDescription(f *testing.F) {
	f.Add(testkit.Get(os.ReadFile(filepath.Join("testdata/golden", runs.ModelFile))))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := parseDescription(text)
		if err != nil {
			return
		}
		m := &Model{recipe: d.Recipe}
		for _, l := range d.Layers {
			m.Layers = append(m.Layers, Layer{In: l.In, Out: l.Out, Unit: l.Unit})
		}
		if m.check() == nil {
			t.Error("a model without weights is no model")
		}
	})
}
