package ad

import (
	"fmt"
	"slices"
)

// Grad returns ∂cost/∂w for each w of wrt, as nodes of the same graph: a reverse sweep
// with its own table of adjoints, through Gorgonia's exported interface. The result is made of ops
// that can be differentiated again, so Grad can be applied to its own output, to any order:
//
//	gy  := Grad(g, y)
//	hvp := Grad(Dot(gy, v), y)   // (∇²_yy g) v
//	jvp := Grad(Dot(gy, v), x)   // (∇²_xy g) v
//
// The entry of a w that cost does not depend on is nil. Gorgonia's own Grad must not be used
// beside it: its second call returns the first gradient again. A cost that is not a scalar, an op
// that is not right under repeated differentiation, and a graph that gorgonia.Grad has been at are
// errors that match [ErrGraph]. Cost: time and nodes proportional to the size of cost's graph.
func Grad(cost *Node, wrt ...*Node) (grads []*Node, err error) {
	defer catchMisuse(&err)
	all := closedNodes(append([]*Node{cost}, wrt...)...)
	cost, wrt = all[0], all[1:]
	if !cost.IsScalar() {
		return nil, fmt.Errorf("%w: the cost must be a scalar; its shape is %v", ErrGraph, cost.Shape())
	}
	return gradient(cost, nil, wrt...), nil
}

// gradient is Grad on a closed graph, with some nodes as ends: what is behind them does not count,
// as if they were leaves.
func gradient(cost *Node, ends []*Node, wrt ...*Node) (grads []*Node) {
	order := topological(cost)
	s := sweep{ends: ends, active: dependents(order, ends, wrt), adjoint: map[*Node]*Node{}}
	if s.active[cost] {
		s.adjoint[cost] = Uniform(1, cost)
	}
	for _, n := range slices.Backward(order) { // users first, so that an adjoint is complete when it is handed on
		s.visit(n)
	}
	grads = make([]*Node, len(wrt))
	for i, w := range wrt {
		grads[i] = s.adjoint[w]
	}
	return grads
}

// sweep is the state of one reverse pass.
type sweep struct {
	ends    []*Node
	active  map[*Node]bool  // the nodes that depend on a wanted one
	adjoint map[*Node]*Node // ∂cost/∂node, complete once all users of the node were visited
}

// visit hands node n's adjoint on to the inputs that lead to a wanted node.
func (s *sweep) visit(n *Node) {
	g := s.adjoint[n]
	if g == nil || isLeaf(n) || slices.Contains(s.ends, n) {
		return
	}
	in, r := children(n), ruleOf(n)
	adjoints := r.grad(in, n, g)
	maskAdjoints(r, in, g, adjoints)
	for i, gi := range adjoints {
		c := in[i]
		if gi == nil || !s.active[c] {
			continue
		}
		if old := s.adjoint[c]; old != nil {
			gi = addAdjoints(old, gi)
		}
		s.adjoint[c] = gi
	}
}

// topological returns the nodes that roots depend on, inputs first, each once.
func topological(roots ...*Node) []*Node {
	var order []*Node
	seen := map[*Node]bool{}
	var walk func(n *Node)
	walk = func(n *Node) {
		if seen[n] {
			return
		}
		seen[n] = true
		for _, c := range children(n) {
			walk(c)
		}
		order = append(order, n)
	}
	for _, r := range roots {
		walk(r)
	}
	return order
}

// dependents returns the nodes of order that depend on one of wrt, themselves included, by ways
// that pass no end.
func dependents(order, ends, wrt []*Node) map[*Node]bool {
	on := map[*Node]bool{}
	for _, w := range wrt {
		on[w] = true
	}
	for _, n := range order {
		if slices.Contains(ends, n) {
			continue
		}
		for _, c := range children(n) {
			if on[c] {
				on[n] = true
			}
		}
	}
	return on
}
