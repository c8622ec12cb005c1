package ad

import (
	"fmt"
	"sync"

	"dsbo"
)

// A Loss is a scalar loss of x and y: a [Func] whose Build returns one scalar.
type Loss struct {
	P, Q    int
	Rows    int
	Inputs  []Input
	Float32 bool
	Build   func(x, y *Node, in []*Node) *Node
	// Workspace is memory that the derivatives share with other programs; nil: they have their own.
	Workspace *Workspace
}

// Derivs gives the value and the derivatives of one loss from one graph: gradients by a reverse
// sweep, and products with second derivatives by a sweep over the gradient's own graph (double
// backpropagation, Pearlmutter 1994), never a matrix. Nodes that several derivatives share are
// computed once as long as x, y and the data stay.
//
// Gradients and products are asked for by vectors of float64, as [DerivsIn] says, and through
// [Derivs.Float32] by vectors of float32.
//
// It belongs to one goroutine at a time. Results must not overlap x, y or v. Where the loss does
// not depend on a variable the derivative is 0.
type Derivs struct {
	*Program
	*derivatives
	DerivsIn[float64]
	single DerivsIn[float32]
	value  [1]float64
	built  int                    // the order of the derivatives whose graphs are known to be built
	known  [1 << derivCount]*plan // plans that were asked for before
	kept   [derivCount]keptMatrix // of jvp and hvp

	columns []float64 // of a Jacobian, that are found together
}

// DerivsIn gives gradients and products of a [Derivs], to which it belongs, by vectors of V,
// whatever type the loss is computed in. Numbers of x, y and v are rounded to that type as they are
// read, and results to V as they are written: vectors of float32 have the results of vectors of
// float64 with the same numbers, rounded. Vectors of the type of the loss are quickest.
type DerivsIn[V Float] struct {
	derivs  *Derivs
	machine vectors[V]
	dst     [derivCount][]V // of what is computed
}

// Float32 returns the same derivatives by vectors of float32, the same in each call. They belong to
// one goroutine at a time together with d, and what was computed at a point by vectors of one type
// is there for those of the other one with the same numbers.
func (d *Derivs) Float32() *DerivsIn[float32] { return &d.single }

// derivatives are the graphs of a loss's derivatives, and plans for them, which forks share. They
// are made at the first use.
type derivatives struct {
	loss       *code
	mu         sync.Mutex
	v          *Node
	vs         int
	order      int               // derivatives built so far: none, gradients, or gradients and products
	linearized bool              // whether nodes[gnp] is built
	nodes      [derivCount]*Node // nil where the derivative is 0, or not built yet
	plans      [1 << derivCount]*plan
	units      [1 << derivCount]*plan // plans for products with all unit vectors, in lanes
}

// The derivatives of a loss.
const (
	gradX = iota
	gradY
	jvp
	hvp
	gnp
	derivCount
)

// Differentiate builds l's graph. Each derivative's graph is built at its first use.
// The errors are those of [Compile].
func Differentiate(l Loss) (*Derivs, error) {
	f := Func{P: l.P, Q: l.Q, Rows: l.Rows, Inputs: l.Inputs, Float32: l.Float32, Workspace: l.Workspace}
	if l.Build != nil {
		f.Build = func(x, y *Node, in []*Node) []*Node { return []*Node{l.Build(x, y, in)} }
	}
	p, err := Compile(f)
	if err != nil {
		return nil, err
	}
	if !p.outs[0].IsScalar() {
		return nil, fmt.Errorf("%w: a loss must be a scalar; its shape is %v", ErrGraph, p.outs[0].Shape())
	}
	return newDerivs(p, &derivatives{loss: p.code}), nil
}

// Fork returns the derivatives of the same loss with data of their own, as [Program.Fork] does. A
// derivative that one of the forks asks for is compiled for all of them.
func (d *Derivs) Fork(w *Workspace) *Derivs {
	return newDerivs(d.Program.Fork(w), d.derivatives)
}

// newDerivs returns a program's derivatives, of which all forks have the same graphs and plans.
func newDerivs(p *Program, all *derivatives) *Derivs {
	d := &Derivs{Program: p, derivatives: all}
	d.DerivsIn = DerivsIn[float64]{derivs: d, machine: p.m.float64()}
	d.single = DerivsIn[float32]{derivs: d, machine: p.m.float32()}
	return d
}

// Value returns the loss.
func (d *Derivs) Value(x, y []float64) (float64, error) {
	err := d.Eval(d.value[:], x, y)
	return d.value[0], err
}

// Grad writes ∇_x to dx (length P) and ∇_y to dy (length Q); nil is skipped. Cost: about two passes
// over the data.
func (in *DerivsIn[V]) Grad(dx, dy, x, y []V) error {
	d := in.derivs
	if dx != nil && len(dx) != d.f.P || dy != nil && len(dy) != d.f.Q {
		return dsbo.Errorf(dsbo.ErrShape, "the gradients have %d and %d numbers; len(dx)=%d, len(dy)=%d", d.f.P, d.f.Q,
			len(dx), len(dy))
	}
	if err := d.need(1); err != nil {
		return err
	}
	if err := in.setPoint(x, y); err != nil {
		return err
	}
	return in.compute([derivCount][]V{gradX: dx, gradY: dy})
}

