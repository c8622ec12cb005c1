package onnx_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsbo"
	"dsbo/internal/must"
	"dsbo/modelfile/onnx"
)

// small is a model of a number and a word: 2·number + 3 for "red", + 4 for other words.
func small() *onnx.Model {
	return &onnx.Model{
		Producer: "test", Version: "1", Doc: "a small model", Metadata: []onnx.Text{{Name: "a", Value: "b"}},
		Graph: onnx.Graph{
			Name:    "small",
			Inputs:  []onnx.Value{{Name: "size", Type: onnx.Float, Cols: 1}, {Name: "colour", Type: onnx.String, Cols: 1}},
			Outputs: []onnx.Value{{Name: "sum", Type: onnx.Double}},
			Constants: []onnx.Constant{
				{Name: "codes", Tensor: onnx.IntTensor([]int64{0, 1}, 2)},
				{Name: "weights", Tensor: onnx.DoubleTensor([]float64{2, 3, 4}, 1, 3)},
				{Name: "axis", Tensor: onnx.IntTensor([]int64{1}, 1)},
			},
			Nodes: []onnx.Node{
				{Op: "Cast", Inputs: []string{"size"}, Output: "wide", Attributes: []onnx.Attribute{onnx.Int("to", int64(onnx.Double))}},
				{Op: "LabelEncoder", Domain: onnx.ML, Inputs: []string{"colour"}, Output: "code", Attributes: []onnx.Attribute{
					onnx.Words("keys_strings", []string{"red"}), onnx.Ints("values_int64s", []int64{0}), onnx.Int("default_int64", 1)}},
				{Op: "Equal", Inputs: []string{"code", "codes"}, Output: "is"},
				{Op: "Cast", Inputs: []string{"is"}, Output: "hot", Attributes: []onnx.Attribute{onnx.Int("to", int64(onnx.Double))}},
				{Op: "Concat", Inputs: []string{"wide", "hot"}, Output: "features", Attributes: []onnx.Attribute{onnx.Int("axis", 1)}},
				{Op: "Gemm", Inputs: []string{"features", "weights"}, Output: "sums", Attributes: []onnx.Attribute{onnx.Int("transB", 1)}},
				{Op: "Squeeze", Inputs: []string{"sums", "axis"}, Output: "sum"},
			},
		},
	}
}

func Example() {
	m, err := onnx.Decode(small().Encode())
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := onnx.NewProgram(m.Graph)
	if err != nil {
		fmt.Println(err)
		return
	}
	size := onnx.Tensor{Type: onnx.Float, Shape: []int{2, 1}, Floats: []float32{10, 20}}
	colour := onnx.Tensor{Type: onnx.String, Shape: []int{2, 1}, Words: []string{"red", "blue"}}
	out, err := p.Run(&size, &colour)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(out[0].Doubles)
	// Output: [23 44]
}

func TestRoundTrip(t *testing.T) {
	if d := cmp.Diff(small(), must.Get(onnx.Decode(small().Encode()))); d != "" {
		t.Error(d)
	}
}

