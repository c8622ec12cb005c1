package ad

import (
	"math"
	"testing"

	"dsbo"
)

// cube is a tensor of three axes, the first of which are rows.
func (k *kit) cube() Tensor { return TensorOf(k.rowsMat(6), k.rows, 3, 2) }

// axesCases are the cases of functions along axes, and of functions made of others.
var axesCases = []opCase{
	{"Mean over axes", func(k *kit) *Node { return k.cube().Mean(2, 0).Node }},
	{"Max along an axis", func(k *kit) *Node { return k.cube().Max(1).Node }},
	{"Min over axes", func(k *kit) *Node { return k.cube().Min(1, 2).Node }},
	{"LogSumExp along an axis", func(k *kit) *Node { return k.cube().LogSumExp(1).Node }},
	{"Norm over the batch", func(k *kit) *Node { return k.cube().Norm(0).Node }},
	{"Prod along an axis", func(k *kit) *Node { return k.cube().Prod(1).Node }},
	{"Softmax along an axis", func(k *kit) *Node { return k.cube().Softmax(1).Node }},
	{"Softmax over the batch", func(k *kit) *Node { return k.cube().Softmax(0).Node }},
	{"SortRows along an axis", func(k *kit) *Node { return k.cube().Along(SortRows, 1).Node }},
	{"Accumulated products", func(k *kit) *Node { return k.cube().Accumulated(Mul, 1).Node }},
	{"Accumulated maxima", func(k *kit) *Node { return TensorOf(k.rowsMat(5), k.rows, 5).Accumulated(Max, 1).Node }},
	{"Accumulated LogAddExp", func(k *kit) *Node { return k.cube().Accumulated(LogAddExp, 1).Node }},
	{"Tan", func(k *kit) *Node { return Tan(Scale(.3, k.rowsMat(2))) }},
	{"Sinh and Cosh", func(k *kit) *Node { a := k.rowsMat(2); return Add(Sinh(a), Square(Cosh(a))) }},
	{"Atanh", func(k *kit) *Node { return Atanh(Scale(.5, Sin(k.rowsMat(2)))) }},
	{"Asin and Acos", func(k *kit) *Node {
		a := Scale(.5, Sin(k.rowsMat(2)))
		return Add(Asin(a), Square(Acos(a)))
	}},
	{"Mod", func(k *kit) *Node { return Mod(Scale(5, k.rowsMat(2)), Offset(2, Scale(.1, Sin(k.rowsMat(2))))) }},
}

// TestAxesValues: values of functions along axes and of the new elementwise ones, by hand and by
// PyTorch; derivatives of products at zeros.
func TestAxesValues(t *testing.T) {
	cube := func(f func(t Tensor) Tensor) func(y *Node) *Node {
		return func(y *Node) *Node { return Flatten(f(TensorOf(y, 2, 3, 2)).Node) }
	}
	y := []float64{1, -2, 3, 0, 5, 4, -1, 2, 2, 7, .5, -3}
	for _, c := range []struct {
		name string
		f    func(y *Node) *Node
		y    []float64
		want []float64
	}{
		{"Max", cube(func(t Tensor) Tensor { return t.Max(1) }), y, []float64{5, 4, 2, 7}},
		{"Min", cube(func(t Tensor) Tensor { return t.Min(0, 2) }), y, []float64{-2, 0, -3}},
		{"Mean", cube(func(t Tensor) Tensor { return t.Mean(1) }), y, []float64{3, 2. / 3, .5, 2}},
		{"Prod", cube(func(t Tensor) Tensor { return t.Prod(1) }), y, []float64{15, 0, -1, -42}},
		{"Norm", cube(func(t Tensor) Tensor { return t.Norm(1, 2) }), y, []float64{math.Sqrt(55), math.Sqrt(67.25)}},
		{"products", cube(func(t Tensor) Tensor { return t.Accumulated(Mul, 1) }), y,
			[]float64{1, -2, 3, 0, 15, 0, -1, 2, -2, 14, -1, -42}},
		{"maxima", cube(func(t Tensor) Tensor { return t.Accumulated(Max, 1) }), y,
			[]float64{1, -2, 3, 0, 5, 4, -1, 2, 2, 7, 2, 7}},
		{"LogAddExp", func(y *Node) *Node { return LogAddExp(y, Uniform(1000, y)) },
			[]float64{1000, -1000, math.Inf(-1)}, []float64{1000 + math.Ln2, 1000, 1000}},
		{"Asin", Asin, []float64{-1, 0, .5, 1, 2}, []float64{-math.Pi / 2, 0, math.Pi / 6, math.Pi / 2, math.NaN()}},
		{"Acos", Acos, []float64{-1, 0, .5, 1}, []float64{math.Pi, math.Pi / 2, math.Pi / 3, 0}},
		{"Sinh", Sinh, []float64{1e-9, 2, -3}, []float64{1e-9, 3.626860407847019, -10.017874927409903}},
		{"Cosh", Cosh, []float64{0, 2}, []float64{1, 3.7621956910836314}},
		{"Atanh", Atanh, []float64{1e-9, -.5}, []float64{1e-9, -.5493061443340549}},
		{"Tan", Tan, []float64{1}, []float64{1.5574077246549023}},
		{"Floor", Floor, []float64{-1.5, 2, 2.7}, []float64{-2, 2, 2}},
		{"Mod", func(y *Node) *Node { return Mod(y, Uniform(3, y)) }, []float64{-7, 7, 3}, []float64{2, 1, 0}},
	} {
		for i, got := range valueOf(t, c.y, c.f) {
			if want := c.want[i]; !(math.Abs(got-want) <= 1e-15*math.Abs(want) || got != got && want != want) {
				t.Errorf("%s: entry %d is %v; it must be %v", c.name, i, got, want)
			}
		}
	}
	product := func(y *Node) *Node { return RowProd(Reshape(y, 1, 3)) }
	if got := slopesAt(t, []float64{0, 2, 0}, product); got != [4]float64{0, 0, 4, 6} {
		t.Errorf("derivatives of a product with zeros are %v; they must be 0, 0, 2·2 and 3!", got)
	}
	for want, f := range map[string]func(t Tensor) Tensor{
		"Along: the axis must be one of shape [2 3 2]; it is 3": func(t Tensor) Tensor { return t.Softmax(3) },
		"Reduced: there must be axes of shape [2 3 2]":          func(t Tensor) Tensor { return t.Max(1, 1) },
	} {
		_, err := Differentiate(Loss{Q: 12, Build: func(_, y *Node, _ []*Node) *Node { return SumAll(cube(f)(y)) }})
		wantError(t, err, dsbo.ErrShape, want)
	}
}
