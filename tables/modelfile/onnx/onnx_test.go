package onnx_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsbo"
	"dsbo/internal/testkit"
	"dsbo/tables/modelfile/onnx"
)

// small is a model of a number: 2·number + 3.
func small() *onnx.Model {
	return &onnx.Model{
		Producer: "test", Version: "1", Doc: "a small model", Metadata: []onnx.Text{{Name: "a", Value: "b"}},
		Graph: onnx.Graph{
			Name:    "small",
			Inputs:  []onnx.Value{{Name: "size", Type: onnx.Float, Cols: 1}},
			Outputs: []onnx.Value{{Name: "sum", Type: onnx.Double}},
			Constants: []onnx.Constant{
				{Name: "weights", Shape: []int{1, 1}, Doubles: []float64{2}},
				{Name: "bias", Shape: []int{1}, Doubles: []float64{3}},
				{Name: "axis", Shape: []int{1}, Ints: []int64{1}},
			},
			Nodes: []onnx.Node{
				{Op: "Cast", Inputs: []string{"size"}, Output: "wide", Attributes: []onnx.Attribute{onnx.Int("to", int64(onnx.Double))}},
				{Op: "Gemm", Inputs: []string{"wide", "weights", "bias"}, Output: "sums", Attributes: []onnx.Attribute{onnx.Int("transB", 1)}},
				{Op: "Squeeze", Inputs: []string{"sums", "axis"}, Output: "sum"},
			},
		},
	}
}

func Example() {
	m, err := onnx.Read(small().Encode())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Text("a"), m.Graph.Nodes[1].Op, m.Graph.Constants[0].Doubles)
	// Output: b Gemm [2]
}

// TestRead: what is read of a file is what was written.
func TestRead(t *testing.T) {
	want, got := small(), testkit.Get(onnx.Read(small().Encode()))
	want.Graph.Name, want.Graph.Inputs, want.Graph.Outputs = "", nil, nil
	for i := range want.Graph.Nodes {
		want.Graph.Nodes[i].Output, want.Graph.Nodes[i].Attributes = "", nil
	}
	for i := range want.Graph.Constants {
		want.Graph.Constants[i].Shape = nil
	}
	want.Graph.Constants, got.Graph.Constants = want.Graph.Constants[:2], got.Graph.Constants[:2]
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestReadRefuses(t *testing.T) {
	file := small().Encode()
	for _, text := range []string{"name,size\n", string(file[:len(file)-1])} {
		if _, err := onnx.Read([]byte(text)); !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), "not an ONNX file that can be read here") {
			t.Errorf("%.20q: error %v", text, err)
		}
	}
}

// FuzzRead: whatever is read is read without a panic.
func FuzzRead(f *testing.F) {
	f.Add(small().Encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		if m, err := onnx.Read(data); (m == nil) != (err != nil) {
			t.Errorf("%v, %v", m, err)
		}
	})
}
