package ad

import (
	"cmp"
	"fmt"
	"slices"

	"gorgonia.org/tensor"

	"dsbo/ad/internal/engine"
	"dsbo/internal/kernel"
	"dsbo/internal/linalg"
)

// A Method is how a [Solver] finds the value of an implicit node.
type Method uint8

// The methods of solvers.
const (
	// Newton takes Newton's steps, made by products with second derivatives: truncated conjugate
	// gradients for [ArgMin], GMRES for [Root], and halves a step until it helps.
	Newton Method = iota
	// BFGS, of [ArgMin] alone, has limited memory and halves a step until it helps.
	BFGS
	// Anderson, of [Root] alone, iterates z + F(z) by Anderson's acceleration: for fixed points.
	Anderson
)

// String returns the method's name.
func (m Method) String() string { return [...]string{"Newton", "BFGS", "Anderson"}[m] }

// A Solver is how the value of an implicit node is found, always in float64. With F the residual,
// which is ∇loss for [ArgMin], it ends where ‖F‖ ≤ Tolerance·max(1, ‖F at the start‖). A run that
// comes to no such place in a number of steps fails with [dsbo.ErrDiverged].
type Solver struct {
	Method    Method
	Tolerance float64 // also of linear systems, relative to their right sides; 0: 1e-10
	Steps     int     // 0: 500
}

func (s Solver) tolerance() float64 { return cmp.Or(s.Tolerance, 1e-10) }

// Root returns the z near z0 at which F(z, inputs) = 0, where F returns as many numbers as z has,
// and z the shape of z0. F is called several times, with other nodes each time, and may read its
// arguments and constants alone.
//
// Its derivatives of any order are exact at the solution, by the implicit function theorem: a
// derivative costs a linear system with ∂F/∂z, solved by products, and no step of the solver is
// differentiated. There is none by z0. The node is computed whole, whatever the batch.
func Root(f func(z *Node, inputs []*Node) *Node, z0 *Node, inputs []*Node, by Solver) *Node {
	s := &implicit{name: "Root", by: by}
	s.residual = func(z *Node, in []*Node) *Node {
		r := closedNodes(f(z, in))[0]
		if r.Shape().TotalSize() != z.Shape().TotalSize() {
			failf("Root: F must have as many numbers as z; shapes are %v and %v", r.Shape(), z.Shape())
		}
		return reshape(r, z.Shape())
	}
	return s.node(z0, inputs, by.Method == BFGS)
}

// FixedPoint returns the z near z0 at which z = g(z, inputs), by [Anderson], see [Root]. by.Method
// does not count.
func FixedPoint(g func(z *Node, inputs []*Node) *Node, z0 *Node, inputs []*Node, by Solver) *Node {
	by.Method = Anderson
	return Root(func(z *Node, in []*Node) *Node { return Sub(g(z, in), z) }, z0, inputs, by)
}

// ArgMin returns the y near y0 at which loss(y, inputs), a scalar, is least. It is as [Root] of the
// loss's gradient, whose linear systems have the Hessian and are solved by conjugate gradients: at
// the solution it must be positive definite. With a training loss as loss, the gradient of a
// validation loss of ArgMin is a hypergradient.
func ArgMin(loss func(y *Node, inputs []*Node) *Node, y0 *Node, inputs []*Node, by Solver) *Node {
	s := &implicit{name: "ArgMin", by: by}
	s.loss = func(y *Node, in []*Node) *Node {
		cost := closedNodes(loss(y, in))[0]
		if !cost.IsScalar() {
			failf("ArgMin: the loss must be a scalar; its shape is %v", cost.Shape())
		}
		return cost
	}
	s.residual = func(y *Node, in []*Node) *Node {
		return orZero(gradient(s.loss(y, in), append(nodes{y}, in...), y)[0], y)
	}
	return s.node(y0, inputs, by.Method == Anderson)
}

// An implicit is the equation that an implicit node solves, and its solver.
type implicit struct {
	name     string                          // in errors and listings
	by       Solver                          // as the caller has it
	residual func(z *Node, in []*Node) *Node // F
	loss     func(z *Node, in []*Node) *Node // of ArgMin, else nil

	code *code // of F and products with J = ∂F/∂z, in float64
	q    int   // numbers of z
	z, v int   // the code's inputs: z, and the vector of products
	in   []int // the same of the node's inputs

	value, along, back, lossValue *engine.Plan // of F, Jv, J'v and the loss

	runs kernel.Spares[implicitRun] // what nobody uses now
}

// node compiles what solvers need and returns the node.
func (s *implicit) node(z0 *Node, inputs []*Node, unfit bool) *Node {
	if unfit || s.by.Method > Anderson || s.by.Tolerance < 0 || s.by.Steps < 0 {
		failf("%s: %v with tolerance %v and %d steps is no solver for it", s.name, s.by.Method, s.by.Tolerance,
			s.by.Steps)
	}
	shape := shapeOf(z0)
	s.q = shape.TotalSize()
	s.code = &code{f: Func{Q: s.q}, template: engine.New(0, s.q, false, 0), family: newFamily(), slots: map[*Node]int{}}
	if err := s.compile(shape, inputs); err != nil {
		panic(misuse{fmt.Errorf("%s: %w", s.name, err)})
	}
	return newNode(implicitRule{s}, shape, append(nodes{z0}, inputs...)...)
}

