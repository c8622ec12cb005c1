package ad

import (
	"testing"

	"dsbo/internal/testkit"
)

// TestValueGrad: a loss without x, at several numbers of rows and in both types, has the value and
// the gradient in one call that it has in two.
func TestValueGrad(t *testing.T) {
	for _, single := range []bool{false, true} {
		s := NewSizes(Loss{Q: 3, Inputs: []Input{{Name: "X", Shape: []int{3}, Batch: true}}, Float32: single,
			Build: func(x, y *Node, in []*Node) *Node {
				if x != nil {
					t.Error("x must be nil where P is 0")
				}
				return Mean(Square(MatVec(in[0], y, false)))
			}})
		table := testkit.Get(FloatTable(3, 3, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9}))
		for _, rows := range [][]int{{0, 1}, {2}, {0, 1}} {
			d := testkit.Get(s.Derivs(len(rows)))
			testkit.OK(d.Bind("X", table, rows))
			y := []float64{1, -2, .5}
			dy, want := make([]float64, 3), make([]float64, 3)
			value := testkit.Get(d.ValueGrad(nil, dy, nil, y))
			testkit.OK(d.Grad(nil, want, nil, y))
			if v := testkit.Get(d.Value(nil, y)); v != value || [3]float64(dy) != [3]float64(want) {
				t.Errorf("rows %v: value %g and gradient %v, alone %g and %v", rows, value, dy, v, want)
			}
			narrow := d.Float32()
			y32, dy32, out := []float32{1, -2, .5}, make([]float32, 3), make([]float32, 1)
			v32 := testkit.Get(narrow.ValueGrad(nil, dy32, nil, y32))
			testkit.OK(d.Eval32(out, nil, y32))
			if v32 != float32(value) || out[0] != v32 || dy32[1] != float32(dy[1]) {
				t.Errorf("rows %v: by float32 %g, %g and %v; want %g and %v", rows, v32, out[0], dy32, value, dy)
			}
			if n := testing.AllocsPerRun(5, func() { testkit.Get(narrow.ValueGrad(nil, dy32, nil, y32)) }); n != 0 {
				t.Errorf("%g allocations", n)
			}
		}
	}
}
