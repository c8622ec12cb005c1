package ad

import (
	"errors"
	"math"
	"strings"
	"testing"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"dsbo"
	"dsbo/internal/testkit"
)

func leafVec(g *gorgonia.ExprGraph, name string, n int) *Node {
	return gorgonia.NewVector(g, tensor.Float64, gorgonia.WithShape(n), gorgonia.WithName(name))
}

// TestHashCollision: Gorgonia takes nodes for one whose 32-bit hashes agree, whatever their
// children are. These two children collide.
func TestHashCollision(t *testing.T) {
	d := testkit.Get(Differentiate(Loss{P: 1, Q: 3, Build: func(_, y *Node, _ []*Node) *Node {
		g := gorgonia.NewGraph()
		a := leafVec(g, "a", 3)
		if one, two := Scale(0.759456318, a), Scale(0.734058016, a); one == two || one.Hashcode() != two.Hashcode() {
			t.Fatal("these two constants do not collide any more: find others")
		}
		one, two := Exp(Scale(0.759456318, y)), Exp(Scale(0.734058016, y))
		if one == two {
			t.Fatal("two nodes with different children are one")
		}
		if again := Exp(Scale(0.734058016, y)); again != two {
			t.Error("the same node again is another one")
		}
		return SumAll(Sub(one, two))
	}}))
	y, gy := []float64{1, 2, -1}, make([]float64, 3)
	testkit.OK(d.Grad(nil, gy, []float64{0}, y))
	for i, v := range y {
		want := 0.759456318*math.Exp(0.759456318*v) - 0.734058016*math.Exp(0.734058016*v)
		within(t, "∇_y", gy[i:i+1], []float64{want}, 1e-14)
	}
}

func TestGrad(t *testing.T) {
	g := gorgonia.NewGraph()
	x, y := leafVec(g, "x", 3), leafVec(g, "y", 3)
	cost := SumAll(Exp(y))
	gs := testkit.Get(Grad(cost, x, cost, y))
	if gs[0] != nil {
		t.Errorf("a cost that does not depend on x has the derivative %v, want nil", gs[0])
	}
	if c, ok := constOf(gs[1]); !ok || c != 1 {
		t.Errorf("the derivative of the cost by itself is %v, want 1", gs[1])
	}
	if gs[2] != Exp(y) {
		t.Errorf("the derivative of Σe^y is %v, want e^y", gs[2])
	}
	if gs, err := Grad(gorgonia.NewConstant(2.), y); err != nil || gs[0] != nil {
		t.Errorf("the derivative of a constant is %v, %v; want nil", gs, err)
	}
	if gs, err := Grad(SumAll(Step(y)), y); err != nil || gs[0] != nil {
		t.Errorf("the derivative of a step is %v, %v; want nil", gs, err)
	}
	for _, c := range []struct {
		name string
		cost *Node
		wrt  *Node
	}{
		{"vector", Exp(y), y},
		{"nil", nil, y},
		{"by nil", cost, nil},
	} {
		if _, err := Grad(c.cost, c.wrt); !errors.Is(err, ErrGraph) {
			t.Errorf("%s: error %v, want ErrGraph", c.name, err)
		}
	}
}

// TestSymDiff: Gorgonia's own sweep gets the first derivative of ad's ops right, a mask's 0 among
// them.
func TestSymDiff(t *testing.T) {
	g := gorgonia.NewGraph()
	value := tensor.New(tensor.WithBacking([]float64{1, -2, 3}))
	y := gorgonia.NewVector(g, tensor.Float64, gorgonia.WithShape(3), gorgonia.WithName("y"), gorgonia.WithValue(value))
	gs := testkit.Get(gorgonia.Grad(Dot(Mul(Square(y), y), Step(y)), y))
	var out gorgonia.Value
	gorgonia.Read(gs[0], &out)
	vm := gorgonia.NewTapeMachine(g)
	defer vm.Close()
	testkit.OK(vm.RunAll())
	sameBits(t, "∇_y", out.Data().([]float64), []float64{3, 0, 27})
}

