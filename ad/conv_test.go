package ad

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"dsbo/internal/testkit"
)

// windows are geometries with odd sizes: one pixel, one row, one column, padding, strides that
// leave pixels out.
var windows = []Window{
	{H: 1, W: 1, C: 1, KH: 1, KW: 1, Stride: 1},
	{H: 1, W: 7, C: 2, KH: 1, KW: 3, Stride: 2, PadW: 1},
	{H: 5, W: 1, C: 3, KH: 4, KW: 1, Stride: 3, PadH: 2},
	{H: 4, W: 6, C: 1, KH: 3, KW: 2, Stride: 1},
	{H: 6, W: 5, C: 2, KH: 3, KW: 3, Stride: 2, PadH: 1, PadW: 1},
	{H: 2, W: 2, C: 2, KH: 4, KW: 5, Stride: 1, PadH: 1, PadW: 4},
	{H: 6, W: 5, C: 2, KH: 2, KW: 3, Stride: 2, StrideW: 1, PadH: 1, PadW: 1, DilationH: 3, DilationW: 2},
}

// at returns the pixel's index in an image, −1 for padding, of row kh, column kw and channel c of
// the patch at (oh, ow).
func placeOf(w Window, oh, ow, kh, kw, c int) int {
	strideW, _, _ := w.Along()
	i, j := oh*w.Stride+kh*max(w.DilationH, 1)-w.PadH, ow*strideW+kw*max(w.DilationW, 1)-w.PadW
	if i < 0 || i >= w.H || j < 0 || j >= w.W {
		return -1
	}
	return (i*w.W+j)*w.C + c
}

// TestWindows: patches and pools of two images against the definition.
func TestWindows(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, w := range windows {
		images := make([]float64, 2*w.Pixels())
		for i := range images {
			images[i] = float64(r.IntN(7)) - 3
		}
		var patches, most, mean []float64
		for place := range 2 * w.OutH() * w.OutW() {
			m, oh, ow := place/w.OutW()/w.OutH(), place/w.OutW()%w.OutH(), place%w.OutW()
			tops, sums := slices.Repeat([]float64{math.Inf(-1)}, w.C), make([]float64, w.C)
			for tap := range w.KH * w.KW {
				for c := range w.C {
					p := placeOf(w, oh, ow, tap/w.KW, tap%w.KW, c)
					if p < 0 {
						patches = append(patches, 0)
						continue
					}
					v := images[m*w.Pixels()+p]
					patches, tops[c], sums[c] = append(patches, v), max(tops[c], v), sums[c]+v
				}
			}
			most = append(most, tops...)
			for _, s := range sums {
				mean = append(mean, s/float64(w.KH*w.KW))
			}
		}
		of := func(f func(a *Node, w Window) *Node) []float64 {
			return valueOf(t, images, func(y *Node) *Node { return f(Reshape(y, 2, w.Pixels()), w) })
		}
		sameValues(t, fmt.Sprintf("Im2col %+v", w), of(Im2col), patches)
		sameValues(t, fmt.Sprintf("MaxPool %+v", w), of(MaxPool), most)
		pixelwise := of(func(a *Node, w Window) *Node {
			zeros := NewConst(a, fmt.Sprintf("zeros of %+v", w), w.Pixels(), 1, make([]float64, w.Pixels()))
			return MaxPool(AddRow(a, Flatten(zeros)), w)
		})
		sameValues(t, fmt.Sprintf("MaxPool %+v of a sum with one number for each pixel", w), pixelwise, most)
		for i, v := range most {
			most[i] = max(v-2, 0)
		}
		sameValues(t, fmt.Sprintf("MaxPool %+v of rectified maps with biases", w), of(func(a *Node, w Window) *Node {
			bias := NewConst(a, fmt.Sprint("bias of ", w.C), w.C, 1, slices.Repeat([]float64{-2}, w.C))
			maps := AddRow(Reshape(a, 2*w.H*w.W, w.C), Flatten(bias))
			pooled := MaxPool(ReLU(Reshape(maps, 2, w.Pixels())), w)
			if ruleOf(pooled) != rule(fnReLU) || ruleOf(unreshaped(children(pooled)[0])) != rule(addRow) {
				t.Errorf("%+v: more than the pooled entries are shifted and rectified", w)
			}
			return pooled
		}), most)
		// Sums of small whole numbers are exact; the mean is a product with 1/(KH·KW), rounded, in
		// place of a quotient.
		within(t, "AvgPool", of(AvgPool), mean, 1e-15)
	}
}

