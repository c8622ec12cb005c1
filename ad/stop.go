package ad

import "dsbo/ad/internal/engine"

// stopRule computes what it is given, and its derivative is 0. Nodes of different marks differ.
type stopRule struct{ mark *byte }

// StopGradient returns a, whose derivative is taken as 0.
func StopGradient(a *Node) *Node { return apply1(stopRule{}, a) }

// Detached returns a copy of a that is a node of its own, at each call another one, and whose
// derivative is taken as 0. Ops on the same inputs are otherwise the same node: with h :=
// Scale(2, y), Grad(Dot(Scale(2, y), h), h) takes both factors for h. With h :=
// Detached(Scale(2, y)) it is the derivative by the second factor alone.
func Detached(a *Node) *Node { return apply1(stopRule{new(byte)}, a) }

func (r stopRule) String() string {
	if r.mark == nil {
		return "StopGradient"
	}
	return "Detached"
}
func (stopRule) grad(nodes, *Node, *Node) nodes { return nodes{nil} }
func (stopRule) lower(nodes) engine.Op          { return identity() }

// customRule computes its first input, and has the derivatives by the others that grad builds.
type customRule struct {
	grads *func(in []*Node, out, g *Node) []*Node
	at    string // where it is in Build
}

// CustomGrad returns value, which is made of the nodes in, with a derivative of one's own: grad
// builds the adjoints of in from them, the value and its adjoint g, each of the shape of its node;
// nil is 0. What grad builds has the derivatives of its ops, and these make products
// with second derivatives.
func CustomGrad(value *Node, grad func(in []*Node, out, g *Node) []*Node, in ...*Node) *Node {
	return newNode(customRule{&grad, position()}, shapeOf(value), append(nodes{value}, in...)...)
}

func (customRule) String() string { return "CustomGrad" }

// grad implements rule by the model's own function, and checks the number and shapes of its
// adjoints.
func (r customRule) grad(in nodes, out, g *Node) nodes {
	adjoints := (*r.grads)(in[1:], out, g)
	if len(adjoints) != len(in)-1 {
		failf("CustomGrad: there must be an adjoint for each of %d inputs; there are %d%s",
			len(in)-1, len(adjoints), r.at)
	}
	for i, a := range adjoints {
		if a != nil && !equal(shapeOf(a), shapeOf(in[1+i])) {
			failf("CustomGrad: adjoint %d must have the input's shape %v; it has %v%s",
				i, in[1+i].Shape(), a.Shape(), r.at)
		}
	}
	return append(nodes{nil}, adjoints...)
}

func (customRule) lower(nodes) engine.Op { return identity() }