// TestTransposedFactors: a product with a transpose reads the matrix itself, so that the transpose
// of a batch's rows needs no pass of its own.
func TestTransposedFactors(t *testing.T) {
	g := gorgonia.NewGraph()
	y := leafVec(g, "y", 12)
	a, b, y2 := Reshape(y, 3, 4), Reshape(Exp(y), 3, 4), Part(y, 0, 2, 2)
	for _, c := range []struct{ got, want *Node }{
		{MatMul(Transpose(a), b, false, false), MatMul(a, b, true, false)},
		{MatMul(a, Transpose(b), false, false), MatMul(a, b, false, true)},
		{MatMul(Transpose(a), Transpose(b), true, false), MatMul(a, b, false, true)},
		{MatVec(Transpose(a), Rows(y, 0, 3), false), MatVec(a, Rows(y, 0, 3), true)},
		{MatMul(Transpose(Exp(y2)), y2, true, false), MatMul(Exp(y2), y2, false, false)},
	} {
		if c.got != c.want {
			t.Errorf("product %v, want %v", c.got, c.want)
		}
	}
}

// TestExactFactors: powers of two, which change no digit of a product, are drawn out of it to
// where they meet; other factors stay.
func TestExactFactors(t *testing.T) {
	g := gorgonia.NewGraph()
	a, b := leafVec(g, "a", 3), leafVec(g, "b", 3)
	for _, c := range []struct{ got, want *Node }{
		{Mul(Neg(a), b), Neg(Mul(a, b))},
		{Mul(a, Scale(.5, b)), Scale(.5, Mul(a, b))},
		{Mul(Scale(-2, a), Scale(-.5, b)), Mul(a, b)},
		{Square(Neg(a)), Square(a)},
		{Mul(Neg(Mul(Neg(a), b)), a), Mul(Mul(a, b), a)},
	} {
		if c.got != c.want {
			t.Errorf("product %v, want %v", c.got, c.want)
		}
	}
	if r := ruleOf(Mul(Scale(3, a), Offset(1, b))); r != rule(opMul) {
		t.Errorf("a product with three times a vector is %v, want Mul", r)
	}
}

