package ad

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gorgonia.org/gorgonia"
)

// ErrGraph marks a graph that cannot be differentiated again and again.
var ErrGraph = errors.New("ad: unsuitable graph")

// replacements names what to use in place of Gorgonia's ops that are not right under repeated
// differentiation: each was found to give a wrong second derivative (or a wrong first one) without an error, or to
// fail at run time. Keys are op types, with the op's own name where the type has several.
var replacements = map[string]string{
	"elemUnaryOp invSqrt": "its derivative is wrong; use ad.Div by ad.Sqrt",
	"elemUnaryOp sign":    "it has no derivative; use ad.Step",
	"elemUnaryOp ceil":    "it has no derivative",
	"elemUnaryOp floor":   "it has no derivative",
	"elemBinOp ^":         "use ad.Square, ad.Sqrt, or ad.Exp of a multiple of ad.Log",
	"elemBinOp":           "a comparison has no derivative; use ad.Step or ad.ReLU",
	"linAlgBinOp":         "use one ad.MatMul a batch",
	"sliceOp":             "its second derivative is wrong; use ad.Part",
	"atOp":                "use ad.Part",
	"reshapeOp":           "it is wrong on intermediate nodes; use ad.Reshape (to broadcast ad.AddRow, ad.AddCol, ad.RowScale, ad.ColScale)",
	"transposeOp":         "use the transpose flags of ad.MatMul",
	"concatOp":            "use ad.Place and ad.Add",
	"sizeOp":              "a mean over a size node is recomputed at each sweep; use ad.Mean",
	"maxOp":               "it fails under nonlinear functions; use ad.RowLogSumExp",
	"softmaxOp":           "it has no second derivative; use ad.RowSoftmax, or ad.RowLogSumExp for its logarithm",
	"sparsemaxOp":         "it has no second derivative; use ad.RowSoftmax",
	"tensordotOp":         "use ad.MatMul",
	"diagFlatOp":          "use ad.RowScale",
	"byIndicesOp":         "use ad.Gather",
	"dropoutOp":           "it draws anew at every evaluation; use a mask as an input",
	"randomOp":            "it draws anew at every evaluation; use an input",
	"im2colOp":            "it has no second derivative with respect to the image; use ad.Im2col",
	"maxPoolOp":           "it has no second derivative; use strided ad.Im2col",
	"avgPoolOp":           "it has no second derivative; use ad.Im2col and ad.SumCols",
	"globalAveragePoolOp": "use ad.Reshape and ad.SumCols",
	"upsampleOp":          "it has no second derivative",
	"BatchNormOp":         "it has no second derivative; use ad.AddRow and ad.ColScale",
	"constantTensor":      "long constants that print alike become one; use ad.NewConst",
}

// opName returns the op's type without its package, and what the op calls itself.
func opName(o gorgonia.Op) (typ, own string) {
	typ = strings.TrimPrefix(fmt.Sprintf("%T", o), "*")
	return strings.TrimPrefix(typ, "gorgonia."), o.String()
}

// refusal is the error for an op that is not in the closed set and has no equivalent there.
func refusal(o gorgonia.Op) error {
	typ, own := opName(o)
	first, _, _ := strings.Cut(own, " ")
	for _, key := range []string{typ + " " + first, typ} {
		if advice, ok := replacements[key]; ok {
			return fmt.Errorf("%w: gorgonia's op %q (%s): %s", ErrGraph, own, typ, advice)
		}
	}
	return fmt.Errorf("%w: op %q (%s) is not known to be right under repeated differentiation; build the loss from ad's ops", ErrGraph, own, typ)
}

// isLeaf reports whether n is an input or one of Gorgonia's constant numbers. Its constant tensors are
// refused: two of them that print alike, which long ones do, become one.
func isLeaf(n *Node) bool {
	if n.Op() == nil {
		return true
	}
	typ, _ := opName(n.Op())
	return typ == "constantScalar"
}

