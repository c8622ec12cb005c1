package modelfile

import (
	"fmt"
	"math"

	"dsbo/internal/wording"
	"dsbo/models"
	"dsbo/tables"
	"dsbo/tables/features"
	"dsbo/tables/survival"
)

// recipeText is the name of the recipe among a graph's texts.
const recipeText = "recipe"

// graph returns the model as ONNX, with the text of its recipe.
func (m *Model) graph(recipe string) *onnxModel {
	d := &drawing{onnxGraph: onnxGraph{Name: "model of " + m.recipe.Target.Name}, taken: map[string]bool{}}
	for _, in := range m.recipe.Used() {
		d.taken[in.Name] = true // before any name of the graph's own
	}
	h := d.features(m.recipe)
	for i, l := range m.Layers {
		h = d.layer(i, l, h)
	}
	hazard := d.predictions(m.recipe.Target, h)
	if b := m.Baseline; b != nil && b.Horizon() > 0 {
		d.survival(*b, hazard)
	}
	return &onnxModel{
		Producer: "dsbo", Version: wording.Build().Name(),
		Doc:      "Written by dsbo tune: raw values of a table to predictions.",
		Metadata: []onnxText{{Name: recipeText, Value: recipe}}, Graph: d.onnxGraph,
	}
}

// A drawing is a graph that grows.
type drawing struct {
	onnxGraph
	taken map[string]bool // names of tensors
}

// freeName returns a free freeName that begins with what is wanted.
func (d *drawing) freeName(want string) string {
	for d.taken[want] {
		want += "_"
	}
	d.taken[want] = true
	return want
}

// input adds an input with one column, by the name of the table's.
func (d *drawing) input(in features.Input) string {
	kind := onnxFloat
	switch {
	case in.Kind == tables.Word:
		kind = onnxString
	case in.IsWide():
		kind = onnxDouble
	}
	d.Inputs = append(d.Inputs, onnxValue{Name: in.Name, Type: kind, Cols: 1})
	return in.Name
}

// doubles adds a constant of float64 and returns its name.
func (d *drawing) doubles(want string, v []float64, shape ...int) string {
	d.Constants = append(d.Constants, onnxConstant{Name: d.freeName(want), Shape: shape, Doubles: v})
	return d.Constants[len(d.Constants)-1].Name
}

// wholes adds a constant, a vector of whole numbers, and returns its name.
func (d *drawing) wholes(want string, v []int64) string {
	d.Constants = append(d.Constants, onnxConstant{Name: d.freeName(want), Shape: []int{len(v)}, Ints: v})
	return d.Constants[len(d.Constants)-1].Name
}

// node adds a node and returns the name of its output.
func (d *drawing) node(want, op string, inputs []string, attributes ...onnxAttribute) string {
	n := onnxNode{Op: op, Inputs: inputs, Output: d.freeName(want), Attributes: attributes}
	if op == "LabelEncoder" {
		n.Domain = onnxML
	}
	d.Nodes = append(d.Nodes, n)
	return n.Output
}

// double adds a node that makes float64 of others.
func (d *drawing) double(want, from string) string {
	return d.node(want, "Cast", []string{from}, onnxInt("to", int64(onnxDouble)))
}

// sideBySide adds a node that sets matrices side by side, if there are several.
func (d *drawing) sideBySide(want string, parts []string) string {
	if len(parts) == 1 {
		return parts[0]
	}
	return d.node(want, "Concat", parts, onnxInt("axis", 1))
}

// layer adds a layer behind h.
func (d *drawing) layer(i int, l Layer, h string) string {
	in := []string{h, d.doubles(weightName(i), l.Weights, l.Out, l.In)}
	if l.Bias != nil {
		in = append(in, d.doubles(biasName(i), l.Bias, l.Out))
	}
	h = d.node(fmt.Sprintf("layer%d", i), "Gemm", in, onnxInt("transB", 1))
	if l.Unit == models.Identity {
		return h
	}
	return d.node(fmt.Sprintf("layer%d.units", i), unitOperators[l.Unit], []string{h})
}

