package ad

import (
	"fmt"
	"hash"
	"hash/fnv"
	"runtime"
	"slices"
	"strings"

	"github.com/chewxy/hm"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"dsbo"
	"dsbo/ad/internal/engine"
)

// ErrGraph marks a graph that cannot be differentiated again and again.
var ErrGraph = engine.ErrGraph

// Node is Gorgonia's node: losses are ordinary Gorgonia graphs.
type Node = gorgonia.Node

// Float is the element type of a compiled program.
type Float = engine.Float

type nodes = []*Node

type (
	mat[T Float]  = engine.Mat[T]
	call[T Float] = engine.Call[T]
)

// A rule is one op of the closed set: its name, its derivative, built from ops of the same set so
// that it can be differentiated again, and what the engine needs to run it. A rule is a comparable
// value that carries the op's attributes.
type rule interface {
	String() string
	// grad returns the adjoints of the inputs, given the op's inputs, its output and the output's
	// adjoint. A nil entry means that the op does not depend differentiably on that input.
	grad(in nodes, out, g *Node) nodes
	// lower returns the op as the engine runs it on the inputs.
	lower(in nodes) engine.Op
}

// op dresses a rule as a Gorgonia op for inputs and an output of fixed shapes.
type op struct {
	rule   rule
	shape  tensor.Shape
	in     []*Node // the inputs
	family *family // nil for a node in Gorgonia's graph
	salt   int     // distinguishes nodes whose 32-bit hashes collide
}

var (
	_ gorgonia.Op   = (*op)(nil)
	_ gorgonia.SDOp = (*op)(nil)
)

func (o *op) Arity() int           { return len(o.in) }
func (o *op) ReturnsPtr() bool     { return false }
func (o *op) CallsExtern() bool    { return false }
func (o *op) OverwritesInput() int { return -1 }
func (o *op) String() string       { return o.rule.String() }

// Type returns the type of a function from the inputs to the output.
func (o *op) Type() hm.Type {
	ts := make([]hm.Type, 0, len(o.in)+1)
	for _, n := range o.in {
		ts = append(ts, nodeType(n.Shape(), n.Dtype()))
	}
	return hm.NewFnType(append(ts, nodeType(o.shape, o.in[0].Dtype()))...)
}

// InferShape returns the shape that the constructor worked out.
func (o *op) InferShape(...gorgonia.DimSizer) (tensor.Shape, error) { return o.shape.Clone(), nil }

// WriteHash and Hashcode name the op to Gorgonia's search for common subexpressions.
func (o *op) WriteHash(h hash.Hash) { fmt.Fprintf(h, "ad.%v%v#%d", o.rule, o.shape, o.salt) }

func (o *op) Hashcode() uint32 {
	h := fnv.New32a()
	o.WriteHash(h)
	return h.Sum32()
}

// DiffWRT reports every input: [Grad] learns from the rule itself which adjoints exist.
func (o *op) DiffWRT(n int) []bool {
	d := make([]bool, n)
	for i := range d {
		d[i] = true
	}
	return d
}

// SymDiff is the rule's derivative in Gorgonia's words, which have no nil.
func (o *op) SymDiff(in gorgonia.Nodes, out, g *Node) (gs gorgonia.Nodes, err error) {
	defer catchMisuse(&err)
	gs = o.rule.grad(in, out, g)
	for i := range gs {
		gs[i] = orZero(gs[i], in[i])
	}
	return gs, nil
}

// misuse is what the op constructors panic with when a model is put together wrongly; [Compile] and
// [Grad] return the error in it.
type misuse struct{ error }

func (m misuse) Unwrap() error { return m.error }

// failf reports shapes, or other arguments of a constructor, that do not fit, and where the model
// applies it.
func failf(format string, args ...any) {
	panic(misuse{dsbo.ShapeErrorf("%s%s", fmt.Sprintf(format, args...), position())})
}

// catchMisuse turns a panicked misuse into *err, and so a model's other panics, as Gorgonia does.
// Panics of the Go runtime are not caught.
func catchMisuse(err *error) {
	switch r := recover().(type) {
	case nil:
	case misuse:
		*err = r.error
	case runtime.Error:
		panic(r)
	case error:
		*err = fmt.Errorf("%w: in Build: %w%s%s", ErrGraph, r, position(), advice(r))
	default:
		*err = fmt.Errorf("%w: in Build: %v%s", ErrGraph, r, position())
	}
}

// advice returns what to use in place of what Gorgonia has refused, where that is known.
func advice(err error) string {
	switch text := err.Error(); {
	case strings.Contains(text, "cannot be unified"):
		return ": " + oneType
	case strings.Contains(text, "Failed to infer shape"):
		return ": ad's elementwise ops broadcast as NumPy does; in place of gorgonia.LogSumExp take ad.RowLogSumExp"
	}
	return ""
}

// oneType advises how to give numbers the element type of a loss.
const oneType = "ad.Scale and ad.Offset take numbers of any type; a constant of a loss in float32 is " +
	"gorgonia.NewConstant(float32(1))"

// shapeOf returns n's shape. Constructors call it first, so that a missing node is reported as
// such.
func shapeOf(n *Node) tensor.Shape {
	if n == nil {
		failf("an input of an op must not be nil: does the data have what the model reads?")
	}
	if o, ok := n.Op().(*op); ok { // Gorgonia's node copies its shape
		return o.shape
	}
	return n.Shape()
}

// Dims returns a node's shape as rows and columns: a vector has one column, and a scalar is 1×1.
// It panics as the constructors do if there is no node, or one of more axes.
func Dims(n *Node) (rows, cols int) { return dims(n) }

