package ad

import (
	"fmt"
	"sync"
	"sync/atomic"

	"dsbo"
	"dsbo/ad/internal/engine"
)

// A Loss is a scalar loss of x and y: a [Func] whose Build returns one scalar.
type Loss struct {
	P, Q    int
	Rows    int
	Inputs  []Input
	Float32 bool
	Keep    int // see [Func]
	Build   func(x, y *Node, in []*Node) *Node
	// Workspace is memory that the derivatives share with other programs; nil: they have their own.
	Workspace *Workspace
}

// Derivs evaluates one loss and its derivatives from one graph: gradients by a reverse sweep, and
// products with second derivatives by a sweep over the gradient's own graph (double
// backpropagation, Pearlmutter 1994), never a matrix. Nodes shared by several derivatives are
// computed once while x, y and the data stay the same.
//
// The methods of [DerivsIn] take vectors of float64, and [Derivs.Float32] gives them for float32.
//
// It belongs to one goroutine at a time. Results must not overlap x, y or v. The derivative by a
// variable that the loss does not depend on is 0.
type Derivs struct {
	*Program
	*derivatives
	DerivsIn[float64]
	single  DerivsIn[float32]      // see Float32
	kept    [derivCount]keptMatrix // of jvp and hvp
	columns []float64              // of a Jacobian that are found together
	tapes   map[int]*tape          // by the bits of derivatives
}

// DerivsIn gives gradients and products of a [Derivs] by vectors of V, whatever type the loss is
// computed in. Numbers of x, y and v are rounded to that type as they are read, and results to V
// as they are written: vectors of float32 have the results of vectors of float64 with the same
// numbers, rounded. Vectors of the type of the loss are quickest.
type DerivsIn[V Float] struct {
	derivs  *Derivs
	machine engine.Vectors[V]
	dst     [derivCount][]V // scratch of compute
	value   [1]V
	gradY   []V    // the last ∇_y, if it is short
	gradAt  uint64 // the machine's changes when it was found, plus 1; 0: there is none
}

// shortGradient is the length up to which the last ∇_y is kept: draws of all examples ask for it
// again at one point.
const shortGradient = 1 << 12

// Float32 returns the same derivatives by vectors of float32, the same in each call. They belong
// to one goroutine at a time together with d, and what was computed at a point by vectors of one
// type is there for vectors of the other type with the same numbers.
func (d *Derivs) Float32() *DerivsIn[float32] { return &d.single }

// derivatives are the graphs of a loss's derivatives and plans for them, which forks share. They
// are made at the first use.
type derivatives struct {
	loss   *code
	onTape bool // see UseGorgonia
	mu     sync.Mutex
	v      direction         // of products
	built  atomic.Uint32     // the stages so far
	nodes  [derivCount]*Node // nil where the derivative is 0, or not built yet
	// plans are by whether they run in lanes, and by the bits of derivatives.
	plans [2][1 << derivCount]atomic.Pointer[engine.Plan]
}

// The derivatives of a loss.
const (
	gradX = iota
	gradY
	jvp
	hvp
	gnp
	lossValue // beside gradients
	derivCount
)

// A stage is graphs that are built together, and all that they are made of.
type stage uint8

const (
	gradients   stage = 1 << iota
	secondOrder       // products with second derivatives
	linearized        // Gauss-Newton products
)

// A direction is the vector of products; none before they are built.
type direction struct {
	node *Node
	slot int // its value in the template
}

