package modelfile

import (
	"os"
	"path/filepath"
	"testing"

	"dsbo/internal/must"
	"dsbo/runs"
	"dsbo/table"
)

// FuzzDescription: what can be read as a model.json is checked without a panic, with weights that are not there.
func FuzzDescription(f *testing.F) {
	f.Add(must.Get(os.ReadFile(filepath.Join("testdata/golden", runs.ModelFile))))
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

// FuzzGraph: what can be read as a model.onnx predicts from a table that fits it, or says why not.
func FuzzGraph(f *testing.F) {
	f.Add(must.Get(os.ReadFile(filepath.Join("testdata/golden", runs.ONNXFile))))
	f.Fuzz(func(t *testing.T, data []byte) {
		g, err := parseGraph(data)
		if err != nil {
			return
		}
		var columns []*table.Column
		for _, in := range g.Recipe().Used() {
			c := table.WordColumn(in.Name, []string{"", "red"})
			if in.Kind != table.Word {
				c = table.NumberColumn(in.Name, make([]float32, 2))
				c.Kind, c.Unit = in.Kind, in.Unit
			}
			columns = append(columns, c)
		}
		rows, err := table.New("", columns...)
		if err != nil {
			return
		}
		made, err := g.Predict(must.Get(g.Recipe().NewEncoder(rows)), 0, rows.Rows())
		if err == nil && made.Rows() != rows.Rows() {
			t.Errorf("%d predictions for %d rows", made.Rows(), rows.Rows())
		}
	})
}