// TestOperators holds each operator against numbers by hand.
func TestOperators(t *testing.T) {
	nan := math.NaN()
	row := func(v ...float64) onnx.Tensor { return onnx.DoubleTensor(v, 1, len(v)) }
	column := func(v ...float64) onnx.Tensor { return onnx.DoubleTensor(v, len(v), 1) }
	axis := []onnx.Attribute{onnx.Int("axis", 1)}
	for _, c := range []struct {
		op         string
		attributes []onnx.Attribute
		in         []onnx.Tensor
		want       onnx.Tensor
	}{
		{"Add", nil, []onnx.Tensor{column(1, 2), row(10, 20)}, onnx.DoubleTensor([]float64{11, 21, 12, 22}, 2, 2)},
		{"Sub", nil, []onnx.Tensor{row(1, 2), onnx.DoubleTensor([]float64{10}, 1)}, row(-9, -8)},
		{"Mul", nil, []onnx.Tensor{row(3), row(4)}, row(12)},
		{"Div", nil, []onnx.Tensor{row(3), row(4)}, row(.75)},
		{"Tanh", nil, []onnx.Tensor{row(0, 1)}, row(0, math.Tanh(1))},
		{"Relu", nil, []onnx.Tensor{row(-1, 1)}, row(0, 1)},
		{"Exp", nil, []onnx.Tensor{row(0, 1)}, row(1, math.E)},
		{"Softmax", axis, []onnx.Tensor{row(1000, 1000)}, row(.5, .5)},
		{"ArgMax", []onnx.Attribute{onnx.Int("axis", 1), onnx.Int("keepdims", 0)}, []onnx.Tensor{row(1, 3, 3)}, onnx.IntTensor([]int64{1}, 1)},
		{"IsNaN", nil, []onnx.Tensor{row(nan, 1)}, onnx.Tensor{Type: onnx.Bool, Shape: []int{1, 2}, Bools: []bool{true, false}}},
		{"Where", nil, []onnx.Tensor{{Type: onnx.Bool, Shape: []int{1, 2}, Bools: []bool{true, false}}, row(0), row(5, 6)}, row(0, 6)},
		{"Gather", axis, []onnx.Tensor{row(5, 6, 7), onnx.IntTensor([]int64{2, 0}, 2)}, row(7, 5)},
		{"Concat", axis, []onnx.Tensor{row(5), row(6, 7)}, row(5, 6, 7)},
		{"Gemm", []onnx.Attribute{onnx.Int("transB", 1)}, []onnx.Tensor{row(5, 6), row(2, 3), onnx.DoubleTensor([]float64{1}, 1)}, row(29)},
	} {
		var g onnx.Graph
		n := onnx.Node{Op: c.op, Output: "out", Attributes: c.attributes}
		var in []*onnx.Tensor
		for i, tensor := range c.in {
			name := fmt.Sprint("in", i)
			g.Inputs, n.Inputs = append(g.Inputs, onnx.Value{Name: name, Type: tensor.Type}), append(n.Inputs, name)
			in = append(in, &tensor)
		}
		g.Nodes, g.Outputs = []onnx.Node{n}, []onnx.Value{{Name: "out"}}
		out := must.Get(must.Get(onnx.NewProgram(g)).Run(in...))
		if d := cmp.Diff(&c.want, out[0]); d != "" {
			t.Errorf("%s: %s", c.op, d)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		change func(g *onnx.Graph)
		says   string
	}{
		{func(g *onnx.Graph) { g.Nodes[0].Op = "Conv" }, `Conv "wide": there is no such operator`},
		{func(g *onnx.Graph) { g.Nodes[1].Domain = "" }, `LabelEncoder "code": there is no such operator`},
		{func(g *onnx.Graph) { g.Nodes[1].Attributes = g.Nodes[1].Attributes[1:] }, "as many words as numbers; it has 0 and 1"},
		{func(g *onnx.Graph) { g.Nodes[2].Inputs = nil }, "it must have 2 to 2 inputs; it has 0"},
		{func(g *onnx.Graph) { g.Nodes[2].Inputs[0] = "hot" }, `needs "hot", which nothing before it makes`},
		{func(g *onnx.Graph) { g.Nodes[4].Attributes[0].Ints[0] = 0 }, "its attributes must be"},
		{func(g *onnx.Graph) { g.Nodes[3].Output = "is" }, `must differ and not be empty; there is "is"`},
		{func(g *onnx.Graph) { g.Outputs[0].Name = "total" }, `nothing makes the output "total"`},
	} {
		m := small()
		c.change(&m.Graph)
		if _, err := onnx.NewProgram(m.Graph); !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("error %v, want %q", err, c.says)
		}
	}
	file := small().Encode()
	for _, c := range []struct {
		file []byte
		says string
	}{
		{nil, "must have one graph; it has 0"},
		{[]byte("name,size\n"), "not an ONNX file that can be read here"},
		{file[:len(file)-1], "not an ONNX file that can be read here"},
		{[]byte(strings.ReplaceAll(string(file), onnx.ML, "ai.onnx.mL")), "must be those of opset 17 and ai.onnx.ml 3; they are of 17 and 0"},
	} {
		if _, err := onnx.Decode(c.file); !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%.20q: error %v, want %q", c.file, err, c.says)
		}
	}
	p := must.Get(onnx.NewProgram(small().Graph))
	size := onnx.Tensor{Type: onnx.Float, Shape: []int{2, 1}, Floats: []float32{10, 20}}
	colour := onnx.Tensor{Type: onnx.String, Shape: []int{1, 1}, Words: []string{"red"}}
	for _, in := range [][]*onnx.Tensor{{&size}, {&size, &size}, {&size, &colour}, {{Type: onnx.Float, Shape: []int{9, 9}}, &colour}} {
		if _, err := p.Run(in...); !errors.Is(err, dsbo.ErrShape) {
			t.Errorf("inputs %v: error %v, want one of shape", in, err)
		}
	}
}

// FuzzDecode: what can be read is written and read again as the same model, and runs without a panic if it can run.
func FuzzDecode(f *testing.F) {
	f.Add(small().Encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := onnx.Decode(data)
		if err != nil {
			return
		}
		again, err := onnx.Decode(m.Encode())
		if err != nil || string(m.Encode()) != string(again.Encode()) {
			t.Errorf("the model changed as it was written and read again: %v", err)
		}
		p, err := onnx.NewProgram(m.Graph)
		if err != nil {
			return
		}
		var in []*onnx.Tensor
		for _, v := range m.Graph.Inputs {
			in = append(in, &onnx.Tensor{Type: v.Type, Shape: []int{2, 1}, Ints: make([]int64, 2), Bools: make([]bool, 2),
				Floats: make([]float32, 2), Words: make([]string, 2), Doubles: make([]float64, 2)})
		}
		_, _ = p.Run(in...)
	})
}