// dims returns a node's shape as rows and columns.
func dims(n *Node) (r, c int) { return shapeDims(shapeOf(n)) }

// shapeDims returns a shape's rows and columns: a vector is a column, a scalar 1×1.
func shapeDims(s tensor.Shape) (r, c int) {
	switch len(s) {
	case 0:
		return 1, 1
	case 1:
		return s[0], 1
	case 2:
		return s[0], s[1]
	}
	failf("a tensor must be a scalar, a vector or a matrix; its shape is %v", s)
	return 0, 0
}

func nodeType(s tensor.Shape, dt tensor.Dtype) hm.Type {
	if s.IsScalar() {
		return dt
	}
	return gorgonia.TensorType{Dims: len(s), Of: dt}
}

// equal compares shapes strictly; tensor.Shape.Eq takes a vector for a matrix of one column or row.
func equal(a, b tensor.Shape) bool { return slices.Equal(a, b) }

var scalarShape = tensor.ScalarShape()

func vecShape(n int) tensor.Shape    { return tensor.Shape{n} }
func matShape(r, c int) tensor.Shape { return tensor.Shape{r, c} }

// newNode adds rule r over the inputs to their family, or to their graph.
//
// Gorgonia merges nodes whose 32-bit hashes agree without comparing the children, so the node that
// comes back is checked, and applied again under another hash if it is another node.
func newNode(r rule, shape tensor.Shape, in ...*Node) *Node {
	if len(shape) > 0 && slices.Min(shape) < 0 {
		failf("%v: no length of the result may be below 0; its shape is %v", r, shape)
	}
	for _, n := range in {
		shapeOf(n)
		if n.Dtype() != in[0].Dtype() {
			failf("%v: a model must have one element type; inputs have %v and %v: %s", r, in[0].Dtype(), n.Dtype(),
				oneType)
		}
	}
	if f := familyOf(in...); f != nil {
		if n := f.ofNothing(r, shape, in); n != nil {
			return n
		}
		return f.node(r, shape, in[0].Dtype(), in...)
	}
	for salt := 0; ; salt++ {
		n, err := gorgonia.ApplyOp(&op{rule: r, shape: shape, in: slices.Clone(in), salt: salt}, in...)
		if err != nil {
			panic(misuse{fmt.Errorf("%w: %v: %w%s", ErrGraph, r, err, position())})
		}
		if o, ok := n.Op().(*op); ok && o.rule == r && equal(o.shape, shape) && slices.Equal(o.in, in) {
			return n
		}
	}
}

// children returns the inputs of n in order, duplicates kept.
func children(n *Node) []*Node {
	if o, ok := n.Op().(*op); ok {
		return o.in
	}
	if n.Op() == nil || n.Graph() == nil { // a leaf; Gorgonia's constants may be outside of any graph
		return nil
	}
	it := n.Graph().From(n.ID())
	var c []*Node
	for it.Next() {
		c = append(c, it.Node().(*Node))
	}
	return c
}

// Do runs the rule on tensors, so that the same nodes also work on Gorgonia's TapeMachine.
func (o *op) Do(vs ...gorgonia.Value) (gorgonia.Value, error) {
	low := o.rule.lower(o.in)
	if vs[0].Dtype() == tensor.Float32 {
		return doKernel(o, low.F32, vs)
	}
	return doKernel(o, low.F64, vs)
}

// doKernel runs an op's kernel on Gorgonia's values, for its TapeMachine. A panic of the kernel is
// the error.
func doKernel[T Float](o *op, k func(*call[T]), vs []gorgonia.Value) (_ gorgonia.Value, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = engine.Failed(r)
		}
	}()
	// Gorgonia passes whole tensors: the first part of a sum is the only one, and overwrites Dst.
	c := call[T]{First: true, In: make([]mat[T], len(vs)), Block: new([engine.CallBlock]T)}
	for i, v := range vs {
		data, err := valueData[T](v)
		if err != nil {
			return nil, fmt.Errorf("ad: %v: input %d: %w", o.rule, i, err)
		}
		r, cc := dims(o.in[i]) // a value may have lost a length of 1
		c.In[i] = mat[T]{V: data, R: r, C: cc}
	}
	r, cc := shapeDims(o.shape)
	c.Dst = mat[T]{V: make([]T, r*cc), R: r, C: cc}
	k(&c)
	return gorgoniaValue(o.shape, c.Dst.V), nil
}

// gorgoniaValue returns numbers as a value of Gorgonia's, which has them as they are.
func gorgoniaValue(shape tensor.Shape, numbers any) gorgonia.Value {
	if !shape.IsScalar() {
		return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(numbers))
	}
	if v, ok := numbers.([]float32); ok {
		return gorgonia.NewF32(v[0])
	}
	return gorgonia.NewF64(numbers.([]float64)[0])
}

// valueData returns the elements of a Gorgonia value in row-major order.
func valueData[T Float](v gorgonia.Value) ([]T, error) {
	switch d := v.Data().(type) {
	case []T:
		if t, ok := v.(*tensor.Dense); ok && t.RequiresIterator() {
			return t.Materialize().Data().([]T), nil
		}
		return d, nil
	case T:
		return []T{d}, nil
	}
	return nil, fmt.Errorf("elements of type %T", v.Data())
}

// ruleOf returns the rule of an own op, or nil.
func ruleOf(n *Node) rule {
	if o, ok := n.Op().(*op); ok {
		return o.rule
	}
	return nil
}
