package ad

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"dsbo/ad/internal/engine"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
)

// TestValues: values of ops against numbers worked out by hand, at ties and kinks too.
func TestValues(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		name string
		f    func(y *Node) *Node
		y    []float64
		want []float64
	}{
		{"Abs", Abs, []float64{-2, 0, math.Copysign(0, -1), 3, -inf}, []float64{2, 0, 0, 3, inf}},
		{"Sign", Sign, []float64{-2, 0, math.Copysign(0, -1), 3, nan}, []float64{-1, 0, 0, 1, 0}},
		{"Clip", func(y *Node) *Node { return Clip(y, -1, 2) }, []float64{-5, -1, 0, 2, 3, inf},
			[]float64{-1, -1, 0, 2, 2, 2}},
		{"Max", func(y *Node) *Node { return Max(Rows(y, 0, 2), Rows(y, 2, 2)) }, []float64{1, 5, 3, -inf},
			[]float64{3, 5}},
		{"Min", func(y *Node) *Node { return Min(Rows(y, 0, 2), Rows(y, 2, 2)) }, []float64{1, 5, 3, -inf},
			[]float64{1, -inf}},
		{"Max with a constant", func(y *Node) *Node { return Max(y, Uniform(2, y)) }, []float64{1, 3}, []float64{2, 3}},
		{"Min with a constant", func(y *Node) *Node { return Min(y, Uniform(2, y)) }, []float64{1, 3}, []float64{1, 2}},
		{"RowMax", func(y *Node) *Node { return RowMax(Reshape(y, 2, 3)) }, []float64{1, -inf, 2, -3, -1, -2},
			[]float64{2, -1}},
		{"RowMax of NaN", func(y *Node) *Node { return RowMax(Reshape(y, 1, 3)) }, []float64{1, nan, 2},
			[]float64{nan}},
		{"RowMin", func(y *Node) *Node { return RowMin(Reshape(y, 2, 3)) }, []float64{1, inf, 2, -3, -1, -2},
			[]float64{1, -3}},
		{"RowHit", func(y *Node) *Node { return RowHit(Reshape(Rows(y, 0, 6), 3, 2), Reshape(Rows(y, 6, 6), 3, 2)) },
			[]float64{1, 2, 2, 1, 3, 3, 0, 1, 0, 1, 1, 0}, []float64{1, 0, 1}},
		{"Erf", Erf, []float64{0, inf, -inf, .5}, []float64{0, 1, -1, math.Erf(.5)}},
		{"Pow", func(y *Node) *Node { return Pow(y, 3) }, []float64{-2, 0, 1.5}, []float64{-8, 0, 3.375}},
		{"Pow, negative", func(y *Node) *Node { return Pow(y, -2) }, []float64{-2, 0, .5}, []float64{.25, inf, 4}},
		{"Pow, a half", func(y *Node) *Node { return Pow(y, 2.5) }, []float64{4, 0, -1}, []float64{32, 0, nan}},
		{"Pow, a fraction", func(y *Node) *Node { return Pow(y, .25) }, []float64{16, 0, -1}, []float64{2, 0, nan}},
		{"Rsqrt", Rsqrt, []float64{4, .25, 0}, []float64{.5, 2, inf}},
		{"Cols", func(y *Node) *Node { return Cols(Reshape(y, 2, 3), 1, 2) }, []float64{1, 2, 3, 4, 5, 6},
			[]float64{2, 3, 5, 6}},
		{"Rows", func(y *Node) *Node { return Rows(Reshape(y, 3, 2), 1, 2) }, []float64{1, 2, 3, 4, 5, 6},
			[]float64{3, 4, 5, 6}},
		{"Item", func(y *Node) *Node { return Item(Reshape(y, 2, 3), 1, 0) },
			[]float64{1, 2, 3, 4, 5, 6}, []float64{4}},
		{"Transpose", func(y *Node) *Node { return Transpose(Reshape(y, 2, 3)) }, []float64{1, 2, 3, 4, 5, 6},
			[]float64{1, 4, 2, 5, 3, 6}},
		{"ConcatCols", func(y *Node) *Node { return ConcatCols(Reshape(Rows(y, 0, 4), 2, 2), Rows(y, 4, 2)) },
			[]float64{1, 2, 3, 4, 5, 6}, []float64{1, 2, 5, 3, 4, 6}},
		{"ConcatRows", func(y *Node) *Node {
			return ConcatRows(Reshape(Rows(y, 2, 4), 2, 2), Reshape(Rows(y, 0, 2), 1, 2))
		},
			[]float64{1, 2, 3, 4, 5, 6}, []float64{3, 4, 5, 6, 1, 2}},
		{"BatchMatMul", func(y *Node) *Node { return BatchMatMul(Reshape(y, 4, 1), Reshape(y, 2, 2), 2, false, false) },
			[]float64{1, 2, 3, 4}, []float64{1, 2, 2, 4, 9, 12, 12, 16}},
	} {
		t.Run(c.name, func(t *testing.T) {
			alike := func(a, b float64) bool { return a == b || a != a && b != b }
			if got := valueOf(t, c.y, c.f); !slices.EqualFunc(got, c.want, alike) {
				t.Errorf("value %v, want %v", got, c.want)
			}
		})
	}
}

