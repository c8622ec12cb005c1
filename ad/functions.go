package ad

import "dsbo"

// VJP returns wᵀJ, the derivatives by each of wrt of a function's values along w, which has their
// shape: one reverse sweep, see [Grad]. The entry of a node that the values do not depend on is
// nil. w is taken as a constant.
func VJP(values, w *Node, wrt ...*Node) (by []*Node, err error) {
	defer catchMisuse(&err)
	all, err := closeGraphs(append([]*Node{values, w}, wrt...)...)
	if err != nil {
		return nil, err
	}
	w = apply1(stopRule{}, all[1])
	return gradient(Dot(all[0], w), nil, all[2:]...), nil
}

// JVP returns J v, the derivative of a function's values along v, which has the shape of wrt: two
// reverse sweeps, the second of which leaves what a forward sweep has. v is taken as a constant.
func JVP(values, wrt, v *Node) (along *Node, err error) {
	defer catchMisuse(&err)
	all, err := closeGraphs(values, wrt, v)
	if err != nil {
		return nil, err
	}
	named("JVP").sameShape(all[1], all[2])
	if along = tangent(all[0], all[1], apply1(stopRule{}, all[2])); along == nil {
		along = Uniform(0, all[0])
	}
	return along, nil
}

// Jacobian returns the derivatives of a function's n values, in row-major order, by the entries of
// wrt: a matrix with a row for each value. It is meant for small functions: its graph has a
// reverse sweep for each row.
func Jacobian(values, wrt *Node) (jacobian *Node, err error) {
	defer catchMisuse(&err)
	all, err := closeGraphs(values, wrt)
	if err != nil {
		return nil, err
	}
	values, wrt = Flatten(all[0]), all[1]
	rows := make([]*Node, values.Shape()[0])
	for i := range rows {
		if rows[i] = gradient(Item(values, i), nil, wrt)[0]; rows[i] == nil {
			rows[i] = Uniform(0, wrt)
		}
		rows[i] = Reshape(rows[i], 1, wrt.Shape().TotalSize())
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
	if g[0] == nil {
		g[0] = Uniform(0, wrt)
	}
	return Jacobian(g[0], wrt)
}

// ExampleGrads writes the gradients by y of the losses of single examples, rows of the tables that
// the loss's inputs are bound to by name, to dst, a row of Q numbers each. Inputs that are no batch
// are bound to the whole of their tables. The loss of one example is the loss's value on a batch of
// it alone. Cost: a gradient on one row for each.
func (s *Sizes) ExampleGrads(dst, x, y []float64, tables map[string]*Table, rows []int) error {
	d, err := s.Derivs(1)
	if err != nil {
		return err
	}
	if len(dst) != len(rows)*s.loss.Q {
		return dsbo.Errorf(dsbo.ErrShape, "gradients of %d examples must have %d numbers; len(dst)=%d", len(rows),
			len(rows)*s.loss.Q, len(dst))
	}
	for i := range rows {
		for _, in := range s.loss.Inputs {
			var row []int
			if in.Batch {
				row = rows[i : i+1]
			}
			if err := d.Bind(in.Name, tables[in.Name], row); err != nil {
				return err
			}
		}
		if err := d.Grad(nil, dst[i*s.loss.Q:][:s.loss.Q], x, y); err != nil {
			return err
		}
	}
	return nil
}
