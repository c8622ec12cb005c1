package ad

import (
	"dsbo"
	"dsbo/ad/internal/engine"
	"dsbo/internal/kernel"
	"dsbo/internal/linalg"
)

// Hessian writes ∇²_yy to dst, Q×Q row-major. It is meant for tests and for methods that need it
// whole: it costs Q products, several at once as products of matrices. Only what is from the
// diagonal on is computed, by no layer before that with the first of these parameters, and the
// rest mirrors it: the matrix is symmetric to the bit. What the point determines must be finite.
// Asked again where x, y and the rows of the inputs are the same as before, it is kept from then
// on, and costs a copy there.
func (d *Derivs) Hessian(dst, x, y []float64) error {
	q := d.f.Q
	if len(dst)/q != q || len(dst)%q != 0 {
		return dsbo.ShapeErrorf("a Hessian has %d×%d numbers; len(dst)=%d", q, q, len(dst))
	}
	return d.matrix(hvp, dst, x, y, func(read reader, from, lanes int) {
		read(dst[from*q:]) // row j is column j
		to := from + lanes
		for i := from; i < to; i++ {
			for j := from; j < i; j++ {
				dst[i*q+j] = dst[j*q+i]
			}
		}
		if to < q {
			kernel.Transpose(lanes, q-to, dst[to*q+from:], q, dst[from*q+to:], q)
		}
	})
}

// HVPs is [DerivsIn.HVP] for many vectors: those in vs and their products in dst are one after
// another. They have the same bits, and what the point alone determines is computed once for many,
// in products of matrices.
func (d *Derivs) HVPs(dst, x, y, vs []float64) error {
	q := d.f.Q
	if len(dst) != len(vs) || len(vs)%q != 0 {
		return dsbo.ShapeErrorf("vectors must have len(y)=%d numbers each, and their products as many; len(vs)=%d, "+
			"len(dst)=%d", q, len(vs), len(dst))
	}
	if zero, err := d.begin(hvp, dst, x, y); zero || err != nil {
		return err
	}
	return d.inLanes(hvp, len(vs)/q, vs, func(read reader, from, _ int) { read(dst[from*q:]) })
}

// Jacobian writes ∇²_xy to dst, P×Q row-major, at the cost of Q products, or of two where each
// entry of a product is an entry of the vector times a number, as with one penalty for each entry
// of y. It is kept like [Derivs.Hessian].
func (d *Derivs) Jacobian(dst, x, y []float64) error {
	p, q := d.f.P, d.f.Q
	if len(dst)/q != p || len(dst)%q != 0 {
		return dsbo.ShapeErrorf("a Jacobian has %d×%d numbers; len(dst)=%d", p, q, len(dst))
	}
	if d.columns == nil {
		d.columns = make([]float64, engine.Lanes*p)
	}
	switch entrywise, err := d.isEntrywise(jvp); {
	case err != nil:
		return err
	case entrywise:
		return d.entrywiseJacobian(dst, x, y)
	}
	return d.matrix(jvp, dst, x, y, func(read reader, from, lanes int) {
		read(d.columns)
		kernel.Transpose(lanes, p, dst[from:], q, d.columns, p)
	})
}

// isEntrywise reports whether entry i of a product with second derivatives reads entry i of the
// vector alone.
func (d *Derivs) isEntrywise(product int) (bool, error) {
	if err := d.build(secondOrder); err != nil || d.nodes[product] == nil {
		return false, err
	}
	p, err := d.planOf(1<<product, false)
	return err == nil && d.loss.template.IsEntrywise(p, d.v.slot), err
}

// entrywiseJacobian writes a Jacobian whose products are entrywise: a product with zeros has what
// is beside the diagonal, zeros of either sign, and one with ones the diagonal.
func (d *Derivs) entrywiseJacobian(dst, x, y []float64) error {
	q := d.f.Q
	v, beside, diagonal := d.columns[:q], d.columns[q:2*q], d.columns[2*q:3*q]
	clear(v)
	if err := d.JVP(beside, x, y, v); err != nil {
		return err
	}
	linalg.Fill(v, 1)
	if err := d.JVP(diagonal, x, y, v); err != nil {
		return err
	}
	for i, b := range beside {
		row := dst[i*q:][:q]
		linalg.Fill(row, b)
		row[i] = diagonal[i]
	}
	return nil
}

// matrix writes all columns of a matrix of second derivatives, by the product that gives one, to
// dst, from memory where nothing has changed since it was found.
func (d *Derivs) matrix(product int, dst, x, y []float64, each func(read reader, from, lanes int)) error {
	if zero, err := d.begin(product, dst, x, y); zero || err != nil {
		return err
	}
	k, now := &d.kept[product], d.m.Changes()
	again := k.found && k.at == now
	if again && k.numbers != nil {
		copy(dst, k.numbers)
		return nil
	}
	k.found = false
	if err := d.inLanes(product, d.f.Q, nil, each); err != nil {
		return err
	}
	if again {
		k.numbers = make([]float64, len(dst))
	}
	copy(k.numbers, dst)
	k.found, k.at = true, now
	return nil
}

// begin builds the graphs of products and sets the point. If a product is identically 0, it sets
// dst to 0 and returns true.
func (d *Derivs) begin(product int, dst, x, y []float64) (zero bool, err error) {
	if err := d.build(secondOrder); err != nil {
		return false, err
	}
	if zero = d.nodes[product] == nil; zero {
		clear(dst)
	}
	return zero, setPoint(d.Program, d.machine, x, y)
}

// A reader writes products with vectors, one after another.
type reader func(dst []float64)

// inLanes finds a product for n vectors, which are unit vectors if vs is nil.
func (d *Derivs) inLanes(product, n int, vs []float64, each func(read reader, from, lanes int)) error {
	size := d.f.Q
	if product == jvp {
		size = d.f.P
	}
	if d.onTape {
		return d.onTapes(product, n, size, vs, each)
	}
	p, err := d.planOf(1<<product, true)
	if err != nil {
		return err
	}
	return d.m.EachVector(p, d.v.slot, n, vs, vs == nil && product == hvp, func(from, lanes int) {
		each(func(dst []float64) { d.m.ReadLanes(dst, size, p) }, from, lanes)
	})
}