// TestSubgradients: what is taken as the derivative at a kink.
func TestSubgradients(t *testing.T) {
	for _, c := range []struct {
		name string
		f    func(y *Node) *Node
		y    []float64
		want []float64 // the derivative of the sum of f
	}{
		{"ReLU", ReLU, []float64{-1, 0, 1}, []float64{0, 0, 1}},
		{"Abs", Abs, []float64{-1, 0, 1}, []float64{-1, 0, 1}},
		{"Sign", Sign, []float64{-1, 0, 1}, []float64{0, 0, 0}},
		{"Clip", func(y *Node) *Node { return Clip(y, 0, 1) }, []float64{-1, 0, .5, 1, 2}, []float64{0, 0, 1, 0, 0}},
		{"Max: the second has it", func(y *Node) *Node { return Max(Rows(y, 0, 2), Rows(y, 2, 2)) },
			[]float64{1, 5, 1, 2}, []float64{0, 1, 1, 0}},
		{"Min: the second has it", func(y *Node) *Node { return Min(Rows(y, 0, 2), Rows(y, 2, 2)) },
			[]float64{1, 5, 1, 2}, []float64{0, 0, 1, 1}},
		{"Max with a constant", func(y *Node) *Node { return Max(y, Uniform(0, y)) }, []float64{-1, 0, 1},
			[]float64{0, 0, 1}},
		{"RowMax: the first has it", func(y *Node) *Node { return RowMax(Reshape(y, 1, 3)) }, []float64{1, 2, 2},
			[]float64{0, 1, 0}},
		{"RowMin: the first has it", func(y *Node) *Node { return RowMin(Reshape(y, 1, 3)) }, []float64{2, 1, 1},
			[]float64{0, 1, 0}},
		{"MaxPool: the first has it", func(y *Node) *Node {
			return MaxPool(Reshape(y, 1, 4), Window{H: 2, W: 2, C: 1, KH: 2, KW: 2, Stride: 1})
		}, []float64{1, 2, 2, 2}, []float64{0, 1, 0, 0}},
		{"Pow", func(y *Node) *Node { return Pow(y, 3) }, []float64{-1, 0, 2}, []float64{3, 0, 12}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := testkit.Get(Differentiate(
				Loss{P: 1, Q: len(c.y), Build: func(_, y *Node, _ []*Node) *Node { return SumAll(c.f(y)) }}))
			got := make([]float64, len(c.y))
			testkit.OK(d.Grad(nil, got, []float64{0}, c.y))
			if !slices.Equal(got, c.want) {
				t.Errorf("derivative %v, want %v", got, c.want)
			}
		})
	}
}

// TestAffineBits: an affine function has the bits of a product and a sum, rounded each, at any
// length, in place too.
func TestAffineBits(t *testing.T) {
	affineBits[float32](t)
	affineBits[float64](t)
}

func affineBits[T Float](t *testing.T) {
	f := affine{-0.3, 0.7}
	for _, n := range []int{0, 1, 255, 256, 257, 600} {
		v, want := make([]T, n), make([]float64, n)
		for i := range v {
			v[i] = T(math.Sin(float64(i)) * math.Pow(10, float64(i%60-30)))
			if special := []T{0, T(math.Copysign(0, -1)), T(math.Inf(1)), T(math.Inf(-1))}; i < len(special) {
				v[i] = special[i]
			}
			want[i] = float64(T(T(f.a)*v[i]) + T(f.b))
		}
		other := make([]T, n)
		for _, dst := range [][]T{other, v} { // in place last
			m := mat[T]{R: n, C: 1}
			c := call[T]{Dst: m, In: []mat[T]{m}, First: true, Block: new([engine.CallBlock]T)}
			c.Dst.V, c.In[0].V = dst, v
			affineKernel(f, &c)
			got := make([]float64, n)
			linalg.Convert(got, dst)
			sameBits(t, fmt.Sprintf("%T, %d entries", T(0), n), got, want)
		}
	}
}
