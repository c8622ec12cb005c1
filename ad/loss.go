package ad

import (
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"dsbo"
)

// An Input is data that a loss reads besides x and y.
type Input struct {
	Name string
	// Shape is the shape of the value, or of one example's part of it if Batch is set: nil for one
	// number (each example's, if Batch is set: the node is then a vector).
	Shape []int
	// Batch marks data with one row per example of the minibatch. It must be independent between
	// examples: programs work through a batch tile by tile.
	Batch bool
}

// A Func is a set of values to be built as one Gorgonia graph over x, y and the inputs.
type Func struct {
	P, Q    int // lengths of x and y
	Rows    int // examples in a batch; 0 if no input is a batch
	Inputs  []Input
	Float32 bool // compute in float32 instead of float64
	// Build returns the values from nodes x (length P), y (length Q) and one node per input, in order.
	// It is called once, and may panic through ad's constructors on shapes that do not fit.
	Build func(x, y *Node, in []*Node) []*Node
}

// A Program computes the values of a [Func] again and again for new x, y and data, in buffers of its
// own. It belongs to one goroutine at a time.
type Program struct {
	f       Func
	m       engine
	x, y    *Node
	xs, ys  int
	in      map[string]int
	outs    []*Node
	all     *plan
	scratch []float64
}

// engine is a machine of either element type.
type engine interface {
	input(n *Node, batch bool) (int, error)
	set(i int, v []float64)
	bind(i int, t *Table, idx []int) error
	plan(nodes ...*Node) (*plan, error)
	run(p *plan)
	get(dst []float64, i int)
	slotOf(n *Node) (int, error)
}

// Compile builds f's graph and prepares its values. The cost of building is paid here and at the first
// use of each derivative, not at each run.
func Compile(f Func) (*Program, error) {
	p := &Program{f: f, in: map[string]int{}}
	if err := p.build(); err != nil {
		return nil, err
	}
	var err error
	if p.all, err = p.m.plan(p.outs...); err != nil {
		return nil, err
	}
	for _, o := range p.outs {
		p.scratch = make([]float64, max(len(p.scratch), o.Shape().TotalSize()))
	}
	return p, nil
}

func (f *Func) check() error {
	if f.P < 1 || f.Q < 1 || f.Rows < 0 {
		return fmt.Errorf("%w: a loss with len(x)=%d, len(y)=%d, %d examples: want at least 1, 1 and 0", dsbo.ErrShape, f.P, f.Q, f.Rows)
	}
	seen := map[string]bool{}
	for _, in := range f.Inputs {
		if in.Batch && f.Rows == 0 {
			return fmt.Errorf("%w: input %q is a batch but the loss has no examples", dsbo.ErrShape, in.Name)
		}
		if seen[in.Name] || len(in.Shape) > 2 || in.Batch && len(in.Shape) > 1 {
			return fmt.Errorf("%w: input %q of shape %v: want distinct names and at most matrices", dsbo.ErrShape, in.Name, in.Shape)
		}
		seen[in.Name] = true
	}
	return nil
}

func (p *Program) build() (err error) {
	defer catch(&err)
	if err := p.f.check(); err != nil {
		return err
	}
	g, dt := gorgonia.NewGraph(), tensor.Float64
	widest := 1
	for _, in := range p.f.Inputs {
		if in.Batch && len(in.Shape) == 1 {
			widest = max(widest, in.Shape[0])
		}
	}
	p.m = newMachine[float64](p.f.Rows, widest)
	if p.f.Float32 {
		dt = tensor.Float32
		p.m = newMachine[float32](p.f.Rows, widest)
	}
	p.x = newInput(g, dt, "x", vecShape(p.f.P))
	p.y = newInput(g, dt, "y", vecShape(p.f.Q))
	if p.xs, err = p.m.input(p.x, false); err != nil {
		return err
	}
	if p.ys, err = p.m.input(p.y, false); err != nil {
		return err
	}
	nodes := make([]*Node, len(p.f.Inputs))
	for i, in := range p.f.Inputs {
		shape := tensor.Shape(in.Shape)
		if in.Batch {
			shape = append(tensor.Shape{p.f.Rows}, in.Shape...)
		}
		nodes[i] = newInput(g, dt, "input:"+in.Name, shape)
		if p.in[in.Name], err = p.m.input(nodes[i], in.Batch); err != nil {
			return err
		}
	}
	p.outs, err = closed(p.f.Build(p.x, p.y, nodes)...)
	return err
}

// newInput makes a leaf. Gorgonia merges unnamed inputs of equal shape, so each has a name.
func newInput(g *gorgonia.ExprGraph, dt tensor.Dtype, name string, shape tensor.Shape) *Node {
	if shape.IsScalar() {
		return gorgonia.NewScalar(g, dt, gorgonia.WithName(name))
	}
	return gorgonia.NewTensor(g, dt, len(shape), gorgonia.WithShape(shape...), gorgonia.WithName(name))
}

// NewConst adds a constant matrix (vector if cols is 0) with row-major data to the graph of like, in like's element type.
// name must be unique in the graph: Gorgonia merges leaves of equal name.
func NewConst(like *Node, name string, rows, cols int, data []float64) *Node {
	shape := vecShape(rows)
	if cols > 0 {
		shape = matShape(rows, cols)
	}
	if len(data) != shape.TotalSize() {
		failf("NewConst %q: %d numbers for shape %v", name, len(data), shape)
	}
	var backing any = append([]float64(nil), data...)
	if like.Dtype() == tensor.Float32 {
		f := make([]float32, len(data))
		for i, v := range data {
			f[i] = float32(v)
		}
		backing = f
	}
	t := tensor.New(tensor.WithShape(shape...), tensor.WithBacking(backing))
	return gorgonia.NewTensor(like.Graph(), like.Dtype(), len(shape), gorgonia.WithShape(shape...), gorgonia.WithName("const:"+name), gorgonia.WithValue(t))
}

// Bind makes rows idx of t, all of them if idx is nil, the value of the named input. The rows are read
// in place at each run; idx is copied. Binding the same rows again is free, and so is what was computed from them.
func (p *Program) Bind(name string, t *Table, idx []int) error {
	i, ok := p.in[name]
	if !ok {
		return fmt.Errorf("%w: no input %q in this loss", dsbo.ErrShape, name)
	}
	if err := p.m.bind(i, t, idx); err != nil {
		return fmt.Errorf("input %q: %w", name, err)
	}
	return nil
}

// at sets x and y.
func (p *Program) at(x, y []float64) error {
	if len(x) != p.f.P || len(y) != p.f.Q {
		return fmt.Errorf("%w: len(x)=%d, len(y)=%d; the loss has %d and %d", dsbo.ErrShape, len(x), len(y), p.f.P, p.f.Q)
	}
	p.m.set(p.xs, x)
	p.m.set(p.ys, y)
	return nil
}

// Eval returns the first entry of each value at (x, y): the values themselves where they are scalars.
func (p *Program) Eval(dst, x, y []float64) error {
	if err := p.at(x, y); err != nil {
		return err
	}
	p.m.run(p.all)
	for i, s := range p.all.outs {
		p.m.get(p.scratch, s)
		dst[i] = p.scratch[0]
	}
	return nil
}
