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

// identity is an op whose output is its input.
func identity() engine.Op {
	return placed(engine.View, 0, kernels("r", copyKernel[float32], copyKernel[float64]))
}
