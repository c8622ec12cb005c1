package ad

import (
	"errors"
	"strings"
	"testing"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"dsbo/ad/adtest"
	"dsbo/internal/must"
)

// stockLoss is a loss of three numbers x and four y around f, whose input is a smooth positive vector of four.
func stockLoss(f func(a *Node) (*Node, error)) Loss {
	return Loss{P: 3, Q: 4, Build: func(x, y *Node, _ []*Node) *Node {
		a := Offset(.5, Square(Add(y, Place(Sin(x), 1, 4))))
		n := gorgonia.Must(f(a))
		if n.IsScalar() {
			return Sin(n)
		}
		w := NewConst(x, "weights", n.Shape().TotalSize(), 0, []float64{1, -2, .5, 3, -1, 1, 2, -.5, 1, 1, 4, -1, -1, 2, 1, 1}[:n.Shape().TotalSize()])
		return Dot(w, Flatten(Sin(n)))
	}}
}

type nodeFunc = func(a *Node) (*Node, error)

// chain applies stock functions one after the other.
func chain(fs ...nodeFunc) nodeFunc {
	return func(a *Node) (*Node, error) {
		for _, f := range fs {
			var err error
			if a, err = f(a); err != nil {
				return nil, err
			}
		}
		return a, nil
	}
}

func square2(a *Node) *Node { return Part(a, 0, 2, 2) }

// TestStockOps: Gorgonia's ops that have an equivalent are right to second order.
func TestStockOps(t *testing.T) {
	number := func() *Node { return gorgonia.NewConstant(1.5) }
	sum := func(a *Node) *Node { return gorgonia.Must(gorgonia.Sum(a)) }
	for _, c := range []struct {
		name string
		f    nodeFunc
	}{
		{"Abs", func(a *Node) (*Node, error) { return gorgonia.Abs(Offset(-1, a)) }},
		{"Sin", gorgonia.Sin}, {"Cos", gorgonia.Cos}, {"Exp", gorgonia.Exp}, {"Log", gorgonia.Log},
		{"Log2", gorgonia.Log2}, {"Neg", gorgonia.Neg}, {"Square", gorgonia.Square}, {"Cube", gorgonia.Cube},
		{"Sqrt", gorgonia.Sqrt}, {"Inverse", gorgonia.Inverse}, {"Tanh", gorgonia.Tanh}, {"Sigmoid", gorgonia.Sigmoid},
		{"Softplus", gorgonia.Softplus}, {"Log1p", gorgonia.Log1p}, {"Expm1", gorgonia.Expm1},
		{"Log of 1+a, which Gorgonia rewrites", func(a *Node) (*Node, error) {
			return gorgonia.Log(gorgonia.Must(gorgonia.Add(gorgonia.NewConstant(1.), a)))
		}},
		{"Log of Sigmoid, which Gorgonia rewrites", chain(gorgonia.Sigmoid, gorgonia.Log)},
		{"Exp minus 1, which Gorgonia rewrites", func(a *Node) (*Node, error) {
			return gorgonia.Sub(gorgonia.Must(gorgonia.Exp(a)), gorgonia.NewConstant(1.))
		}},
		{"Add", func(a *Node) (*Node, error) { return gorgonia.Add(a, Square(a)) }},
		{"Add scalar", func(a *Node) (*Node, error) { return gorgonia.Add(a, sum(a)) }},
		{"Add constant", func(a *Node) (*Node, error) { return gorgonia.Add(number(), a) }},
		{"Sub", func(a *Node) (*Node, error) { return gorgonia.Sub(a, Square(a)) }},
		{"Sub from scalar", func(a *Node) (*Node, error) { return gorgonia.Sub(sum(a), a) }},
		{"HadamardProd", func(a *Node) (*Node, error) { return gorgonia.HadamardProd(a, Sin(a)) }},
		{"Mul scalar left", func(a *Node) (*Node, error) { return gorgonia.Mul(sum(a), a) }},
		{"Mul scalar right", func(a *Node) (*Node, error) { return gorgonia.Mul(a, sum(a)) }},
		{"Mul constant", func(a *Node) (*Node, error) { return gorgonia.Mul(number(), a) }},
		{"Mul scalars", func(a *Node) (*Node, error) { return gorgonia.Mul(sum(a), sum(Sin(a))) }},
		{"HadamardDiv", func(a *Node) (*Node, error) { return gorgonia.HadamardDiv(Sin(a), a) }},
		{"Div by scalar", func(a *Node) (*Node, error) { return gorgonia.Div(a, sum(a)) }},
		{"Div of scalar", func(a *Node) (*Node, error) { return gorgonia.Div(number(), a) }},
		{"Mul vectors", func(a *Node) (*Node, error) { return gorgonia.Mul(a, Sin(a)) }},
		{"Mul matrix, vector", func(a *Node) (*Node, error) { return gorgonia.Mul(square2(a), PartVec(Sin(a), 1, 2)) }},
		{"Mul vector, matrix", func(a *Node) (*Node, error) { return gorgonia.Mul(PartVec(Sin(a), 1, 2), square2(a)) }},
		{"Mul matrices", func(a *Node) (*Node, error) { return gorgonia.Mul(Part(a, 0, 4, 1), Part(Sin(a), 0, 1, 4)) }},
		{"OuterProd", func(a *Node) (*Node, error) { return gorgonia.OuterProd(a, Sin(a)) }},
		{"Sum", func(a *Node) (*Node, error) { return gorgonia.Sum(Square(a)) }},
		{"Sum of a matrix", func(a *Node) (*Node, error) { return gorgonia.Sum(square2(a)) }},
		{"Sum along rows", func(a *Node) (*Node, error) { return gorgonia.Sum(square2(a), 0) }},
		{"Sum along columns", func(a *Node) (*Node, error) { return gorgonia.Sum(square2(a), 1) }},
		{"Norm", func(a *Node) (*Node, error) { return gorgonia.Norm(a, 0, 2) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			var stock *Node
			l := stockLoss(c.f)
			build := l.Build
			l.Build = func(x, y *Node, in []*Node) *Node {
				stock = build(x, y, in)
				return stock
			}
			d := must.Get(Differentiate(l))
			x, y := []float64{.3, -.2, .8}, []float64{.5, -1.1, .2, .9}
			got := must.Get(d.Value(x, y))
			within(t, "value", []float64{got}, tapeValues(t, []*Node{d.x, d.y}, [][]float64{x, y}, []*Node{stock})[0], 1e-13)
			adtest.Check(t, d, x, y)
		})
	}
}