// TestMisuse: what does not fit together is an error that names it, from Compile as from Grad.
func TestMisuse(t *testing.T) {
	vec := func(n int) func(x *Node) *Node {
		return func(x *Node) *Node { return NewConst(x, "v", n, 0, make([]float64, n)) }
	}
	three := vec(3)
	mat := func(x *Node, r, c int) *Node { return NewConst(x, "m", r, c, make([]float64, r*c)) }
	patches := func(w Window) func(y *Node) *Node {
		return func(y *Node) *Node { return Im2col(mat(y, 1, 4), w) }
	}
	for _, c := range []struct {
		want string
		f    func(y *Node) *Node // y has length 2
	}{
		{"Add: shapes must be the same; they are (2) and (3)", func(y *Node) *Node { return Add(y, three(y)) }},
		{"Mul: shapes must be the same; they are (2) and (2, 3)", func(y *Node) *Node { return Mul(y, mat(y, 2, 3)) }},
		{"Where: shapes must be the same; they are (3, 2) and (3)",
			func(y *Node) *Node { return Where(mat(y, 3, 1), y, three(y)) }},
		{"Polygamma: the order must be at least 0; it is -1", func(y *Node) *Node { return Polygamma(-1, y) }},
		{"Div: shapes", func(y *Node) *Node { return Div(y, three(y)) }},
		{"Dot: shapes", func(y *Node) *Node { return Dot(y, three(y)) }},
		{"an input of an op must not be nil", func(y *Node) *Node { return Add(y, nil) }},
		{"an input of an op must not be nil", func(y *Node) *Node { return Exp(nil) }},
		{"an input of an op must not be nil", func(y *Node) *Node { return SumAll(nil) }},
		{"an input of an op must not be nil", func(y *Node) *Node { return MatVec(nil, y, false) }},
		{"an input of an op must not be nil", func(y *Node) *Node { return Scale(2, nil) }},
		{"an input of an op must not be nil", func(y *Node) *Node { return RowSoftmax(nil) }},
		{"an input of an op must not be nil", func(y *Node) *Node { return NewConst(nil, "a", 1, 0, []float64{1}) }},
		{"MatMul(A, B): inner lengths must be the same; shapes (2) and (3, 2) have 1 and 3",
			func(y *Node) *Node { return MatMul(y, mat(y, 3, 2), false, false) }},
		{"MatMul(Aᵀ, Bᵀ)", func(y *Node) *Node { return MatMul(y, mat(y, 3, 4), true, true) }},
		{"RowSoftmax: the input must be a matrix; its shape is (2)", RowSoftmax},
		{"RowLogSumExp: the input must be a matrix; its shape is (2)", RowLogSumExp},
		{"RowHit: shapes", func(y *Node) *Node { return RowHit(mat(y, 2, 2), y) }},
		{"RowScale: the input must be a matrix; its shape is (2)", func(y *Node) *Node { return RowScale(y, y) }},
		{"RowScale: the input must be a vector of length 3; its shape is (2)",
			func(y *Node) *Node { return RowScale(mat(y, 3, 2), y) }},
		{"ColScale: the input must be a vector of length 2; its shape is (3)",
			func(y *Node) *Node { return ColScale(mat(y, 3, 2), three(y)) }},
		{"AddRow: the input must be a vector of length 3; its shape is (2)",
			func(y *Node) *Node { return AddRow(mat(y, 2, 3), y) }},
		{"AddCol: the input must be a vector of length 3; its shape is (2)",
			func(y *Node) *Node { return AddCol(mat(y, 3, 2), y) }},
		{"SumRows: the input must be a matrix; its shape is (2)", SumRows},
		{"SumCols: the input must be a matrix; its shape is (2)", SumCols},
		{"RepeatRow: the input must be a vector of length 2; its shape is (2, 1)",
			func(y *Node) *Node { return RepeatRow(mat(y, 2, 1), 3) }},
		{"RepeatCol: the input must be a vector of length 1; its shape is ()",
			func(y *Node) *Node { return RepeatCol(SumAll(y), 3) }},
		{"ScaleBy: the first input must be a scalar; its shape is (2)", func(y *Node) *Node { return ScaleBy(y, y) }},
		{"Part: the part must lie inside the vector; (1, 2) at offset 1 is not inside (2)",
			func(y *Node) *Node { return Part(y, 1, 1, 2) }},
		{"Part", func(y *Node) *Node { return PartVec(y, -1, 1) }},
		{"Part", func(y *Node) *Node { return PartVec(mat(y, 2, 2), 0, 1) }},
		{"Part(0): no length of the result may be below 0; its shape is (-1)",
			func(y *Node) *Node { return PartVec(y, 0, -1) }},
		{"Reshape(-1, -2): no length of the result may be below 0; its shape is (-1, -2)",
			func(y *Node) *Node { return Reshape(y, -1, -2) }},
		{"RepeatRow: no length of the result may be below 0; its shape is (-1, 2)",
			func(y *Node) *Node { return RepeatRow(y, -1) }},
		{"Place: the input must fit; shape (2) at offset 2 does not fit into length 3",
			func(y *Node) *Node { return Place(y, 2, 3) }},
		{"Reshape: the number of entries must stay; (2) has 2, (2, 2) has 4",
			func(y *Node) *Node { return Reshape(y, 2, 2) }},
		{"Gather: indices must be a vector; their shape is (2, 2)",
			func(y *Node) *Node { return Gather(y, mat(y, 2, 2)) }},
		{"Im2col: the kernel must be no larger than the padded image; the window is {H:2 W:2 C:1 KH:3 KW:1 Stride:1 " +
			"PadH:0 PadW:0 StrideW:0 DilationH:0 DilationW:0}",
			patches(Window{H: 2, W: 2, C: 1, KH: 3, KW: 1, Stride: 1})},
		{"Im2col: channels, stride and kernel must be at least 1; the window is {H:2 W:2 C:1 KH:1 KW:1 Stride:0 " +
			"PadH:0 PadW:0 StrideW:0 DilationH:0 DilationW:0}", patches(Window{H: 2, W: 2, C: 1, KH: 1, KW: 1})},
		{"Im2col: padding must be at least 0 and less than the kernel",
			patches(Window{H: 2, W: 2, C: 1, KH: 2, KW: 2, Stride: 1, PadW: 2})},
		{"Im2col: images must have the 9 values of window {H:3 W:3 C:1 KH:3 KW:3 Stride:1 PadH:0 PadW:0 " +
			"StrideW:0 DilationH:0 DilationW:0}; their shape is (1, 4)",
			patches(Window{H: 3, W: 3, C: 1, KH: 3, KW: 3, Stride: 1})},
		{"Col2im: patches must fit their window; their shape is (1, 4), the window {H:3 W:3 C:1 KH:3 KW:3 Stride:1 " +
			"PadH:0 PadW:0 StrideW:0 DilationH:0 DilationW:0}", func(y *Node) *Node {
			return Col2im(mat(y, 1, 4), Window{H: 3, W: 3, C: 1, KH: 3, KW: 3, Stride: 1})
		}},
		{"Im2col: strides and dilations must not be negative",
			patches(Window{H: 2, W: 2, C: 1, KH: 1, KW: 1, Stride: 1, DilationW: -1})},
		{"Im2col: the kernel must be no larger than the padded image",
			patches(Window{H: 2, W: 2, C: 1, KH: 2, KW: 2, Stride: 1, DilationW: 2})},
		{"Convolve: channels and filters must be multiples of 2 groups", func(y *Node) *Node {
			return Convolve(mat(y, 1, 4), mat(y, 3, 1), Window{H: 2, W: 1, C: 2, KH: 1, KW: 1, Stride: 1}, 2)
		}},
		{"MaxPool: images must have the 4 values",
			func(y *Node) *Node { return MaxPool(y, Window{H: 2, W: 2, C: 1, KH: 1, KW: 1, Stride: 1}) }},
		{"AvgPool: channels", func(y *Node) *Node { return AvgPool(y, Window{}) }},
		{"RowMax: the input must be a matrix; its shape is (2)", RowMax},
		{"RowMin: the input must be a matrix; its shape is (2)", RowMin},
		{"Max: shapes must be the same; they are (2) and (3)", func(y *Node) *Node { return Max(y, three(y)) }},
		{"Min: shapes", func(y *Node) *Node { return Min(y, three(y)) }},
		{"Power: shapes", func(y *Node) *Node { return Power(y, three(y)) }},
		{"Clip: the lower bound must be at most the upper one; they are 2 and 1",
			func(y *Node) *Node { return Clip(y, 2, 1) }},
		{"Clip: the lower bound", func(y *Node) *Node { return Clip(y, math.NaN(), 1) }},
		{"Pow: the constant must not be NaN", func(y *Node) *Node { return Pow(y, math.NaN()) }},
		{"Cols: columns must lie inside the matrix; columns 1 to 2 do not, its shape is (3, 2)",
			func(y *Node) *Node { return Cols(mat(y, 3, 2), 1, 2) }},
		{"Cols: columns must lie inside the matrix; columns 1 to -1 do not",
			func(y *Node) *Node { return Cols(mat(y, 3, 2), 1, -1) }},
		{"Cols: the input must be a matrix", func(y *Node) *Node { return Cols(y, 0, 1) }},
		{"Rows: rows must lie inside the input; rows 2 to 3 do not, its shape is (3, 2)",
			func(y *Node) *Node { return Rows(mat(y, 3, 2), 2, 2) }},
		{"Item: the entry must lie inside the input; [2] does not, its shape is (2)",
			func(y *Node) *Node { return Item(y, 2) }},
		{"Item: the entry must lie inside the input; [0 -1] does not, its shape is (2, 2)",
			func(y *Node) *Node { return Item(mat(y, 2, 2), 0, -1) }},
		{"Item: the entry must lie inside the input; [0] does not, its shape is (2, 2)",
			func(y *Node) *Node { return Item(mat(y, 2, 2), 0) }},
		{"Transpose: the input must be a matrix; its shape is (2)", Transpose},
		{"ConcatCols: there must be at least one input", func(y *Node) *Node { return ConcatCols() }},
		{"ConcatCols: inputs must have the same number of rows; their shapes are [(2) (3)]",
			func(y *Node) *Node { return ConcatCols(y, three(y)) }},
		{"ConcatRows: inputs must be vectors, or matrices with the same number of columns; their shapes are " +
			"[(2) (2, 1)]", func(y *Node) *Node { return ConcatRows(y, mat(y, 2, 1)) }},
		{"ConcatRows: inputs must be vectors or matrices; their shapes are [()]",
			func(y *Node) *Node { return ConcatRows(SumAll(y)) }},
		{"an input of an op must not be nil", func(y *Node) *Node { return ConcatCols(y, nil) }},
		{"BatchMatMul: each input must be 2 matrices of equal shape; shapes are (2) and (3)",
			func(y *Node) *Node { return BatchMatMul(y, three(y), 2, false, false) }},
		{"BatchMatMul(A, Bᵀ) of 1 and 1 rows: inner lengths must be the same; shapes (2) and (2, 2), each of 2 " +
			"matrices, have 1 and 2", func(y *Node) *Node { return BatchMatMul(y, mat(y, 2, 2), 2, false, true) }},
		{"Scale: the constant must not be NaN", func(y *Node) *Node { return Scale(math.NaN(), y) }},
		{"Offset: the constant must not be NaN", func(y *Node) *Node { return Offset(math.NaN(), y) }},
		{`NewConst "a": rows and columns must fit the numbers; 3 and 0 do not fit 2 numbers`,
			func(y *Node) *Node { return NewConst(y, "a", 3, 0, []float64{1, 2}) }},
		{`NewConst "a": rows and columns must fit the numbers; 0 and 0 do not fit 1 numbers`,
			func(y *Node) *Node { return NewConst(y, "a", 0, 0, []float64{1}) }},
		{`NewConst "a": different constants of a graph must have different names; there is another of this name`,
			func(y *Node) *Node {
				NewConst(y, "a", 2, 0, []float64{1, 2})
				return NewConst(y, "a", 2, 0, []float64{1, 3})
			}},
		{"a tensor must be a scalar, a vector or a matrix; its shape is (2, 1, 1)", func(y *Node) *Node {
			return SumCols(MatVec(gorgonia.NewTensor(y.Graph(), tensor.Float64, 3, gorgonia.WithShape(2, 1, 1),
				gorgonia.WithName("t")), y, true))
		}},
		{"Mul: a model must have one element type; inputs have float64 and float32", func(y *Node) *Node {
			return Mul(y, gorgonia.NewVector(y.Graph(), tensor.Float32, gorgonia.WithShape(2), gorgonia.WithName("s")))
		}},
	} {
		_, err := Differentiate(Loss{P: 1, Q: 2, Build: func(x, y *Node, _ []*Node) *Node { return SumAll(c.f(y)) }})
		wantError(t, err, dsbo.ErrShape, c.want)
	}
}

