package ad

import (
	"fmt"
	"math"
	"strings"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// translate returns the node's equivalent. Ops that have none are refused.
func (s stock) translate() (*Node, error) {
	o := s.n.Op()
	typ, own := opName(o)
	f := stockOps[typ]
	if f == nil {
		return nil, refusal(o)
	}
	if len(s.in) < o.Arity() {
		return nil, fmt.Errorf("%w: gorgonia's op %q has lost an input, a number that was taken for another one: "+
			"use ad.Offset or ad.Scale", ErrGraph, own)
	}
	out := f(s)
	if out == nil {
		return nil, refusal(o)
	}
	return reshape(out, folded(s.n.Shape())), nil
}

// stockOps are the equivalents of Gorgonia's ops by type. Each may give the entries in any shape,
// and nil for what it cannot do.
var stockOps = map[string]func(s stock) *Node{
	"elemUnaryOp": func(s stock) *Node {
		if f := unaryStock[s.n.Op().String()]; f != nil {
			return f(s.in[0])
		}
		return nil
	},
	"elemBinOp":           stock.binary,
	"linAlgBinOp":         stock.product,
	"tensordotOp":         stock.contraction,
	"minBetween":          func(s stock) *Node { return Min(s.in[0], s.in[1]) },
	"maxBetween":          func(s stock) *Node { return Max(s.in[0], s.in[1]) },
	"sumOp":               func(s stock) *Node { return s.tensor().Sum(s.ints("along")...).Node },
	"maxOp":               func(s stock) *Node { return s.tensor().Max(s.ints("along")...).Node },
	"softmaxOp":           stock.softmax,
	"sizeOp":              func(s stock) *Node { return numberLike(float64(s.int("val")), s.in[0]) },
	"reshapeOp":           func(s stock) *Node { return s.in[0] },
	"transposeOp":         func(s stock) *Node { return s.tensor().Transpose(s.ints("pattern")...).Node },
	"sliceOp":             stock.slice,
	"atOp":                stock.at,
	"concatOp":            stock.concat,
	"repeatOp":            stock.repeat,
	"im2colOp":            stock.patches,
	"maxPoolOp":           stock.maxPool,
	"globalAveragePoolOp": func(s stock) *Node { return s.tensor().Mean(2, 3).Node },
	"upsampleOp": func(s stock) *Node {
		times := 1 + s.int("stride")
		return s.tensor().Repeat(2, times).Repeat(3, times).Node
	},
}

// unaryStock are the closed set's equivalents of Gorgonia's elementwise functions of one input.
var unaryStock = map[string]func(a *Node) *Node{
	"log2":    func(a *Node) *Node { return Scale(1/math.Ln2, Log(a)) },
	"cube":    func(a *Node) *Node { return Mul(a, Square(a)) },
	"inv":     func(a *Node) *Node { return Pow(a, -1) },
	"invSqrt": Rsqrt, "abs": Abs, "sign": Sign,
	"sin": Sin, "cos": Cos, "exp": Exp, "ln": Log, "log1p": Log1p, "expm1": Expm1, "neg": Neg, "square": Square,
	"sqrt": Sqrt, "tanh": Tanh, "sigmoid": Sigmoid, "softplus": Softplus,
}

// number returns the value of one of Gorgonia's constant numbers.
func number(n *Node) (float64, bool) {
	if n.Op() == nil {
		return 0, false
	}
	if typ, _ := opName(n.Op()); typ != "constantScalar" {
		return 0, false
	}
	switch v := n.Value().Data().(type) {
	case float64:
		return v, true
	case float32:
		return float64(v), true
	}
	return 0, false
}

// numberLike returns a constant number of like's element type.
func numberLike(v float64, like *Node) *Node {
	if like.Dtype() == tensor.Float32 {
		return gorgonia.NewConstant(float32(v))
	}
	return gorgonia.NewConstant(v)
}

// binary is an arithmetic op, or a comparison whose result is 0 and 1, of two tensors, a tensor
// and a scalar, or numbers.
func (s stock) binary() *Node {
	name, _, _ := strings.Cut(s.n.Op().String(), " ")
	a, b := s.in[0], s.in[1]
	if !strings.Contains("+-⊙÷^", name) && !s.field("retSame").Bool() {
		return nil
	}
	x, constA := number(a)
	y, constB := number(b)
	switch {
	case constA && constB:
		v, err := s.n.Op().Do(a.Value(), b.Value())
		if err != nil {
			panic(misuse{fmt.Errorf("%w: of %v and %v: %w", ErrGraph, x, y, err)})
		}
		return gorgonia.NewConstant(v.Data())
	case constA && name == "+":
		return Offset(x, b)
	case constB && name == "+":
		return Offset(y, a)
	case constB && name == "-":
		return Offset(-y, a)
	case constA:
		a = Uniform(x, b)
	case constB:
		b = Uniform(y, a)
	}
	return binaryStock[name](a, b)
}

// binaryStock are the equivalents of Gorgonia's functions of two inputs, which broadcast numbers.
var binaryStock = map[string]func(a, b *Node) *Node{"+": Add, "-": Sub, "⊙": Mul, "÷": Div, "^": Power,
	">": Greater, "<": Less, ">=": GreaterEqual, "<=": LessEqual, "==": Equal, "!=": NotEqual}

// product is a product of matrices, vectors, or stacked matrices.
func (s stock) product() *Node {
	a, b := s.in[0], s.in[1]
	tA, tB := s.field("transA").Bool(), s.field("transB").Bool()
	switch own := s.n.Op().String(); {
	case strings.Contains(own, "×××"):
		shape := s.old[0].Shape() // the stack's axes, which the rebuilt matrix has folded
		return BatchMatMul(a, b, shape[:len(shape)-2].TotalSize(), tA, tB)
	case strings.Contains(own, "⋅"):
		return Dot(Flatten(a), Flatten(b))
	case strings.Contains(own, "⊗"):
		return Outer(Flatten(a), Flatten(b))
	case len(b.Shape()) == 1:
		return MatVec(a, b, tA)
	}
	return MatMul(a, b, tA, tB)
}

// contraction is a product summed over pairs of axes.
func (s stock) contraction() *Node {
	aAxes, bAxes := s.ints("aAxes"), s.ints("bAxes")
	a, b := s.old[0].Shape(), s.old[1].Shape()
	return MatMul(rowsAlong(s.in[0], a, aAxes), rowsAlong(s.in[1], b, bAxes), false, true)
}