// compile builds and compiles the equation's graph, with the solution and the inputs as leaves.
func (s *implicit) compile(shape tensor.Shape, inputs []*Node) (err error) {
	defer catchMisuse(&err)
	c := s.code
	leaf := func(name string, shape tensor.Shape) (*Node, *Node, int) {
		n, err := c.addPoint(name, shape.TotalSize())
		if err != nil {
			panic(misuse{err})
		}
		return n, reshape(n, shape), c.slots[n]
	}
	flat, z, slot := leaf("z", shape)
	s.z = slot
	var in nodes
	for i, n := range inputs {
		_, node, slot := leaf(fmt.Sprint("input ", i), shapeOf(n))
		in, s.in = append(in, node), append(s.in, slot)
	}
	v, _, slot := leaf("v", vecShape(s.q))
	s.v = slot
	c.template.AddDirection(slot)
	r := Flatten(s.residual(z, in))
	for to, n := range map[**engine.Plan]*Node{&s.value: r, &s.along: orZero(tangent(r, flat, v), v),
		&s.back: orZero(gradient(Dot(r, v), nodes{v}, flat)[0], v)} {
		if *to, err = c.plan(false, nodes{n}); err != nil {
			return err
		}
	}
	if s.loss != nil {
		s.lossValue, err = c.plan(false, nodes{s.loss(z, in)})
	}
	return err
}

// orZero returns n, or zeros in the shape of like where it is nil.
func orZero(n, like *Node) *Node {
	if n == nil {
		return Uniform(0, like)
	}
	return n
}

// argumentOp is what it is given, as an argument of F.
const argumentOp named = "Argument"

// implicitRule is the solution, of a start and inputs.
type implicitRule struct{ of *implicit }

func (r implicitRule) String() string {
	return fmt.Sprintf("%s(%v, tolerance %v)", r.of.name, r.of.by.Method, r.of.by.tolerance())
}

// grad: with Jᵀu = −g for J = ∂F/∂z, the adjoints are (∂F/∂inputs)ᵀu.
func (r implicitRule) grad(in nodes, out, g *Node) nodes {
	u := implicitSystem{r.of, r.of.loss == nil}.solution(append(append(nodes{out}, in[1:]...), g))
	return append(nodes{nil}, r.of.adjoints(append(nodes{out}, in[1:]...), u, nil)[1:]...)
}

// adjoints returns the derivatives of F'u by z and the inputs; with a vector along, of the slope of
// F'u along it by z.
func (s *implicit) adjoints(at nodes, u, along *Node) nodes {
	own := make(nodes, len(at)) // so that F may take derivatives by its arguments, and finds no way behind
	for i, n := range at {
		own[i] = apply1(argumentOp, n)
	}
	ends := append(slices.Clone(own), u)
	cost := Dot(s.residual(own[0], own[1:]), u)
	if along != nil {
		ends = append(ends, along)
		cost = Dot(orZero(gradient(cost, ends, own[0])[0], along), along)
	}
	by := gradient(cost, ends, own...)
	for i, n := range at { // which has one adjoint, however often it is an input
		if slices.Index(at, n) < i {
			by[i] = nil
		}
	}
	return by
}

func (r implicitRule) lower(nodes) engine.Op {
	return with(r.of, "", implicitKernel[float32], implicitKernel[float64])
}

// implicitSystem is the u with op(J)u = −g at a solution, of the solution, the inputs and g.
type implicitSystem struct {
	of         *implicit
	transposes bool
}

func (r implicitSystem) solution(in nodes) *Node { return newNode(r, shapeOf(in[0]), in...) }

func (r implicitSystem) String() string {
	return fmt.Sprintf("linear system of %s(tolerance %v)", r.of.name, r.of.by.tolerance())
}

// grad: with op(J)ᵀs = −g the adjoint of the right side is s, and the others are the derivatives of
// s'op(J)u.
func (r implicitSystem) grad(in nodes, u, g *Node) nodes {
	at, last := in[:len(in)-1], len(in)-1
	s := implicitSystem{r.of, r.of.loss == nil && !r.transposes}.solution(append(slices.Clone(at), g))
	left, right := s, u
	if r.transposes {
		left, right = u, s
	}
	return append(r.of.adjoints(in[:last:last], left, right), s)
}

func (r implicitSystem) lower(nodes) engine.Op {
	return with(r, "", systemKernel[float32], systemKernel[float64])
}

func implicitKernel[T Float](s *implicit, c *call[T]) {
	run := startRun(s, c.In[1:])
	defer s.runs.Add(run)
	z := run.vector(0)
	linalg.Convert(z, c.In[0].V)
	run.check(run.solve(z))
	linalg.Convert(c.Dst.V, z)
}

// systemKernel solves J u = b, or Jᵀ u = b with r.transposes, where J is the derivative of the
// equation by its solution z and b the last input. Products are the compiled Jv or J'v. J is
// symmetric positive definite if the equation minimizes a loss, which allows conjugate gradients;
// else it takes minimal residuals.
func systemKernel[T Float](r implicitSystem, c *call[T]) {
	last := len(c.In) - 1
	run := startRun(r.of, c.In[1:last])
	defer r.of.runs.Add(run)
	z, u, rest := run.vector(0), run.vector(1), run.vector(2)
	linalg.Convert(z, c.In[0].V)
	run.f.SetInput(r.of.z, z)
	linalg.Convert(rest, c.In[last].V)
	linalg.Scale(rest, -1, rest)
	product, solver := r.of.along, run.conjugateGradients
	if r.transposes {
		product = r.of.back
	}
	if r.of.loss == nil {
		solver = run.minimalResiduals
	}
	run.check(solver(product, u, rest, r.of.by.tolerance()*linalg.Norm(rest), false))
	linalg.Convert(c.Dst.V, u)
}