// TestMisuseOutside: outside of Compile a constructor panics with an error of the same kind.
func TestMisuseOutside(t *testing.T) {
	defer func() {
		if err, ok := recover().(error); !ok || !errors.Is(err, dsbo.ErrShape) {
			t.Errorf("panic with %v, want an error that matches ErrShape", err)
		}
	}()
	Exp(nil)
}

func TestUnsuitableGraphs(t *testing.T) {
	for _, c := range []struct {
		want string
		f    func(x, y *Node) *Node
	}{
		{"a loss must be a scalar; its shape is (2)", func(x, y *Node) *Node { return y }},
		{"a value is nil", func(x, y *Node) *Node { return nil }},
		{"in Build: ", func(x, y *Node) *Node {
			return gorgonia.Must(gorgonia.Mul(Part(y, 0, 1, 2), Part(y, 0, 1, 2)))
		}},
		{`node "loose" must be an input of the loss or carry a value`, func(x, y *Node) *Node {
			return Dot(y, leafVec(x.Graph(), "loose", 2))
		}},
		{"Not all children have the same graph",
			func(x, y *Node) *Node { return Dot(y, leafVec(gorgonia.NewGraph(), "other", 2)) }},
		{"elements of type", func(x, y *Node) *Node {
			one := gorgonia.NewScalar(x.Graph(), tensor.Float32, gorgonia.WithName("f"), gorgonia.WithValue(float32(1)))
			return Square(one)
		}},
		{"in place of gorgonia.LogSumExp take ad.RowLogSumExp", func(x, y *Node) *Node {
			return SumAll(gorgonia.Must(gorgonia.LogSumExp(Part(y, 0, 2, 1), 1)))
		}},
	} {
		_, err := Differentiate(Loss{P: 1, Q: 2, Build: func(x, y *Node, _ []*Node) *Node { return c.f(x, y) }})
		wantError(t, err, ErrGraph, c.want)
	}
}

