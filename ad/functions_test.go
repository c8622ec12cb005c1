package ad

import (
	"fmt"
	"testing"

	"dsbo/internal/testkit"
)

// TestFunctions: Jacobians, Hessians and their products as nodes, of functions whose derivatives
// are known.
func TestFunctions(t *testing.T) {
	p := testkit.Get(Compile(Func{P: 2, Q: 3, Build: func(x, y *Node, _ []*Node) []*Node {
		// y0·y1, y1·y2, y2·x0 and x1
		values := ConcatRows(Mul(y, ConcatRows(PartVec(y, 1, 2), PartVec(x, 0, 1))), PartVec(x, 1, 1))
		v, w := Detached(Add(y, Uniform(1, y))), Uniform(2, values)
		by := testkit.Get(VJP(values, w, y, x))
		return []*Node{values, testkit.Get(Jacobian(values, y)), testkit.Get(JVP(values, y, v)), by[0], by[1],
			testkit.Get(Hessian(Dot(values, values), x)), testkit.Get(JVP(x, y, y)), testkit.Get(Hessian(SumAll(x), y)),
			testkit.Get(JVP(Mul(y, y), y, y))} // v is a constant: 2y∘y
	}}))
	got := make([]float64, p.size)
	testkit.OK(p.Eval(got, []float64{5, 7}, []float64{2, 3, 4}))
	want := []float64{6, 12, 20, 7,
		3, 2, 0, 0, 4, 3, 0, 0, 5, 0, 0, 0,
		3*3 + 2*4, 4*4 + 3*5, 5 * 5, 0,
		6, 4 + 8, 6 + 10, 8, 2,
		32, 0, 0, 2,
		0, 0,
		0, 0, 0, 0, 0, 0, 0, 0, 0,
		8, 18, 32}
	sameValues(t, "functions", got, want)
}

// TestKeep: values are kept for another product within the bound, none that Remat is about, and the
// bound changes no bit.
func TestKeep(t *testing.T) {
	const rows, width = 40, 160
	k := newTask(rows, width, 3, 1)
	product := func(keep int, remat func(f func(in ...*Node) *Node, in ...*Node) *Node) (hv []float64, numbers int) {
		d := testkit.Get(Differentiate(Loss{P: 1, Q: width * width, Rows: rows, Keep: keep,
			Inputs: []Input{{Name: "X", Shape: []int{width}, Batch: true}},
			Build: func(x, y *Node, in []*Node) *Node {
				w := Part(y, 0, width, width)
				layer := func(in ...*Node) *Node {
					return Tanh(MatMul(Tanh(MatMul(in[0], w, false, false)), w, false, true))
				}
				h := remat(layer, Tanh(MatMul(in[0], w, false, false)))
				return SumAll(Square(Tanh(MatMul(h, w, false, false))))
			}}))
		testkit.OK(d.Bind("X", k.tables["X"], nil))
		y := make([]float64, width*width)
		for i := range y {
			y[i] = float64(i*i%17-8) / 100
		}
		for range 2 { // the second begins with what is kept
			hv = make([]float64, len(y))
			testkit.OK(d.HVP(hv, []float64{0}, y, hv[:copy(hv, y)]))
		}
		return hv, d.template.Report(d.plans[0][1<<hvp].Load()).Numbers
	}
	plain := func(f func(in ...*Node) *Node, in ...*Node) *Node { return f(in...) }
	want, all := product(0, plain)
	for _, c := range []struct {
		keep, most int
		remat      func(f func(in ...*Node) *Node, in ...*Node) *Node
	}{{-1, 0, plain}, {8 * 3 * rows * width, 3 * rows * width, plain}, {0, all - 4*rows*width, Remat}} {
		got, numbers := product(c.keep, c.remat)
		if title := fmt.Sprint("product with ", numbers, " kept"); c.keep != 0 {
			sameBits(t, title, got, want)
		} else { // adjoints of the part's input are added in another order
			within(t, title, got, want, 1e-14)
		}
		if numbers > c.most {
			t.Errorf("%d of %d numbers are kept, want at most %d", numbers, all, c.most)
		}
	}
}

// TestDetached: derivatives stop at what is detached, and a copy is no other node's value.
func TestDetached(t *testing.T) {
	y := []float64{1.5, -2}
	grad := func(build func(x, y *Node) *Node) []float64 {
		d := testkit.Get(Differentiate(Loss{P: 1, Q: 2,
			Build: func(x, y *Node, _ []*Node) *Node { return build(x, y) }}))
		dy := make([]float64, 2)
		testkit.OK(d.Grad(nil, dy, []float64{0}, y))
		return dy
	}
	of := func(c float64) []float64 { return []float64{c * y[0], c * y[1]} }
	along := func(h func(y *Node) *Node) func(_, y *Node) *Node {
		return func(_, y *Node) *Node { // half of the square of the derivative of (2y)'h by h
			by := h(y)
			g := testkit.Get(Grad(Dot(Scale(2, y), by), by))[0]
			return Scale(.5, Dot(g, g))
		}
	}
	double := func(y *Node) *Node { return Scale(2, y) }
	for _, c := range []struct {
		name string
		got  []float64
		want []float64
	}{
		{"the square of a stopped vector", grad(func(_, y *Node) *Node { return Dot(StopGradient(y), y) }), of(1)},
		{"a stopped sum", grad(func(_, y *Node) *Node { return StopGradient(Dot(y, y)) }), of(0)},
		{"equal expressions are one node: 4y", grad(along(double)), of(16)},
		{"a copy is none: 2y", grad(along(func(y *Node) *Node { return Detached(double(y)) })), of(4)},
	} {
		within(t, c.name, c.got, c.want, 1e-15)
	}
	var a, b *Node
	testkit.Get(Differentiate(Loss{P: 1, Q: 2, Build: func(x, y *Node, _ []*Node) *Node {
		a, b = Detached(y), Detached(y)
		return SumAll(Add(a, b))
	}}))
	if a == b {
		t.Error("two copies of a node must be two nodes")
	}
}

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
