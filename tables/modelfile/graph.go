package modelfile

import (
	"fmt"
	"math"
	"slices"

	"dsbo/internal/wording"
	"dsbo/models"
	"dsbo/tables"
	"dsbo/tables/assess"
	"dsbo/tables/features"
)

// onnx returns the file of the model as ONNX, with the text of its recipe.
func (m *Model) onnx(recipe string) []byte {
	g := &graph{taken: map[string]bool{}}
	for _, in := range m.recipe.Used() {
		g.taken[in.Name] = true // before any name of the graph's own
	}
	h := g.features(m.recipe)
	for i, l := range m.Layers {
		h = g.layer(i, l, h)
	}
	hazard := g.predictions(m.recipe.Target, h)
	if b := m.Baseline; b != nil && b.Horizon() > 0 {
		g.survival(*b, hazard)
	}
	var file, text message
	file.wholes(1, irVersion)
	file.texts(2, "dsbo")
	file.texts(3, wording.Build().Name())
	file.texts(6, "Written by dsbo tune: raw values of a table to predictions.")
	file.bytes(7, g.encode("model of "+m.recipe.Target.Name))
	for k, version := range []int{onnxOpset, onnxOpsetML} {
		var set message
		set.texts(1, []string{"", onnxML}[k])
		set.wholes(2, version)
		file.bytes(8, set)
	}
	text.texts(1, "recipe")
	text.texts(2, recipe)
	file.bytes(14, text)
	return file
}

// input adds an input with one column, by the name of the table's.
func (g *graph) input(in features.Input) string {
	kind := onnxFloat
	switch {
	case in.Kind == tables.Word:
		kind = onnxString
	case in.IsWide():
		kind = onnxDouble
	}
	g.inputs.bytes(11, value(in.Name, kind, "N", 1))
	return in.Name
}

// Attributes of several nodes.
var (
	alongColumns = number("axis", 1)
	transposed   = number("transB", 1)
)

// unitOperators are the operators of units.
var unitOperators = map[models.Unit]string{models.Tanh: "Tanh", models.ReLU: "Relu"}

// double adds a node that makes float64 of others.
func (g *graph) double(want, from string) string {
	return g.node(want, "Cast", number("to", onnxDouble), from)
}

// sideBySide adds a node that sets matrices side by side, if there are several.
func (g *graph) sideBySide(want string, parts []string) string {
	if len(parts) == 1 {
		return parts[0]
	}
	return g.node(want, "Concat", alongColumns, parts...)
}

// layer adds a layer behind h.
func (g *graph) layer(i int, l Layer, h string) string {
	in := []string{h, g.doubles(weightName(i), l.Weights, l.Out, l.In)}
	if l.Bias != nil {
		in = append(in, g.doubles(biasName(i), l.Bias, l.Out))
	}
	h = g.node(fmt.Sprintf("layer%d", i), "Gemm", transposed, in...)
	if l.Unit == models.Identity {
		return h
	}
	return g.node(fmt.Sprintf("layer%d.units", i), unitOperators[l.Unit], nil, h)
}

// predictions adds what a target makes of the outputs of the last layer. It returns the column of
// numbers.
func (g *graph) predictions(t features.Target, h string) string {
	one := func(name string, v float64) string { return g.doubles("target."+name, []float64{v}, 1) }
	prediction := g.freeName("prediction")
	switch t.Kind {
	case features.Class:
		all := g.freeName("probabilities")
		g.nodeOf(all, "Softmax", alongColumns, h)
		best := g.node("class", "ArgMax", slices.Concat(alongColumns, number("keepdims", 0)), all)
		g.nodeOf(prediction, "LabelEncoder", slices.Concat(manyNumbers.of("keys_int64s", ascending(len(t.Classes))),
			manyWords.of("values_strings", nil, t.Classes...)), best)
		g.outputs.bytes(12, value(prediction, onnxString, "N"))
		g.outputs.bytes(12, value(all, onnxDouble, "N", len(t.Classes)))
		return ""
	case features.Value:
		h = g.node("scaled", "Mul", nil, h, one("deviation", t.Deviation))
		h = g.node("shifted", "Add", nil, h, one("mean", t.Mean))
	case features.Counts, features.Survival:
		h = g.node("mean", "Exp", nil, h)
		if t.Most > 0 {
			h = g.node("bounded", "Min", nil, h, one("most", t.Most))
		}
	}
	g.nodeOf(prediction, "Squeeze", nil, h, g.wholes("columns", 1))
	g.outputs.bytes(12, value(prediction, onnxDouble, "N"))
	return h
}

// survival adds the probability of no event up to each time of the input at, NaN beyond the
// horizon, by a column of hazards: as [assess.Baseline.Survival].
func (g *graph) survival(b assess.Baseline, hazard string) {
	bins := len(b.Edges) - 1
	at := g.freeName("at")
	g.inputs.bytes(11, value(at, onnxDouble, "times", 1))
	var widths, rates []float64
	for k := range bins {
		widths = append(widths, b.Edges[k+1]-b.Edges[k])
		rates = append(rates, (b.Cumulative[k]-b.Cumulative[k+1])/widths[k])
	}
	row := func(name string, v []float64) string { return g.doubles(name, v, 1, bins) }
	one := func(name string, v float64) string { return g.doubles(name, []float64{v}, 1) }
	within := g.node("past", "Sub", nil, at, row("edges", b.Edges[:bins]))
	within = g.node("begun", "Max", nil, within, one("zero", 0))
	within = g.node("within", "Min", nil, within, row("widths", widths))
	h := g.node("log.survival", "Gemm", transposed, within, row("rates", rates))
	beyond := g.node("beyond", "Greater", nil, at, one("horizon", b.Horizon()))
	h = g.node("known", "Where", nil, beyond, one("unknown", math.NaN()), h)
	h = g.node("log.survivals", "Gemm", transposed, hazard, h)
	all := g.nodeOf(g.freeName("survival"), "Exp", nil, h)
	g.outputs.bytes(12, value(all, onnxDouble, "N", "times"))
}

// ascending returns 0, 1, ..., n−1.
func ascending(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}
