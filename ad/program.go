package ad

import (
	"errors"
	"fmt"
	"slices"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"dsbo"
	"dsbo/ad/internal/engine"
	"dsbo/internal/kernel"
	"dsbo/internal/linalg"
)

// An Input is data that a loss reads besides x and y.
type Input struct {
	Name string
	// Shape is the shape of the value, or of one example's part of it if Batch is set: nil for one
	// number (each example's, if Batch is set: the node is then a vector).
	Shape []int
	// Batch marks data with one row per example of the minibatch: the node has [Func].Rows rows.
	Batch bool
	// Sparse, for a batch of vectors, announces tables of [SparseTable] and no others. Values and
	// derivatives then cost time and memory in proportion to the nonzeros. Rows can be factors of
	// matrix products alone: X of MatMul(X, B, false, _), MatMul(X, U, true, false) and MatMul(U,
	// X, true, false), of MatVec(X, v, _), and Square(X) in the place of X. Building fails with
	// [ErrGraph] at another op, and names it. Without Sparse, such a table is read as a dense one,
	// one tile of rows at a time.
	Sparse bool
}

// A Func is a set of values (scalars, vectors or matrices) to be built as one Gorgonia graph over
// x, y and the inputs.
type Func struct {
	P, Q    int // lengths of x and y; P may be 0, and then x is nil, also in Build
	Rows    int // examples in a batch; 0 if no input is a batch
	Inputs  []Input
	Float32 bool // compute in float32 instead of float64
	// Keep is how many bytes of large values may be kept from one run to the next, so that another
	// product at a point begins with them; 0: as many as two y have, or 4 million numbers, if that
	// is more; negative: none. It changes the time of a run, and no bit.
	Keep int
	// Workspace is memory that the program shares with others; nil: it has its own.
	Workspace *Workspace
	// Build returns the values from nodes x (length P), y (length Q) and one node per input, in
	// order. It is called once, and may panic through ad's constructors on shapes that do not fit.
	Build func(x, y *Node, in []*Node) []*Node
}

// A Workspace is memory that programs share which are used one at a time, such as the programs of
// one agent: the numbers of x, y and v, and scratch memory for values that no program keeps.
// Programs with one workspace belong to one goroutine at a time together. Its field Pool is where
// scratch memory comes from; nil: the workspace has its own, as large as the largest of its
// programs needs. The zero Workspace is ready to use.
type Workspace = engine.Workspace

// A Pool is scratch memory for the programs of several goroutines, such as all agents of a
// process. As many programs compute at one time as there are processors (runtime.GOMAXPROCS);
// others wait: there is scratch memory for these alone, and what they compute stays in the caches.
// The zero Pool is ready to use.
type Pool = engine.Pool

// A Program computes the values of a [Func] again and again for new x, y and data, in memory of its
// own and of its [Workspace]. It belongs to one goroutine at a time.
type Program struct {
	*code
	m     engine.Machine
	bound []bool      // by input
	dst   [][]float64 // of the values, while they are computed
	dst32 [][]float32 // the same of Eval32, made at its first call
}

// code is what a program and its forks share.
type code struct {
	f        Func             // without Workspace
	template *engine.Template // of the nodes that have values
	family   *family          // of all nodes
	slots    map[*Node]int    // the template's values of nodes; forks add to it under the lock of derivatives
	x, y     *Node            // the inputs of the losses
	ins      []*Node          // by input
	outs     []*Node          // what Build returned, of ops of the closed set
	values   *engine.Plan     // of outs
	sizes    []int            // their numbers of entries
	size     int              // the sum of sizes
}

// Compile builds f's graph and prepares its values. It fails with [dsbo.ErrShape] on lengths that
// do not fit together, and with [ErrGraph] on ops that cannot be differentiated again and again.
// The cost of building is paid here and at the first use of each derivative, not at each run, nor
// by [Program.Fork].
func Compile(f Func) (_ *Program, err error) {
	defer catchMisuse(&err)
	if err := f.check(); err != nil {
		return nil, err
	}
	w := f.Workspace
	f.Workspace = nil
	c := &code{f: f, template: engine.New(f.Rows, f.Q, f.Float32, f.Keep), family: newFamily(), slots: map[*Node]int{}}
	if err := c.addLeaves(); err != nil {
		return nil, err
	}
	x := c.x
	if f.P == 0 {
		x = nil
	}
	if c.outs, err = closeGraphs(f.Build(x, c.y, c.ins)...); err != nil {
		return nil, err
	}
	for _, n := range c.outs {
		if size := shapeOf(n).TotalSize(); size > 0 {
			c.sizes = append(c.sizes, size)
			c.size += size
		}
	}
	if c.values, err = c.plan(false, c.outs); err != nil {
		return nil, err
	}
	return c.program(w), nil
}