// predictions adds what a target makes of the outputs of the last layer. It returns the column of
// numbers.
func (d *drawing) predictions(t features.Target, h string) string {
	prediction := onnxValue{Name: d.freeName("prediction"), Type: onnxDouble}
	switch t.Kind {
	case features.Class:
		prediction.Type = onnxString
		all := onnxValue{Name: d.freeName("probabilities"), Type: onnxDouble, Cols: len(t.Classes)}
		d.last(all, "Softmax", []string{h}, onnxInt("axis", 1))
		best := d.node("class", "ArgMax", []string{all.Name}, onnxInt("axis", 1), onnxInt("keepdims", 0))
		d.last(prediction, "LabelEncoder", []string{best}, onnxInts("keys_int64s", ascending(len(t.Classes))),
			onnxWords("values_strings", t.Classes))
		d.Outputs = []onnxValue{prediction, all}
		return ""
	case features.Value:
		h = d.node("scaled", "Mul", []string{h, d.doubles("target.deviation", []float64{t.Deviation}, 1)})
		h = d.node("shifted", "Add", []string{h, d.doubles("target.mean", []float64{t.Mean}, 1)})
	case features.Counts, features.Survival:
		h = d.node("mean", "Exp", []string{h})
		if t.Most > 0 {
			h = d.node("bounded", "Min", []string{h, d.doubles("target.most", []float64{t.Most}, 1)})
		}
	}
	d.last(prediction, "Squeeze", []string{h, d.wholes("columns", []int64{1})})
	d.Outputs = []onnxValue{prediction}
	return h
}

// survival adds the probability of no event up to each time of the input at, NaN beyond the
// horizon, by a column of hazards: as [survival.Baseline.Survival].
func (d *drawing) survival(b survival.Baseline, hazard string) {
	bins := len(b.Edges) - 1
	at := d.freeName("at")
	d.Inputs = append(d.Inputs, onnxValue{Name: at, Type: onnxDouble, Rows: "times", Cols: 1})
	var widths, rates []float64
	for k := range bins {
		widths = append(widths, b.Edges[k+1]-b.Edges[k])
		rates = append(rates, (b.Cumulative[k]-b.Cumulative[k+1])/widths[k])
	}
	within := d.node("past", "Sub", []string{at, d.doubles("edges", b.Edges[:bins], 1, bins)})
	within = d.node("begun", "Max", []string{within, d.doubles("zero", []float64{0}, 1)})
	within = d.node("within", "Min", []string{within, d.doubles("widths", widths, 1, bins)})
	h := d.node("log.survival", "Gemm", []string{within, d.doubles("rates", rates, 1, bins)}, onnxInt("transB", 1))
	beyond := d.node("beyond", "Greater", []string{at, d.doubles("horizon", []float64{b.Horizon()}, 1)})
	h = d.node("known", "Where", []string{beyond, d.doubles("unknown", []float64{math.NaN()}, 1), h})
	h = d.node("log.survivals", "Gemm", []string{hazard, h}, onnxInt("transB", 1))
	all := onnxValue{Name: d.freeName("survival"), Type: onnxDouble, Columns: "times"}
	d.last(all, "Exp", []string{h})
	d.Outputs = append(d.Outputs, all)
}

// last adds a node whose output is one of the graph's, whose name is taken already.
func (d *drawing) last(v onnxValue, op string, inputs []string, attributes ...onnxAttribute) {
	d.node(v.Name, op, inputs, attributes...)
	d.Nodes[len(d.Nodes)-1].Output = v.Name
}

// ascending returns 0, 1, ..., n−1.
func ascending(n int) []int64 {
	list := make([]int64, n)
	for i := range list {
		list[i] = int64(i)
	}
	return list
}