// TestConstantsOfFloat32: a number of another type in a loss of float32 is refused, and the error
// names the way to its type.
func TestConstantsOfFloat32(t *testing.T) {
	for one, want := range map[any]string{1.: "gorgonia.NewConstant(float32(1))", float32(1): ""} {
		_, err := Differentiate(Loss{Q: 2, Float32: true, Build: func(_, y *Node, _ []*Node) *Node {
			return SumAll(gorgonia.Must(gorgonia.Add(y, gorgonia.NewConstant(one))))
		}})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("a constant of %T: error %v must say %q", one, err, want)
		}
	}
}

// TestCustomGradsLine: what is wrong with a derivative of one's own, which is built when it is
// asked for, names the line of Build that has it.
func TestCustomGradsLine(t *testing.T) {
	for want, adjoints := range map[string][]*Node{"must have the input's shape (2)": {nil}, "each of 1 inputs": nil} {
		d := testkit.Get(Differentiate(Loss{Q: 2, Build: func(_, y *Node, _ []*Node) *Node {
			return SumAll(CustomGrad(Exp(y), func(_ []*Node, _, g *Node) []*Node {
				for i := range adjoints {
					adjoints[i] = SumAll(g)
				}
				return adjoints
			}, y))
		}}))
		err := d.Grad(nil, make([]float64, 2), nil, make([]float64, 2))
		wantError(t, err, dsbo.ErrShape, want)
		wantError(t, err, dsbo.ErrShape, "(ad/graph_test.go:")
	}
}

// TestTransposedConstant: a leaf's value may be a view whose numbers do not lie in order.
func TestTransposedConstant(t *testing.T) {
	d := testkit.Get(Differentiate(Loss{P: 1, Q: 2, Build: func(_, y *Node, _ []*Node) *Node {
		m := tensor.New(tensor.WithShape(2, 2), tensor.WithBacking([]float64{1, 2, 3, 4}))
		testkit.OK(m.T())
		c := gorgonia.NewMatrix(y.Graph(), tensor.Float64, gorgonia.WithShape(2, 2), gorgonia.WithName("c"),
			gorgonia.WithValue(m))
		return SumAll(ColScale(MatMul(c, c, false, false), MatVec(c, y, false)))
	}}))
	// c = [1 3; 2 4], c² = [7 15; 10 22], c y = [1 2].
	if v, err := d.Value([]float64{0}, []float64{1, 0}); err != nil || v != 17*1+37*2 {
		t.Errorf("value %v, %v; want 91", v, err)
	}
}
