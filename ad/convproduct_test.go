package ad

import (
	"math/rand/v2"
	"testing"

	"dsbo/internal/testkit"
)

// TestConvProducts: a network of two convolutions has no patches in memory, and its derivatives
// are those of the products with patches that are made: scaled by 2, of images scaled by a half.
func TestConvProducts(t *testing.T) {
	const rows = 7
	first := Window{H: 6, W: 7, C: 1, KH: 3, KW: 3, Stride: 1, PadW: 1}
	second := Window{H: first.OutH(), W: first.OutW(), C: 2, KH: 3, KW: 2, Stride: 2, PadH: 1}
	params := 2*first.taps() + 3*second.taps()
	r := rand.New(rand.NewPCG(21, 22))
	numbers := func(n int) []float64 { return normals(r, n) }
	table := testkit.Get(FloatTable(rows, first.pixels(), numbers(rows*first.pixels())))
	network := func(patches func(images *Node, w Window) *Node) *Derivs {
		d := testkit.Get(Differentiate(
			Loss{P: 1, Q: params, Rows: rows, Inputs: []Input{{Name: "X", Batch: true, Shape: []int{first.pixels()}}},
				Build: func(x, y *Node, in []*Node) *Node {
					f, g := Part(y, 0, 2, first.taps()), Part(y, 2*first.taps(), 3, second.taps())
					h := Tanh(MatMul(patches(in[0], first), f, false, true))
					out := MatMul(patches(Reshape(h, rows, second.pixels()), second), g, false, true)
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
