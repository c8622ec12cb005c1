package ad

import (
	"fmt"
	"testing"
)

// mapCases are the cases of maps of entries along an axis.
var mapCases = []opCase{
	{"Entries", func(k *kit) *Node { return k.cube().Entries(1, 2, 0, 2, 1).Node }},
	{"Slice back, and Flip", func(k *kit) *Node { return k.cube().Slice(1, 2, -1, -2).Flip(2).Node }},
	{"Roll the batch", func(k *kit) *Node { return TensorOf(Sin(k.rowsMat(2)), k.rows, 2).Roll(0, 1).Node }},
	{"Tile and Repeat", func(k *kit) *Node { return k.cube().Tile(1, 2).Repeat(2, 2).Node }},
	{"Pad with zeros", func(k *kit) *Node { return k.cube().Pad(1, -1, 2, Zeros).Node }},
	{"Pad with reflections", func(k *kit) *Node { return k.cube().Pad(1, 2, 1, Reflect).Node }},
	{"Pad with the last", func(k *kit) *Node { return k.cube().Pad(2, 2, 1, Replicate).Node }},
	{"Pad around", func(k *kit) *Node { return k.cube().Pad(1, 4, 2, Circular).Node }},
	{"PadWith", func(k *kit) *Node { return k.cube().PadWith(1, 1, 2, .5).Node }},
	{"Resize", func(k *kit) *Node { return k.cube().Resize(1, 5, Linear).Resize(2, 3, CubicAligned).Node }},
	{"Resize to fewer", func(k *kit) *Node { return k.cube().Resize(1, 2, NearestExact).Node }},
	{"MeanPool", func(k *kit) *Node { return k.cube().MeanPool(1, Pooling{Size: 2, Stride: 1, Pad: 1}).Node }},
	{"MaxPool along an axis", func(k *kit) *Node {
		return k.cube().MaxPool(1, Pooling{Size: 2, Stride: 2, Dilation: 2, Pad: 1, Ceil: true}).Node
	}},
	{"Unfold", func(k *kit) *Node { return k.cube().Unfold(1, Pooling{Size: 2, Stride: 1, Pad: 1}).Node }},
	{"MaxPool with strides and dilations", func(k *kit) *Node { return MaxPool(k.rowsMat(spread.Pixels()), spread) }},
	{"Broadcast of three axes", func(k *kit) *Node {
		a, b := TensorOf(k.rowsMat(3), k.rows, 1, 3), TensorOf(Reshape(k.vec(2), 2, 1), 2, 1)
		return Broadcast(func(in ...*Node) *Node { return Mul(in[0], Sin(in[1])) }, a, b).Node
	}},
	{"Transpose of six axes", func(k *kit) *Node {
		return TensorOf(k.rowsMat(32), k.rows, 2, 2, 2, 2, 2).Transpose(0, 5, 4, 3, 2, 1).Node
	}},
}

// TestMaps: values along an axis are PyTorch's.
func TestMaps(t *testing.T) {
	y := []float64{1, -2, 3, 0, 5}
	pad := func(by Padding) func(t Tensor) Tensor {
		return func(t Tensor) Tensor { return t.Pad(1, 2, 3, by) }
	}
	resize := func(n int, by Interpolation) func(t Tensor) Tensor {
		return func(t Tensor) Tensor { return t.Resize(1, n, by) }
	}
	mean := func(p Pooling) func(t Tensor) Tensor { return func(t Tensor) Tensor { return t.MeanPool(1, p) } }
	largest := func(p Pooling) func(t Tensor) Tensor { return func(t Tensor) Tensor { return t.MaxPool(1, p) } }
	for i, c := range []struct {
		f    func(t Tensor) Tensor
		want []float64
	}{
		{resize(7, Nearest), []float64{1, 1, -2, 3, 3, 0, 5}},
		{resize(7, NearestExact), []float64{1, -2, -2, 3, 0, 0, 5}},
		{resize(4, Linear), []float64{.625, -.125, 1.125, 4.375}},
		{resize(4, LinearAligned), []float64{1, -1. / 3, 1, 5}},
		{resize(3, Cubic), []float64{-2. / 9, 3, 88. / 27}},
		{resize(3, CubicAligned), []float64{1, 3, 5}},
		{resize(1, LinearAligned), []float64{1}},
		{func(t Tensor) Tensor { return t.ResizeBy(1, 1.5, Nearest) }, []float64{1, 1, -2, 3, 3, 0, 5}},
		{func(t Tensor) Tensor { return t.ResizeBy(1, 1.5, Linear) },
			[]float64{1, -.5, -7. / 6, 13. / 6, 1.5, 5. / 6, 25. / 6}},
		{mean(Pooling{Size: 2, Pad: 1, Ceil: true}), []float64{.5, .5, 2.5}},
		{mean(Pooling{Size: 2, Pad: 1, Ceil: true, Inside: true}), []float64{1, .5, 2.5}},
		{mean(Pooling{Windows: 3}), []float64{-.5, 1. / 3, 2.5}},
		{largest(Pooling{Size: 2, Stride: 2, Pad: 1, Dilation: 2, Ceil: true}), []float64{-2, 0, 0}},
		{largest(Pooling{Windows: 3}), []float64{1, 3, 5}},
		{pad(Zeros), []float64{0, 0, 1, -2, 3, 0, 5, 0, 0, 0}},
		{pad(Reflect), []float64{3, -2, 1, -2, 3, 0, 5, 0, 3, -2}},
		{pad(Replicate), []float64{1, 1, 1, -2, 3, 0, 5, 5, 5, 5}},
		{pad(Circular), []float64{0, 5, 1, -2, 3, 0, 5, 1, -2, 3}},
		{func(t Tensor) Tensor { return t.PadWith(1, 1, -1, 9) }, []float64{9, 1, -2, 3, 0}},
		{func(t Tensor) Tensor { return t.Slice(1, 0, 5, 2) }, []float64{1, 3, 5}},
		{func(t Tensor) Tensor { return t.Slice(1, 3, 0, -2) }, []float64{0, -2}},
		{func(t Tensor) Tensor { return t.Flip(1) }, []float64{5, 0, 3, -2, 1}},
		{func(t Tensor) Tensor { return t.Roll(1, 1) }, []float64{5, 1, -2, 3, 0}},
		{func(t Tensor) Tensor { return t.Roll(1, -7) }, []float64{3, 0, 5, 1, -2}},
		{func(t Tensor) Tensor { return t.Entries(1, 0, 1).Tile(1, 2) }, []float64{1, -2, 1, -2}},
		{func(t Tensor) Tensor { return t.Entries(1, 0, 1).Repeat(1, 2) }, []float64{1, 1, -2, -2}},
		{func(t Tensor) Tensor { return t.Unfold(1, Pooling{Size: 3, Stride: 2, Pad: 1}) },
			[]float64{0, 1, -2, -2, 3, 0, 0, 5, 0}},
	} {
		got := valueOf(t, y, func(y *Node) *Node { return Flatten(c.f(TensorOf(y, 1, 5)).Node) })
		within(t, fmt.Sprint("case ", i), got, c.want, 4e-15) // four products with weights, each rounded
		if len(got) != len(c.want) {
			t.Errorf("case %d: %d values, want %d", i, len(got), len(c.want))
		}
	}
}
