package ad

import (
	"fmt"

	"gorgonia.org/tensor"

	"dsbo"
)

// A Loss is a scalar loss of x and y: a [Func] whose Build returns one scalar.
type Loss struct {
	P, Q    int
	Rows    int
	Inputs  []Input
	Float32 bool
	Build   func(x, y *Node, in []*Node) *Node
}

// Derivs gives the value and the derivatives of one loss from one graph: gradients by a reverse sweep,
// and products with second derivatives by a sweep over the gradient's own graph (double
// backpropagation, Pearlmutter 1994), never a matrix. Nodes that several derivatives share are
// computed once as long as x, y and the data stay.
//
// It belongs to one goroutine at a time. Where the loss does not depend on a variable the derivative is 0.
type Derivs struct {
	*Program
	cost   *Node
	v      *Node
	vs     int
	first  [2]*Node // ∇_x, ∇_y
	second [2]*Node // (∇²_xy)v, (∇²_yy)v
	made   bool     // first
	made2  bool     // second
	plans  map[want]*plan
}

type want uint8

const (
	wantX want = 1 << iota
	wantY
	wantJVP
	wantHVP
)

// Differentiate builds l's graph. Each derivative's graph is built at its first use.
func Differentiate(l Loss) (*Derivs, error) {
	p, err := Compile(Func{P: l.P, Q: l.Q, Rows: l.Rows, Inputs: l.Inputs, Float32: l.Float32,
		Build: func(x, y *Node, in []*Node) []*Node { return []*Node{l.Build(x, y, in)} }})
	if err != nil {
		return nil, err
	}
	if c := p.outs[0]; !c.IsScalar() {
		return nil, fmt.Errorf("%w: the loss has shape %v, want a scalar", ErrGraph, c.Shape())
	}
	return &Derivs{Program: p, cost: p.outs[0], plans: map[want]*plan{}}, nil
}

// Value returns the loss.
func (d *Derivs) Value(x, y []float64) (float64, error) {
	var v [1]float64
	err := d.Eval(v[:], x, y)
	return v[0], err
}

// Grad writes ∇_x to dx (length P) and ∇_y to dy (length Q); nil is skipped. Cost: about two passes over the data.
func (d *Derivs) Grad(dx, dy, x, y []float64) error {
	if err := d.makeFirst(); err != nil {
		return err
	}
	if err := d.at(x, y); err != nil {
		return err
	}
	var w want
	if dx != nil {
		w |= wantX
	}
	if dy != nil {
		w |= wantY
	}
	if err := d.bring(w); err != nil {
		return err
	}
	if err := d.put(dx, d.f.P, d.first[0], "∇_x"); err != nil || dy == nil {
		return err
	}
	return d.put(dy, d.f.Q, d.first[1], "∇_y")
}

// HVP writes (∇²_yy) v to dst (length Q). Cost: about that of two gradients.
func (d *Derivs) HVP(dst, x, y, v []float64) error {
	return d.product(wantHVP, dst, d.f.Q, x, y, v)
}

// JVP writes (∇²_xy) v to dst (length P), v of length Q. Cost: at most about that of two gradients; only
// the part of the graph that x and y share is touched.
func (d *Derivs) JVP(dst, x, y, v []float64) error {
	return d.product(wantJVP, dst, d.f.P, x, y, v)
}

func (d *Derivs) product(w want, dst []float64, n int, x, y, v []float64) error {
	if err := d.makeSecond(); err != nil {
		return err
	}
	if err := d.at(x, y); err != nil {
		return err
	}
	if len(v) != d.f.Q {
		return fmt.Errorf("%w: len(v)=%d, want len(y)=%d", dsbo.ErrShape, len(v), d.f.Q)
	}
	d.m.set(d.vs, v)
	if err := d.bring(w); err != nil {
		return err
	}
	if w == wantHVP {
		return d.put(dst, n, d.second[1], "HVP")
	}
	return d.put(dst, n, d.second[0], "JVP")
}

// Hessian writes ∇²_yy to dst, Q×Q row-major, by Q products. It is meant for tests and for methods
// that need it whole.
func (d *Derivs) Hessian(dst, x, y []float64) error {
	q := d.f.Q
	if len(dst) != q*q {
		return fmt.Errorf("%w: a Hessian of %d numbers, want %d×%d", dsbo.ErrShape, len(dst), q, q)
	}
	e := make([]float64, q)
	for j := range q {
		e[j] = 1
		if err := d.HVP(dst[j*q:(j+1)*q], x, y, e); err != nil { // row j is column j
			return err
		}
		e[j] = 0
	}
	return nil
}

// Jacobian writes ∇²_xy to dst, P×Q row-major, by Q products.
func (d *Derivs) Jacobian(dst, x, y []float64) error {
	p, q := d.f.P, d.f.Q
	if len(dst) != p*q {
		return fmt.Errorf("%w: a Jacobian of %d numbers, want %d×%d", dsbo.ErrShape, len(dst), p, q)
	}
	e, col := make([]float64, q), make([]float64, p)
	for j := range q {
		e[j] = 1
		if err := d.JVP(col, x, y, e); err != nil {
			return err
		}
		e[j] = 0
		for i, v := range col {
			dst[i*q+j] = v
		}
	}
	return nil
}

func (d *Derivs) makeFirst() error {
	if d.made {
		return nil
	}
	g, err := Grad(d.cost, d.x, d.y)
	if err != nil {
		return err
	}
	d.first, d.made = [2]*Node{g[0], g[1]}, true
	return nil
}

func (d *Derivs) makeSecond() error {
	if d.made2 {
		return nil
	}
	if err := d.makeFirst(); err != nil {
		return err
	}
	dt := tensor.Float64
	if d.f.Float32 {
		dt = tensor.Float32
	}
	d.v = newInput(d.x.Graph(), dt, "v", vecShape(d.f.Q))
	var err error
	if d.vs, err = d.m.input(d.v, false); err != nil {
		return err
	}
	if gy := d.first[1]; gy != nil {
		g, err := Grad(Dot(gy, d.v), d.x, d.y)
		if err != nil {
			return err
		}
		d.second = [2]*Node{g[0], g[1]}
	}
	d.made2 = true
	return nil
}

// bring computes the wanted derivatives.
func (d *Derivs) bring(w want) error {
	p := d.plans[w]
	if p == nil {
		var nodes []*Node
		for i, n := range [...]*Node{d.first[0], d.first[1], d.second[0], d.second[1]} {
			if w&(1<<i) != 0 && n != nil {
				nodes = append(nodes, n)
			}
		}
		var err error
		if p, err = d.m.plan(nodes...); err != nil {
			return err
		}
		d.plans[w] = p
	}
	d.m.run(p)
	return nil
}

// put copies node n, 0 where there is none, to dst of length n.
func (d *Derivs) put(dst []float64, length int, n *Node, what string) error {
	if dst == nil {
		return nil
	}
	if len(dst) != length {
		return fmt.Errorf("%w: %d numbers for %s, want %d", dsbo.ErrShape, len(dst), what, length)
	}
	if n == nil {
		clear(dst)
		return nil
	}
	i, err := d.m.slotOf(n)
	if err != nil {
		return err
	}
	d.m.get(dst, i)
	return nil
}
