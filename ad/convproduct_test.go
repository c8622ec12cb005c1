package ad

import (
	"math/rand/v2"
	"testing"

	"dsbo/internal/must"
)

// TestConvProducts: a network of two convolutions has no patches in memory, and its derivatives are those of the products with
// patches that are made: scaled by 2, of images scaled by a half.
func TestConvProducts(t *testing.T) {
	const rows = 7
	first := Window{H: 6, W: 7, C: 1, KH: 3, KW: 3, Stride: 1, PadW: 1}
	second := Window{H: first.OutH(), W: first.OutW(), C: 2, KH: 3, KW: 2, Stride: 2, PadH: 1}
	params := 2*first.taps() + 3*second.taps()
	r := rand.New(rand.NewPCG(21, 22))
	numbers := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = r.NormFloat64()
		}
		return x
	}
	table := must.Get(FloatTable(rows, first.pixels(), numbers(rows*first.pixels())))
	network := func(patches func(images *Node, w Window) *Node) *Derivs {
		d := must.Get(Differentiate(Loss{P: 1, Q: params, Rows: rows, Inputs: []Input{{Name: "X", Batch: true, Shape: []int{first.pixels()}}},
			Build: func(x, y *Node, in []*Node) *Node {
				f, g := Part(y, 0, 2, first.taps()), Part(y, 2*first.taps(), 3, second.taps())
				h := Tanh(MatMul(patches(in[0], first), f, false, true))
				out := MatMul(patches(Reshape(h, rows, second.pixels()), second), g, false, true)
				return Add(SumAll(Square(out)), SumAll(ScaleBy(SumAll(x), out)))
			}}))
		setTile(d.Program, 3)
		must.OK(d.Bind("X", table, nil))
		return d
	}
	fused := network(Im2col)
	made := network(func(images *Node, w Window) *Node { return Scale(2, Im2col(Scale(.5, images), w)) })
	x, y, v := numbers(1), numbers(params), numbers(params)
	got, want := evaluate(fused, x, y, v), evaluate(made, x, y, v)
	for i, name := range []string{"value", "∇_x", "∇_y", "JVP", "HVP"} {
		within(t, name, got[i], want[i], 1000*roundoff(false)) // sums of fewer terms in another order
	}
	for n := range fused.m.(*machine[float64]).template.byNode {
		if _, _, ok := patchesOf(n); ok {
			t.Errorf("the machine makes %v", n)
		}
	}
}