// HVP writes (∇²_yy) v to dst, both of length Q. Cost: about that of two gradients.
func (in *DerivsIn[V]) HVP(dst, x, y, v []V) error {
	d := in.derivs
	if len(dst) != d.f.Q {
		return dsbo.Errorf(dsbo.ErrShape, "a Hessian-vector product has len(y)=%d numbers; len(dst)=%d",
			d.f.Q, len(dst))
	}
	if err := in.setDirection(x, y, v); err != nil {
		return err
	}
	return in.compute([derivCount][]V{hvp: dst})
}

// JVP writes (∇²_xy) v to dst (length P), v of length Q. Cost: at most about that of two gradients;
// only the part of the graph that x and y share is touched.
func (in *DerivsIn[V]) JVP(dst, x, y, v []V) error {
	d := in.derivs
	if len(dst) != d.f.P {
		return dsbo.Errorf(dsbo.ErrShape, "a Jacobian-vector product has len(x)=%d numbers; len(dst)=%d",
			d.f.P, len(dst))
	}
	if err := in.setDirection(x, y, v); err != nil {
		return err
	}
	return in.compute([derivCount][]V{jvp: dst})
}

// setPoint sets the point (x, y).
func (in *DerivsIn[V]) setPoint(x, y []V) error { return setPoint(in.derivs.Program, in.machine, x, y) }

// setDirection sets the point (x, y) and the direction v of a product.
func (in *DerivsIn[V]) setDirection(x, y, v []V) error {
	d := in.derivs
	if err := d.need(2); err != nil {
		return err
	}
	if len(v) != d.f.Q {
		return dsbo.Errorf(dsbo.ErrShape, "len(v) must be len(y)=%d; it is %d", d.f.Q, len(v))
	}
	if err := in.setPoint(x, y); err != nil {
		return err
	}
	in.machine.setInput(d.vs, v)
	return nil
}

// buildGraphs makes the graphs of the derivatives up to an order of 1 or 2.
func (d *derivatives) buildGraphs(order int) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	l := d.loss
	if d.order < 1 {
		g, err := Grad(l.outs[0], l.x, l.y)
		if err != nil {
			return err
		}
		d.nodes[gradX], d.nodes[gradY], d.order = g[0], g[1], 1
	}
	if d.order >= order {
		return nil
	}
	if d.v == nil {
		v, slot, err := l.addPoint("v", l.f.Q)
		if err != nil {
			return err
		}
		d.v, d.vs = v, slot
		l.c.setDirection(slot)
	}
	if gy := d.nodes[gradY]; gy != nil {
		g, err := Grad(Dot(gy, d.v), l.x, l.y)
		if err != nil {
			return err
		}
		d.nodes[jvp], d.nodes[hvp] = g[0], g[1]
	}
	d.order = 2
	return nil
}

// linearize makes the graph of the Gauss-Newton product.
func (d *derivatives) linearize() (err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.linearized {
		return nil
	}
	d.nodes[gnp], err = gaussNewton(d.loss.outs[0], d.loss.y, d.v)
	d.linearized = err == nil
	return err
}

// compute writes the derivatives that have a destination.
func (in *DerivsIn[V]) compute(dst [derivCount][]V) error {
	d := in.derivs
	key := 0
	for i, to := range dst {
		if to != nil && d.nodes[i] != nil {
			key |= 1 << i
		}
	}
	p, err := d.planFor(key)
	if err != nil {
		return err
	}
	outs := in.dst[:0]
	for i, to := range dst {
		switch {
		case to == nil: // a fork may be making this node now
		case d.nodes[i] == nil:
			clear(to)
		default:
			outs = append(outs, to)
		}
	}
	defer clear(in.dst[:])
	defer d.m.leave()
	return in.machine.run(p, outs)
}

// planFor returns the plan for the derivatives whose bits are set in key. Only the first time takes
// the lock of the forks.
func (d *Derivs) planFor(key int) (_ *plan, err error) {
	if d.known[key] == nil {
		d.known[key], err = d.planOf(&d.plans, key, false)
	}
	return d.known[key], err
}

// need makes the graphs of the derivatives up to an order of 1 or 2, under that lock.
func (d *Derivs) need(order int) error {
	if d.built >= order {
		return nil
	}
	err := d.buildGraphs(order)
	if err == nil {
		d.built = order
	}
	return err
}

// planOf returns the plan of a list for the derivatives whose bits are set in key, made at the
// first call, in lanes if these are.
func (d *derivatives) planOf(plans *[1 << derivCount]*plan, key int, lanes bool) (_ *plan, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if plans[key] != nil {
		return plans[key], nil
	}
	var nodes []*Node
	for i, n := range d.nodes {
		if key>>i&1 == 1 {
			nodes = append(nodes, n)
		}
	}
	plans[key], err = d.loss.c.plan(lanes, nodes...)
	return plans[key], err
}