// valueOf returns what f makes of y, row by row.
func valueOf(t *testing.T, y []float64, f func(y *Node) *Node) []float64 {
	t.Helper()
	p := testkit.Get(Compile(
		Func{P: 1, Q: len(y), Build: func(_, y *Node, _ []*Node) []*Node { return []*Node{f(y)} }}))
	v := make([]float64, p.size)
	testkit.OK(p.Eval(v, []float64{0}, y))
	return v
}

// TestConvProducts: a network of two convolutions has no patches in memory, and its derivatives
// are those of the products with patches that are made: scaled by 2, of images scaled by a half.
func TestConvProducts(t *testing.T) {
	const rows = 7
	first := Window{H: 6, W: 7, C: 1, KH: 3, KW: 3, Stride: 1, PadW: 1}
	second := Window{H: first.OutH(), W: first.OutW(), C: 2, KH: 3, KW: 2, Stride: 2, PadH: 1}
	params := 2*first.Taps() + 3*second.Taps()
	r := rand.New(rand.NewPCG(21, 22))
	numbers := func(n int) []float64 { return normals(r, n) }
	table := testkit.Get(FloatTable(rows, first.Pixels(), numbers(rows*first.Pixels())))
	network := func(patches func(images *Node, w Window) *Node) *Derivs {
		d := testkit.Get(Differentiate(
			Loss{P: 1, Q: params, Rows: rows, Inputs: []Input{{Name: "X", Batch: true, Shape: []int{first.Pixels()}}},
				Build: func(x, y *Node, in []*Node) *Node {
					f, g := Part(y, 0, 2, first.Taps()), Part(y, 2*first.Taps(), 3, second.Taps())
					h := Tanh(MatMul(patches(in[0], first), f, false, true))
					out := MatMul(patches(Reshape(h, rows, second.Pixels()), second), g, false, true)
					return Add(SumAll(Square(out)), SumAll(ScaleBy(SumAll(x), out)))
				}}))
		setTile(d.Program, 3)
		testkit.OK(d.Bind("X", table, nil))
		return d
	}
	fused := network(Im2col)
	made := network(func(images *Node, w Window) *Node { return Scale(2, Im2col(Scale(.5, images), w)) })
	x, y, v := numbers(1), numbers(params), numbers(params)
	got, want := evaluate(fused, x, y, v), evaluate(made, x, y, v)
	for i, name := range []string{"value", "∇_x", "∇_y", "JVP", "HVP"} {
		within(t, name, got[i], want[i], 1000*roundoff(false)) // sums of fewer terms in another order
	}
	for n := range fused.slots {
		if _, _, ok := patchesOf(n); ok {
			t.Errorf("the machine makes %v", n)
		}
	}
}

// TestRepeatedProducts: a sum that has a product again and again is computed in the time of its
// nodes.
func TestRepeatedProducts(t *testing.T) {
	const doublings = 50
	w := Window{H: 4, W: 4, C: 1, KH: 2, KW: 2, Stride: 1}
	rows, cols := w.OutH()*w.OutW(), w.KH*w.KW*w.C
	build := func(sum func(n *Node) *Node) float64 {
		d := testkit.Get(Differentiate(Loss{P: 1, Q: rows + cols, Build: func(x, y *Node, _ []*Node) *Node {
			products := MatMul(Part(y, 0, rows, 1), Part(y, rows, 1, cols), false, false)
			return Add(SumAll(Square(Col2im(sum(products), w))), SumAll(x))
		}}))
		y := make([]float64, rows+cols)
		for i := range y {
			y[i] = float64(i%5) - 1.5
		}
		return testkit.Get(d.Value([]float64{0}, y))
	}
	got := build(func(n *Node) *Node {
		for range doublings {
			n = Add(n, n)
		}
		return n
	})
	want := build(func(n *Node) *Node { return Scale(1<<doublings, n) })
	if got != want || want == 0 { // powers of two are exact
		t.Errorf("the value is %g, want %g", got, want)
	}
}
