package ad

// VJP returns wᵀJ, the derivatives by each of wrt of a function's values along w, which has their
// shape: one reverse sweep, see [Grad]. The entry of a node that the values do not depend on is
// nil. w is taken as a constant.
func VJP(values, w *Node, wrt ...*Node) (by []*Node, err error) {
	defer catchMisuse(&err)
	all := closedNodes(append([]*Node{values, w}, wrt...)...)
	w = apply1(stopRule{}, all[1])
	return gradient(Dot(all[0], w), nil, all[2:]...), nil
}

// JVP returns J v, the derivative of a function's values along v, which has the shape of wrt: two
// reverse sweeps, the second of which leaves what a forward sweep has. v is taken as a constant.
func JVP(values, wrt, v *Node) (along *Node, err error) {
	defer catchMisuse(&err)
	all := closedNodes(values, wrt, v)
	named("JVP").sameShape(all[1], all[2])
	return orZero(tangent(all[0], all[1], apply1(stopRule{}, all[2])), all[0]), nil
}

// Jacobian returns the derivatives of a function's n values, in row-major order, by the entries of
// wrt: a matrix with a row for each value. It is meant for small functions: its graph has a
// reverse sweep for each row.
func Jacobian(values, wrt *Node) (jacobian *Node, err error) {
	defer catchMisuse(&err)
	all := closedNodes(values, wrt)
	values, wrt = Flatten(all[0]), all[1]
	rows := make([]*Node, values.Shape()[0])
	for i := range rows {
		rows[i] = Reshape(orZero(gradient(Item(values, i), nil, wrt)[0], wrt), 1, wrt.Shape().TotalSize())
	}
	return ConcatRows(rows...), nil
}

// Hessian returns the second derivatives of a scalar by the entries of wrt, a square matrix: the
// [Jacobian] of the gradient, with its cost. [Derivs.Hessian] has them by y, without a
// graph of their own.
func Hessian(cost, wrt *Node) (*Node, error) {
	g, err := Grad(cost, wrt)
	if err != nil {
		return nil, err
	}
	return Jacobian(orZero(g[0], wrt), wrt)
}

// tangent builds J v, the derivative of o by y along v; nil: it is 0. J'w is linear in w, so that
// its product with v has the gradient J v by w, whatever w is: a node of its own serves, as an end.
func tangent(o, y, v *Node) *Node {
	w := Detached(o)
	back := gradient(Dot(o, w), []*Node{w}, y)[0]
	if back == nil {
		return nil
	}
	return gradient(Dot(back, v), nil, w)[0]
}