// Differentiate builds l's graph. Each derivative's graph is built at its first use.
// It has the errors of [Compile].
func Differentiate(l Loss) (*Derivs, error) {
	f := Func{P: l.P, Q: l.Q, Rows: l.Rows, Inputs: l.Inputs, Float32: l.Float32, Keep: l.Keep, Workspace: l.Workspace}
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

// newDerivs returns a program's derivatives, with the graphs and plans that all forks share.
func newDerivs(p *Program, all *derivatives) *Derivs {
	d := &Derivs{Program: p, derivatives: all, tapes: map[int]*tape{}}
	d.DerivsIn = DerivsIn[float64]{derivs: d, machine: p.m.Float64()}
	d.single = DerivsIn[float32]{derivs: d, machine: p.m.Float32()}
	return d
}

// Value returns the loss.
func (in *DerivsIn[V]) Value(x, y []V) (V, error) {
	d := in.derivs
	if d.onTape {
		return in.ValueGrad(nil, nil, x, y)
	}
	if err := setPoint(d.Program, in.machine, x, y); err != nil {
		return 0, err
	}
	in.dst[0] = in.value[:]
	defer clear(in.dst[:])
	err := in.machine.Run(d.values, in.dst[:1])
	return in.value[0], err
}

// ValueGrad is [DerivsIn.Value] and [DerivsIn.Grad] in one pass.
func (in *DerivsIn[V]) ValueGrad(dx, dy, x, y []V) (V, error) {
	err := in.slopes(1<<lossValue, dx, dy, x, y)
	return in.value[0], err
}

// Grad writes ∇_x to dx (length P) and ∇_y to dy (length Q); nil is skipped. Cost: about two passes
// over the data.
func (in *DerivsIn[V]) Grad(dx, dy, x, y []V) error {
	return in.slopes(0, dx, dy, x, y)
}

// slopes is Grad, and what else is wanted.
func (in *DerivsIn[V]) slopes(wanted int, dx, dy, x, y []V) error {
	if dx != nil {
		wanted |= 1 << gradX
	}
	if dy != nil {
		wanted |= 1 << gradY
	}
	return in.compute(gradients, wanted, [derivCount][]V{gradX: dx, gradY: dy, lossValue: in.value[:]}, x, y, nil)
}

// HVP writes (∇²_yy) v to dst, both of length Q. Cost: about two gradients.
func (in *DerivsIn[V]) HVP(dst, x, y, v []V) error {
	return in.compute(secondOrder, 1<<hvp, [derivCount][]V{hvp: dst}, x, y, v)
}

// JVP writes (∇²_xy) v to dst (length P), v of length Q. Cost: at most about two gradients;
// only the part of the graph that x and y share is touched.
func (in *DerivsIn[V]) JVP(dst, x, y, v []V) error {
	return in.compute(secondOrder, 1<<jvp, [derivCount][]V{jvp: dst}, x, y, v)
}

// compute writes the derivatives whose bits are set in wanted, of a stage, to dst. v is the
// direction of products.
func (in *DerivsIn[V]) compute(of stage, wanted int, dst [derivCount][]V, x, y, v []V) error {
	d := in.derivs
	for i, to := range &dst {
		if wanted>>i&1 == 0 {
			continue
		}
		n, what := d.f.Q, "y"
		switch i {
		case gradX, jvp:
			n, what = d.f.P, "x"
		case lossValue:
			continue
		}
		if len(to) != n {
			return dsbo.ShapeErrorf("%s must have len(%s)=%d numbers; it has %d",
				derivNames[i], what, n, len(to))
		}
	}
	if of != gradients && len(v) != d.f.Q {
		return dsbo.ShapeErrorf("len(v) must be len(y)=%d; it is %d", d.f.Q, len(v))
	}
	if err := d.build(of); err != nil {
		return err
	}
	if err := setPoint(d.Program, in.machine, x, y); err != nil {
		return err
	}
	if of != gradients {
		in.machine.SetInput(d.v.slot, v)
	}
	at := d.m.Changes() + 1
	if wanted == 1<<gradY && in.gradAt == at {
		copy(dst[gradY], in.gradY)
		return nil
	}
	key, outs := 0, in.dst[:0]
	for i, to := range &dst {
		switch {
		case wanted>>i&1 == 0: // a fork may be making this node now
		case d.nodes[i] == nil:
			clear(to)
		default:
			key |= 1 << i
			outs = append(outs, to)
		}
	}
	err := in.run(key, outs)
	if y := dst[gradY]; err == nil && wanted>>gradY&1 == 1 && len(y) <= shortGradient {
		in.gradY, in.gradAt = append(in.gradY[:0], y...), at // a direction, which has changed, does not matter to it
	}
	return err
}

// run writes the derivatives whose bits are set in key to outs.
func (in *DerivsIn[V]) run(key int, outs [][]V) error {
	if in.derivs.onTape {
		return in.runTape(key, outs)
	}
	p, err := in.derivs.planOf(key, false)
	if err != nil {
		return err
	}
	defer clear(in.dst[:])
	return in.machine.Run(p, outs)
}

// derivNames names the derivatives in errors about their lengths.
var derivNames = [derivCount]string{"the gradient by x", "the gradient by y", "a Jacobian-vector product",
	"a Hessian-vector product", "a Gauss-Newton product", "the value"}

// add makes the graphs of a stage.
func (d *derivatives) add(of stage) (err error) {
	l := d.loss
	switch of {
	case gradients:
		g, err := Grad(l.outs[0], l.x, l.y)
		if err != nil {
			return err
		}
		d.nodes[gradX], d.nodes[gradY], d.nodes[lossValue] = g[0], g[1], l.outs[0]
	case secondOrder:
		if d.v.node == nil { // an error may have come after it before
			v, err := l.addPoint("v", l.f.Q)
			if err != nil {
				return err
			}
			d.v = direction{v, l.slots[v]}
			l.template.AddDirection(d.v.slot)
		}
		if d.nodes[gradY] == nil { // all products are 0
			return nil
		}
		by, err := Grad(Dot(d.nodes[gradY], d.v.node), l.x, l.y)
		if err != nil {
			return err
		}
		d.nodes[jvp], d.nodes[hvp] = by[0], by[1]
	case linearized:
		d.nodes[gnp], err = gaussNewton(l.outs[0], l.y, d.v.node)
	}
	return err
}

// build makes the graphs of a stage, after the stages that it needs. Only the first time takes the
// lock of the forks.
func (d *derivatives) build(of stage) error {
	if d.built.Load()&uint32(of) != 0 {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	needed := []stage{gradients, of}
	if of == linearized {
		needed = []stage{gradients, secondOrder, of}
	}
	for _, s := range needed {
		if d.built.Load()&uint32(s) == 0 {
			if err := d.add(s); err != nil {
				return err
			}
			d.built.Or(uint32(s))
		}
	}
	return nil
}

// planOf returns the plan for the derivatives whose bits are set in key, made at the first call,
// which alone takes the lock of the forks.
func (d *derivatives) planOf(key int, lanes bool) (p *engine.Plan, err error) {
	known := &d.plans[0][key]
	if lanes {
		known = &d.plans[1][key]
	}
	if p = known.Load(); p != nil {
		return p, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if p = known.Load(); p == nil {
		p, err = d.loss.plan(lanes, d.wanted(key))
		known.Store(p)
	}
	return p, err
}

// wanted returns the nodes of the derivatives whose bits are set in key.
func (d *derivatives) wanted(key int) (list nodes) {
	for i, n := range d.nodes {
		if key>>i&1 == 1 {
			list = append(list, n)
		}
	}
	return list
}

// A keptMatrix is a matrix of second derivatives as it was found last. It takes the memory of the
// whole matrix, so it is made only once a caller has asked twice at one point and batch, which
// does not happen with minibatches.
type keptMatrix struct {
	found   bool
	at      uint64 // the machine's changes when it was found
	numbers []float64
}