// TestRefusedOps: all others are refused, by name, with what to use instead.
func TestRefusedOps(t *testing.T) {
	leaf := func(a *Node, name string, dt tensor.Dtype, shape ...int) *Node {
		return gorgonia.NewTensor(a.Graph(), dt, len(shape), gorgonia.WithShape(shape...), gorgonia.WithName(name), gorgonia.WithInit(gorgonia.Zeroes()))
	}
	images := func(a *Node) *Node { return leaf(a, "images", tensor.Float64, 1, 1, 4, 4) }
	kernel, none, one := tensor.Shape{2, 2}, []int{0, 0}, []int{1, 1}
	missing := map[string]bool{}
	for key := range replacements {
		missing[key] = true
	}
	for _, c := range []struct {
		name, key string // the key of the advice, "" for the general one
		f         nodeFunc
	}{
		{"InverseSqrt", "elemUnaryOp invSqrt", gorgonia.InverseSqrt},
		{"Sign", "elemUnaryOp sign", gorgonia.Sign},
		{"Ceil", "elemUnaryOp ceil", gorgonia.Ceil},
		{"Floor", "elemUnaryOp floor", gorgonia.Floor},
		{"Pow", "elemBinOp ^", func(a *Node) (*Node, error) { return gorgonia.Pow(a, gorgonia.NewConstant(3.)) }},
		{"Gt", "elemBinOp", func(a *Node) (*Node, error) { return gorgonia.Gt(a, Square(a), true) }},
		{"Rectify", "elemBinOp", gorgonia.Rectify},
		{"Slice", "sliceOp", func(a *Node) (*Node, error) { return gorgonia.Slice(a, gorgonia.S(1, 3)) }},
		{"At", "atOp", func(a *Node) (*Node, error) { return gorgonia.At(a, 1) }},
		{"Reshape", "reshapeOp", func(a *Node) (*Node, error) { return gorgonia.Reshape(a, tensor.Shape{2, 2}) }},
		{"Ravel", "reshapeOp", func(a *Node) (*Node, error) { return gorgonia.Ravel(square2(a)) }},
		{"Transpose", "transposeOp", func(a *Node) (*Node, error) { return gorgonia.Transpose(square2(a)) }},
		{"SoftMax", "softmaxOp", func(a *Node) (*Node, error) { return gorgonia.SoftMax(square2(a)) }},
		{"LogSoftMax", "softmaxOp", func(a *Node) (*Node, error) { return gorgonia.LogSoftMax(square2(a)) }},
		{"Max", "maxOp", func(a *Node) (*Node, error) { return gorgonia.Max(a) }},
		{"Mean", "sizeOp", func(a *Node) (*Node, error) { return gorgonia.Mean(a) }},
		{"BroadcastAdd", "reshapeOp", func(a *Node) (*Node, error) {
			return gorgonia.BroadcastAdd(square2(a), PartVec(a, 0, 2), nil, []byte{0})
		}},
		{"Concat", "concatOp", func(a *Node) (*Node, error) { return gorgonia.Concat(0, a, a) }},
		{"Tensordot", "tensordotOp", func(a *Node) (*Node, error) { return gorgonia.Tensordot([]int{0}, []int{0}, square2(a), square2(a)) }},
		{"BatchedMatMul", "linAlgBinOp", func(a *Node) (*Node, error) {
			b := leaf(a, "b", tensor.Float64, 2, 2, 2)
			return gorgonia.BatchedMatMul(b, b)
		}},
		{"Dropout", "dropoutOp", func(a *Node) (*Node, error) { return gorgonia.Dropout(a, .5) }},
		{"ByIndices", "byIndicesOp", func(a *Node) (*Node, error) { return gorgonia.ByIndices(a, leaf(a, "i", tensor.Int, 2), 0) }},
		{"Sparsemax", "sparsemaxOp", func(a *Node) (*Node, error) { return gorgonia.Sparsemax(square2(a)) }},
		{"DiagFlat", "diagFlatOp", gorgonia.DiagFlat},
		{"constant tensor", "constantTensor", func(a *Node) (*Node, error) {
			return gorgonia.Add(a, gorgonia.NewConstant(tensor.New(tensor.WithBacking([]float64{1, 2, 3, 4}))))
		}},
		{"random node", "randomOp", func(a *Node) (*Node, error) {
			return gorgonia.Add(a, gorgonia.GaussianRandomNode(a.Graph(), tensor.Float64, 0, 1, 4))
		}},
		{"MaxPool2D", "maxPoolOp", func(a *Node) (*Node, error) { return gorgonia.MaxPool2D(images(a), kernel, none, one) }},
		{"AveragePool2D", "avgPoolOp", func(a *Node) (*Node, error) { return gorgonia.AveragePool2D(images(a), kernel, none, one) }},
		{"GlobalAveragePool2D", "globalAveragePoolOp", func(a *Node) (*Node, error) { return gorgonia.GlobalAveragePool2D(images(a)) }},
		{"Im2Col", "im2colOp", func(a *Node) (*Node, error) { return gorgonia.Im2Col(images(a), kernel, none, one, one) }},
		{"Conv2d", "im2colOp", func(a *Node) (*Node, error) {
			n, err := gorgonia.Conv2d(images(a), leaf(a, "filter", tensor.Float64, 1, 1, 2, 2), kernel, none, one, one)
			if err != nil {
				return nil, err
			}
			return children(children(n)[0])[0], nil // below the reshapes around it
		}},
		{"Upsample2D", "upsampleOp", func(a *Node) (*Node, error) { return gorgonia.Upsample2D(images(a), 2) }},
		{"BatchNorm", "BatchNormOp", func(a *Node) (*Node, error) {
			s := leaf(a, "scale", tensor.Float64, 1, 1, 4, 4)
			n, _, _, _, err := gorgonia.BatchNorm(images(a), s, s, .9, 1e-5)
			if err != nil {
				return nil, err
			}
			return n, nil
		}},
		{"Sum along one of three axes", "", func(a *Node) (*Node, error) { return gorgonia.Sum(leaf(a, "c", tensor.Float64, 2, 2, 2), 1) }},
		{"MinBetween", "", func(a *Node) (*Node, error) { return gorgonia.MinBetween(a, Square(a)) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := gorgonia.NewGraph()
			a := gorgonia.NewVector(g, tensor.Float64, gorgonia.WithShape(4), gorgonia.WithName("a"))
			n := must.Get(c.f(a))
			delete(missing, c.key)
			advice := replacements[c.key]
			if c.key == "" {
				advice = "build the loss from ad's ops"
			}
			if _, err := closeGraphs(n); !errors.Is(err, ErrGraph) || !strings.Contains(err.Error(), advice) {
				t.Errorf("error %v, want one that matches ErrGraph and advises %q", err, advice)
			}
		})
	}
	for key := range missing {
		t.Errorf("no case reaches the advice for %q", key)
	}
}
