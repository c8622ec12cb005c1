package ad

import (
	"fmt"
	"slices"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"dsbo/ad/internal/engine"
)

// A family is the nodes of one compiled function: its leaves and the nodes that ad's constructors
// make of them.
//
// They are Gorgonia's nodes, but are not entered into its graph, which walks through all its nodes
// for each new one: the first product of a loss of 8000 layers took six minutes. A node of the
// family whose user is an op of Gorgonia's own is entered by Gorgonia then.
type family struct {
	graph *gorgonia.ExprGraph
	nodes map[nodeKey]*Node // so that an op on the same inputs is the same node
	lists map[nodeList]int  // numbers from 1 on of lists of inputs after the second
}

// nodeKey identifies a node of a family.
type nodeKey struct {
	rule  rule
	dims  int
	shape [2]int
	in    [2]*Node // its first inputs
	rest  int      // the number of the list of the others, 0 for none
}

// nodeList is the list of nodes with a number, and one node more.
type nodeList struct {
	before int
	last   *Node
}

func newFamily() *family {
	return &family{gorgonia.NewGraph(), map[nodeKey]*Node{}, map[nodeList]int{}}
}

// leafRule is the op of a family's leaf, so that what is made of it is known to be of the family.
type leafRule struct{ name string }

func (r leafRule) String() string                 { return r.name }
func (r leafRule) grad(nodes, *Node, *Node) nodes { return nil }
func (r leafRule) lower(nodes) engine.Op          { return engine.Op{} }

// leaf adds a leaf. Each has a name of its own.
func (f *family) leaf(name string, shape tensor.Shape, dt tensor.Dtype) *Node {
	return f.node(leafRule{name}, shape, dt)
}

// node returns the node of rule r over inputs of the family, or constants.
func (f *family) node(r rule, shape tensor.Shape, dt tensor.Dtype, in ...*Node) *Node {
	key := nodeKey{rule: r, dims: len(shape)}
	copy(key.shape[:], shape)
	for _, n := range in {
		if g := n.Graph(); g != nil && g != f.graph { // Gorgonia's constants may be outside of any graph
			panic(misuse{fmt.Errorf("%w: %v: Not all children have the same graph: all inputs must come from the "+
				"function's own%s", ErrGraph, r, position())})
		}
	}
	for _, n := range in[copy(key.in[:], in):] {
		list := nodeList{key.rest, n}
		if f.lists[list] == 0 {
			f.lists[list] = len(f.lists) + 1
		}
		key.rest = f.lists[list]
	}
	if n := f.nodes[key]; n != nil {
		return n
	}
	n := new(Node)
	// The salt gives each node a hash of its own, as the key has told it from all others.
	o := &op{rule: r, shape: shape, in: slices.Clone(in), family: f, salt: len(f.nodes)}
	for _, set := range []gorgonia.NodeConsOpt{gorgonia.WithType(nodeType(shape, dt)), gorgonia.WithShape(shape...),
		gorgonia.In(f.graph), gorgonia.WithOp(o), gorgonia.WithChildren(slices.Clone(in))} {
		set(n)
	}
	f.nodes[key] = n
	return n
}

// familyOf returns the family of the nodes, nil for those in Gorgonia's graph alone.
func familyOf(in ...*Node) *family {
	for _, n := range in {
		if o, ok := n.Op().(*op); ok && o.family != nil {
			return o.family
		}
	}
	return nil
}
