package ad

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// replacements names what to use in place of Gorgonia's ops that are not right under repeated
// differentiation: each was found to give a wrong second derivative (or a wrong first one) without
// an error, or to fail at run time. Keys are op types, with the op's own name where the type has
// several.
var replacements = map[string]string{
	"elemUnaryOp ceil":  "it has no derivative",
	"elemUnaryOp floor": "it has no derivative",
	"elemBinOp":         "it gives truth values: ask for numbers by its retSame, or use ad.Step",
	"sparsemaxOp":       "it has no second derivative; use ad.RowSoftmax",
	"diagFlatOp":        "nothing can read its result, whose type is wrong; use ad.RowScale",
	"byIndicesOp":       "its indices are no numbers; use ad.Gather",
	"dropoutOp":         "it draws anew at every evaluation; use a mask as an input",
	"randomOp":          "it draws anew at every evaluation; use an input",
	"im2colOp":          "it has padding as wide as the kernel; use ad.Im2col",
	"maxPoolOp":         "it has padding of one side, or as wide as the kernel; use ad.MaxPool",
	"avgPoolOp":         "it divides by the width of the image in place of the size of the patch; use ad.AvgPool",
	"BatchNormOp":       "it has no second derivative; use nn.BatchNorm",
	"GroupNormOp":       "it has no second derivative; use nn.GroupNorm",
	"ctcLossOp":         "it has no second derivative",
	"yoloOp":            "it has no second derivative",
	"dtConvOp":          "a model must have one element type",
	"constantTensor":    "long constants that print alike become one; use ad.NewConst",
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
	return fmt.Errorf("%w: op %q (%s) is not known to be right under repeated differentiation; build the loss from "+
		"ad's ops", ErrGraph, own, typ)
}

// isLeaf reports whether n is an input or one of Gorgonia's constant numbers. Its constant tensors
// are refused: two of them that print alike, which long ones do, become one.
func isLeaf(n *Node) bool {
	switch o := n.Op().(type) {
	case nil:
		return true
	case *op: // most nodes: their names would take as long as the rest
		_, leaf := o.rule.(leafRule)
		return leaf
	}
	typ, _ := opName(n.Op())
	return typ == "constantScalar"
}

// closeGraphs returns the nodes' equivalents, in which ops of the closed set replace Gorgonia's
// own. Ops that have no equivalent are refused.
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

// closedNodes is closeGraphs inside of what returns a misuse as an error.
func closedNodes(nodes ...*Node) []*Node {
	closed, err := closeGraphs(nodes...)
	if err != nil {
		panic(misuse{err})
	}
	return closed
}

// translateNode returns n rebuilt with this package's ops; memo has the nodes done so far.
func translateNode(n *Node, memo map[*Node]*Node) (*Node, error) {
	if c := memo[n]; c != nil {
		return c, nil
	}
	if n.Deriv() != nil {
		return nil, fmt.Errorf("%w: gorgonia.Grad was called on node %q; its second call would return the first "+
			"gradient: "+
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
		c, err := stock{n: n, old: old, in: in}.translate()
		if err != nil {
			return nil, err
		}
		memo[n] = c
	case !slices.Equal(old, in):
		memo[n] = newNode(o.rule, folded(n.Shape()), in...)
	}
	return memo[n], nil
}

// stock is a node of one of Gorgonia's own ops that is rebuilt from the closed set: its inputs as
// they were, and rebuilt. A tensor of more than two axes is rebuilt as a matrix with its entries
// in the same order, see [folded].
type stock struct {
	n       *Node
	old, in []*Node
}

// folded returns the shape of a tensor in the closed set: the last axis makes columns, and all
// others make rows.
func folded(s tensor.Shape) tensor.Shape {
	if len(s) <= 2 {
		return s
	}
	last := len(s) - 1
	return matShape(s[:last].TotalSize(), s[last])
}

// tensor returns the first input with its axes.
func (s stock) tensor() Tensor { return TensorOf(s.in[0], s.old[0].Shape()...) }

// field returns a field of the op that it has no method for. The names are right for the version
// of Gorgonia in go.mod.
func (s stock) field(name string) reflect.Value {
	return reflect.Indirect(reflect.ValueOf(s.n.Op())).FieldByName(name)
}

func (s stock) int(name string) int { return int(s.field(name).Int()) }

func (s stock) ints(name string) []int {
	f := s.field(name)
	list := make([]int, f.Len())
	for i := range list {
		list[i] = int(f.Index(i).Int())
	}
	return list
}