// program returns a program of the code with memory in w (nil: of its own).
func (c *code) program(w *Workspace) *Program {
	if w == nil {
		w = new(Workspace)
	}
	return &Program{code: c, m: engine.NewMachine(c.template, w),
		bound: make([]bool, len(c.ins)), dst: make([][]float64, len(c.sizes))}
}

// Fork returns a program of the same values with data of its own, and with memory in w (nil: of
// its own). The two share what was compiled, and may be used by two goroutines. Its results have
// the bits of a program that is compiled anew. It costs little time, and memory at its first use.
func (p *Program) Fork(w *Workspace) *Program { return p.program(w) }

// check returns an error for the first sizes, names or shapes that cannot be compiled.
func (f *Func) check() error {
	if f.P < 0 || f.Q < 1 || f.Rows < 0 {
		return dsbo.ShapeErrorf("a function must have at least 0 x, 1 y and 0 examples; it has %d, %d and %d",
			f.P, f.Q, f.Rows)
	}
	if f.Build == nil {
		return fmt.Errorf("%w: a function needs Build", ErrGraph)
	}
	seen := map[string]bool{}
	for _, in := range f.Inputs {
		switch {
		case in.Name == "" || seen[in.Name]:
			return dsbo.ShapeErrorf("names of inputs must be distinct and not empty; one is %q", in.Name)
		case in.Batch && f.Rows == 0:
			return dsbo.ShapeErrorf("Rows must be positive for input %q, which is a batch; it is 0", in.Name)
		case in.Sparse && (!in.Batch || len(in.Shape) != 1):
			return dsbo.ShapeErrorf("input %q, which is sparse, must be a batch of vectors; its shape is %v",
				in.Name, in.Shape)
		case len(in.Shape) > 2 || in.Batch && len(in.Shape) > 1:
			return dsbo.ShapeErrorf(
				"input %q must be at most a matrix (a vector for each example of a batch); its shape is %v",
				in.Name, in.Shape)
		case len(in.Shape) > 0 && slices.Min(in.Shape) < 1:
			return dsbo.ShapeErrorf("input %q must have lengths of at least 1; its shape is %v",
				in.Name, in.Shape)
		}
		seen[in.Name] = true
	}
	return nil
}

// addLeaves makes the graph's leaves x, y and the inputs.
func (c *code) addLeaves() (err error) {
	if c.x, err = c.addPoint("x", max(c.f.P, 1)); err != nil {
		return err
	}
	if c.y, err = c.addPoint("y", c.f.Q); err != nil {
		return err
	}
	for _, in := range c.f.Inputs {
		shape := tensor.Shape(in.Shape)
		if in.Batch {
			shape = append(tensor.Shape{c.f.Rows}, in.Shape...)
		}
		n := c.family.leaf("input:"+in.Name, shape, c.dtype())
		rows, cols := dims(n)
		if c.slots[n], err = c.template.AddInput(rows, cols, in.Batch, in.Sparse); err != nil {
			return err
		}
		c.ins = append(c.ins, n)
	}
	return nil
}

// addPoint adds x, y or v.
func (c *code) addPoint(name string, length int) (n *Node, err error) {
	n = c.family.leaf(name, vecShape(length), c.dtype())
	c.slots[n], err = c.template.AddPoint(name, length)
	return n, err
}

// plan returns a plan for the values of nodes.
func (c *code) plan(lanes bool, nodes nodes) (*engine.Plan, error) {
	var outs []int
	for _, n := range nodes {
		if isEmpty(shapeOf(n)) {
			continue
		}
		slot, err := c.slotOf(n)
		if err != nil {
			return nil, err
		}
		outs = append(outs, slot)
	}
	return c.template.Plan(lanes, outs)
}

// slotOf returns the template's value of node n, adding it and the nodes that it depends on.
func (c *code) slotOf(n *Node) (i int, err error) {
	if i, ok := c.slots[n]; ok {
		return i, nil
	}
	rows, cols := dims(n)
	if isLeaf(n) {
		numbers, err := c.constant(n)
		if err != nil {
			return 0, fmt.Errorf("%w: node %q%w", ErrGraph, n.Name(), err)
		}
		c.slots[n] = c.template.AddConstant(rows, cols, numbers)
		return c.slots[n], nil
	}
	op, in := lowered(n)
	args := make([]int, len(in))
	for i, a := range in {
		if args[i] = -1; op.Args != "" && op.Args[i] == 'n' {
			continue
		}
		if args[i], err = c.slotOf(a); err != nil {
			return 0, err
		}
	}
	if i, err = c.template.Add(op, rows, cols, args); err == nil {
		c.slots[n] = i
	}
	return i, err
}