// closeGraphs returns the nodes' equivalents in which Gorgonia's own ops are replaced by those of the closed
// set. Ops that have no equivalent are refused.
func closeGraphs(nodes ...*Node) ([]*Node, error) {
	var out []*Node
	memo := map[*Node]*Node{}
	for _, n := range nodes {
		if n == nil {
			return nil, fmt.Errorf("%w: a value is nil", ErrGraph)
		}
		c, err := translateNode(n, memo)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

func translateNode(n *Node, memo map[*Node]*Node) (*Node, error) {
	if c := memo[n]; c != nil {
		return c, nil
	}
	if n.Deriv() != nil {
		return nil, fmt.Errorf("%w: gorgonia.Grad was called on node %q; its second call would return the first gradient: "+
			"build the graph without it and use ad.Grad", ErrGraph, n.Name())
	}
	memo[n] = n
	if isLeaf(n) {
		return n, nil
	}
	old := children(n)
	in := make([]*Node, len(old))
	for i, c := range old {
		var err error
		if in[i], err = translateNode(c, memo); err != nil {
			return nil, err
		}
	}
	o, own := n.Op().(*op)
	switch {
	case !own:
		c := translate(n, in)
		if c == nil {
			return nil, refusal(n.Op())
		}
		memo[n] = c
	case !slices.Equal(old, in):
		memo[n] = apply(o.rule, n.Shape(), in...)
	}
	return memo[n], nil
}

// translate rebuilds a stock op from the closed set, or returns nil.
func translate(n *Node, in []*Node) *Node {
	switch typ, own := opName(n.Op()); typ {
	case "elemUnaryOp":
		if f := unaryStock[own]; f != nil {
			return f(in[0])
		}
	case "elemBinOp":
		name, _, _ := strings.Cut(own, " ")
		return translateBinary(name, in[0], in[1])
	case "linAlgBinOp":
		return translateProduct(own, in[0], in[1])
	case "sumOp":
		return translateSum(n, in[0])
	}
	return nil
}

// unaryStock are the closed set's equivalents of Gorgonia's elementwise functions of one input.
var unaryStock = map[string]func(a *Node) *Node{
	"abs":  func(a *Node) *Node { return Add(ReLU(a), ReLU(Neg(a))) },
	"log2": func(a *Node) *Node { return Scale(1/math.Ln2, Log(a)) },
	"cube": func(a *Node) *Node { return Mul(a, Square(a)) },
	"inv":  func(a *Node) *Node { return Div(Uniform(1, a), a) },
	"sin":  Sin, "cos": Cos, "exp": Exp, "ln": Log, "log1p": Log1p, "expm1": Expm1, "neg": Neg, "square": Square,
	"sqrt": Sqrt, "tanh": Tanh, "sigmoid": Sigmoid, "softplus": Softplus,
}

// translateBinary also covers a scalar beside a tensor.
func translateBinary(name string, a, b *Node) *Node {
	as, bs := a.IsScalar() && !b.IsScalar(), b.IsScalar() && !a.IsScalar()
	switch {
	case name == "⊙" && as:
		return ScaleBy(a, b)
	case name == "⊙" && bs:
		return ScaleBy(b, a)
	case name == "÷" && bs:
		return ScaleBy(Div(Uniform(1, b), b), a)
	case as:
		a = fill(a, b)
	case bs:
		b = fill(b, a)
	}
	switch name {
	case "+":
		return Add(a, b)
	case "-":
		return Sub(a, b)
	case "⊙":
		return Mul(a, b)
	case "÷":
		return Div(a, b)
	}
	return nil
}

func translateProduct(name string, a, b *Node) *Node {
	tA := strings.HasPrefix(name, "Aᵀ")
	tB := strings.HasSuffix(name, "ᵀ")
	switch {
	case strings.Contains(name, "×××"):
		return nil
	case strings.Contains(name, "⋅"):
		return Dot(a, b)
	case strings.Contains(name, "⊗"):
		return Outer(a, b)
	case len(b.Shape()) == 1:
		return MatVec(a, b, tA)
	}
	return MatMul(a, b, tA, tB)
}

func translateSum(n, a *Node) *Node {
	switch _, own := opName(n.Op()); {
	case n.IsScalar():
		return SumAll(a)
	case own == "Σ[0]" && len(a.Shape()) == 2:
		return SumRows(a)
	case own == "Σ[1]" && len(a.Shape()) == 2:
		return SumCols(a)
	}
	return nil
}
