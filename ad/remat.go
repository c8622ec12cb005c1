package ad

import "dsbo/ad/internal/engine"

// rematRule computes what it is given, and marks where a part of a graph begins or ends, whose
// adjoint ends and begins.
type rematRule struct{ mark engine.Mark }

// Remat returns what f builds of in, as f(in...) is, but values between the two are computed again
// by each product with second derivatives at a point, in place of being kept for the next one
// ([Func].Keep), and so are their adjoints. Adjoints of an input that other nodes read too may be
// added in another order. It suits parts whose values take much memory and little time, such as the
// scores of an attention.
func Remat(f func(in ...*Node) *Node, in ...*Node) *Node {
	marked := make([]*Node, len(in))
	for i, n := range in {
		marked[i] = apply1(rematRule{engine.Begin}, n)
	}
	return apply1(rematRule{engine.End}, f(marked...))
}

func (r rematRule) String() string {
	if r.mark == engine.End {
		return "Remat, end"
	}
	return "Remat"
}

func (r rematRule) grad(_ nodes, _, g *Node) nodes { return nodes{apply1(rematRule{-r.mark}, g)} }

func (r rematRule) lower(nodes) engine.Op {
	o := identity()
	o.Remat = r.mark
	return o
}
