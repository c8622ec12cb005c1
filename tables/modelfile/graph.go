package modelfile

import (
	"fmt"

	"dsbo/internal/wording"
	"dsbo/models"
	"dsbo/tables"
	"dsbo/tables/features"
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
	d.predictions(m.recipe.Target, h)
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

// predictions adds what a target makes of the outputs of the last layer.
func (d *drawing) predictions(t features.Target, h string) {
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
		return
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