// constant returns the numbers of a leaf that is not an input.
func (c *code) constant(n *Node) (numbers any, err error) {
	v := n.Value()
	switch {
	case v == nil:
		return nil, errors.New(" must be an input of the loss or carry a value")
	case c.f.Float32:
		numbers, err = valueData[float32](v)
	default:
		numbers, err = valueData[float64](v)
	}
	if err != nil {
		err = fmt.Errorf(": %w", err)
	}
	return numbers, err
}

func (c *code) dtype() tensor.Dtype {
	if c.f.Float32 {
		return tensor.Float32
	}
	return tensor.Float64
}

// NewConst adds a constant matrix (vector if cols is 0) with row-major data, which it copies, to
// the graph of like, in like's element type. Two constants of one graph that differ need different
// names.
func NewConst(like *Node, name string, rows, cols int, data []float64) *Node {
	shapeOf(like)
	shape := vecShape(rows)
	if cols > 0 {
		shape = matShape(rows, cols)
	}
	if f := familyOf(like); f != nil && rows == 0 && len(data) == 0 {
		return f.empty(shape, like.Dtype())
	}
	if rows < 1 || cols < 0 || len(data) != shape.TotalSize() {
		failf("NewConst %q: rows and columns must fit the numbers; %d and %d do not fit %d numbers",
			name, rows, cols, len(data))
	}
	if like.Dtype() == tensor.Float32 {
		f := make([]float32, len(data))
		linalg.Convert(f, data)
		return newConst(like, name, shape, f)
	}
	return newConst(like, name, shape, slices.Clone(data))
}

// newConst returns a constant node of like's graph.
func newConst[T Float](like *Node, name string, shape tensor.Shape, data []T) *Node {
	t := tensor.New(tensor.WithShape(shape...), tensor.WithBacking(data))
	n := gorgonia.NewTensor(like.Graph(), like.Dtype(), len(shape), gorgonia.WithShape(shape...),
		gorgonia.WithName("const:"+name), gorgonia.WithValue(t))
	// Gorgonia merges leaves of equal name: n may be an older one.
	if old, err := valueData[T](n.Value()); err != nil || !equal(n.Shape(), shape) || !kernel.SameBits(old, data) {
		failf("NewConst %q: different constants of a graph must have different names; there is another of this name",
			name)
	}
	return n
}

// Bind makes rows idx of t, all of them if idx is nil, the value of the named input. The rows are
// read in place at each run; idx is copied. Binding the same rows again is free, and so is what
// was computed from them.
func (p *Program) Bind(name string, t *Table, idx []int) error {
	i := slices.IndexFunc(p.f.Inputs, func(in Input) bool { return in.Name == name })
	if i < 0 {
		return dsbo.ShapeErrorf("the function has no input %q", name)
	}
	if t == nil {
		return dsbo.ShapeErrorf("input %q: the table must not be nil", name)
	}
	if err := p.m.Bind(slotInputs+i, &t.data, idx); err != nil {
		return fmt.Errorf("input %q: %w", name, err)
	}
	p.bound[i] = true
	return nil
}

// setPoint sets x and y of a program. m is the program's machine for vectors of V.
func setPoint[V Float](p *Program, m engine.Vectors[V], x, y []V) error {
	if len(x) != p.f.P || len(y) != p.f.Q {
		return dsbo.ShapeErrorf("len(x) and len(y) must be %d and %d; they are %d and %d",
			p.f.P, p.f.Q, len(x), len(y))
	}
	if i := slices.Index(p.bound, false); i >= 0 {
		return dsbo.ShapeErrorf("input %q must be bound to a table", p.f.Inputs[i].Name)
	}
	if len(x) > 0 { // else nothing depends on it
		m.SetInput(slotX, x)
	}
	m.SetInput(slotY, y)
	return nil
}

// The template's values of x, of y and of the first input, which are added in this order.
const (
	slotX = iota
	slotY
	slotInputs
)

// Eval writes the values at (x, y) to dst, in the order of Build, a matrix row by row. What dst has
// beyond them is left alone.
func (p *Program) Eval(dst, x, y []float64) error { return eval(p, p.m.Float64(), p.dst, dst, x, y) }

// Eval32 is [Program.Eval] by vectors of float32.
func (p *Program) Eval32(dst, x, y []float32) error {
	if p.dst32 == nil {
		p.dst32 = make([][]float32, len(p.sizes))
	}
	return eval(p, p.m.Float32(), p.dst32, dst, x, y)
}

// eval is Eval on a machine of V, with parts as scratch.
func eval[V Float](p *Program, m engine.Vectors[V], parts [][]V, dst, x, y []V) error {
	if len(dst) < p.size {
		return dsbo.ShapeErrorf("the function's values have %d entries; len(dst)=%d", p.size, len(dst))
	}
	if err := setPoint(p, m, x, y); err != nil {
		return err
	}
	for i, n := range p.sizes {
		parts[i], dst = dst[:n], dst[n:]
	}
	defer clear(parts)
	return m.Run(p.values, parts)
}
