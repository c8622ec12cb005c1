package ad

import (
	"fmt"
	"math"

	"dsbo/ad/internal/engine"
	"dsbo/internal/kernel"
	"dsbo/internal/linalg"
	"dsbo/internal/num"
)

// The elementwise functions. Step is the derivative of ReLU, and 0 at 0.
const (
	fnExp      named = "Exp"
	fnLog      named = "Log"
	fnSqrt     named = "Sqrt"
	fnTanh     named = "Tanh"
	fnSigmoid  named = "Sigmoid"
	fnSoftplus named = "Softplus"
	fnReLU     named = "ReLU"
	fnStep     named = "Step"
	fnSin      named = "Sin"
	fnCos      named = "Cos"
	fnLog1p    named = "Log1p"
	fnExpm1    named = "Expm1"
	fnErf      named = "Erf"
)

// apply1 adds a rule whose output has the shape of its one input.
func apply1(r rule, a *Node) *Node { return newNode(r, shapeOf(a), a) }

// Exp returns e^a elementwise.
func Exp(a *Node) *Node { return apply1(fnExp, a) }

// Log returns the natural logarithm elementwise.
func Log(a *Node) *Node { return apply1(fnLog, a) }

// Sqrt returns the square root elementwise, whose derivative at 0 is infinite: of sums of squares,
// such as Dot(y, y), which it knows by their ops, it is a norm, and its derivatives at 0 are taken
// as 0.
func Sqrt(a *Node) *Node {
	root := apply1(fnSqrt, a)
	if !sumsSquares(a) {
		return root
	}
	zero := Uniform(0, a)
	return choice(Equal(a, zero), zero, root)
}

// sumsSquares reports whether each entry of n is a sum of squares, which is 0 where they are.
func sumsSquares(n *Node) bool {
	in := children(n)
	switch r := ruleOf(n).(type) {
	case shapeRule, viewRule:
		return sumsSquares(in[0])
	case affine:
		return r.b == 0 && r.a > 0 && sumsSquares(in[0])
	case named:
		switch r {
		case dotOp, rowDot, colDot, opMul:
			return in[0] == in[1]
		case sumAllOp, sumRows, sumCols:
			return sumsSquares(in[0])
		case opAdd:
			return sumsSquares(in[0]) && sumsSquares(in[1])
		}
	}
	return false
}

// Log1p returns log(1+a) elementwise, precise for small a.
func Log1p(a *Node) *Node { return apply1(fnLog1p, a) }

// Expm1 returns e^a - 1 elementwise, precise for small a.
func Expm1(a *Node) *Node { return apply1(fnExpm1, a) }

// Erf returns the error function 2/√π ∫_0^a e^{−t²} dt elementwise.
func Erf(a *Node) *Node { return apply1(fnErf, a) }

// Tanh returns the hyperbolic tangent elementwise.
func Tanh(a *Node) *Node { return apply1(fnTanh, a) }

// Sigmoid returns 1/(1+e^-a) elementwise, without a cut-off in the tails.
func Sigmoid(a *Node) *Node { return apply1(fnSigmoid, a) }

// Softplus returns log(1+e^a) elementwise, without overflow and without a cut-off in the tails.
func Softplus(a *Node) *Node { return apply1(fnSoftplus, a) }

// ReLU returns max(a, 0) elementwise; its derivative at 0 is taken as 0.
func ReLU(a *Node) *Node { return apply1(fnReLU, a) }

// Step returns 1 where a > 0 and 0 elsewhere; its derivative is 0.
func Step(a *Node) *Node { return apply1(fnStep, a) }

// Sin returns the sine elementwise.
func Sin(a *Node) *Node { return apply1(fnSin, a) }

// Cos returns the cosine elementwise.
func Cos(a *Node) *Node { return apply1(fnCos, a) }

// The elementwise functions of two inputs of the same shape.
const (
	opAdd  named = "Add"
	opSub  named = "Sub"
	opMul  named = "Mul"
	opDiv  named = "Div"
	opGate named = "Gate" // the second where the first is positive, else 0
)

// init defines the ops: the kernel of each, and the adjoints of its inputs by the adjoint g of its
// output.
func init() {
	define(map[named]definition{
		fnExp: {mapping(kernel.Exp, kernel.Exp),
			func(_ nodes, out, g *Node) nodes { return nodes{Mul(g, out)} }},
		fnLog: {mapping(kernel.Log, kernel.Log),
			func(in nodes, _, g *Node) nodes { return nodes{Div(g, in[0])} }},
		fnLog1p: {computing(num.Log1p),
			func(in nodes, _, g *Node) nodes { return nodes{Div(g, Offset(1, in[0]))} }},
		fnExpm1: {computing(num.Expm1), slope(Exp)}, // not 1 + out, which loses its digits where e^a is small
		fnErf: {mapping(kernel.Erf, kernel.Erf),
			slope(func(a *Node) *Node { return Scale(2/math.SqrtPi, Exp(Neg(Square(a)))) })},
		fnSqrt: {mapping(kernel.Sqrt, kernel.Sqrt),
			func(_ nodes, out, g *Node) nodes { return nodes{Scale(.5, Div(g, out))} }},
		fnTanh: {mapping(kernel.Tanh, kernel.Tanh),
			func(_ nodes, out, g *Node) nodes { return nodes{Mul(g, Offset(1, Neg(Square(out))))} }},
		fnSigmoid: {mapping(kernel.Sigmoid, kernel.Sigmoid), func(in nodes, out, g *Node) nodes {
			return nodes{Mul(g, Mul(out, Sigmoid(Neg(in[0]))))} // σ(a)σ(−a), not σ(1−σ): right in both tails
		}},
		fnSoftplus: {mapping(kernel.Log1pExp, kernel.Log1pExp), slope(Sigmoid)},
		fnReLU: {cheap(mapping(kernel.ReLU, kernel.ReLU)), func(_ nodes, out, g *Node) nodes {
			return nodes{gate(out, g)} // out is positive where the input is, which nothing reads then
		}},
		fnStep: {cheap(mapping(kernel.Step, kernel.Step)), noGrad},
		fnSin:  {computing(num.Sin), slope(Cos)},
		fnCos:  {computing(num.Cos), func(in nodes, _, g *Node) nodes { return nodes{Neg(Mul(g, Sin(in[0])))} }},
		opAdd: {arithmetical(engine.Add, combining(addTo, addTo)),
			func(_ nodes, _, g *Node) nodes { return nodes{g, g} }},
		opSub: {arithmetical(engine.Other, combining(kernel.SubTo, kernel.SubTo)),
			func(_ nodes, _, g *Node) nodes { return nodes{g, Neg(g)} }},
		opGate: {cheap(combining(kernel.Gate, kernel.Gate)),
			func(in nodes, _, g *Node) nodes { return nodes{nil, gate(in[0], g)} }},
		opMul: {arithmetical(engine.Mul, combining(kernel.MulTo, kernel.MulTo)), bilinear(Mul, Mul)},
		opDiv: {combining(kernel.DivTo, kernel.DivTo),
			func(in nodes, out, g *Node) nodes { return nodes{Div(g, in[1]), Neg(Mul(g, Div(out, in[1])))} }},
	})
}

// slope is the gradient of a function of one input whose derivative is another function of it.
func slope(derivative func(a *Node) *Node) func(in nodes, out, g *Node) nodes {
	return func(in nodes, _, g *Node) nodes { return nodes{Mul(g, derivative(in[0]))} }
}

// linear is the gradient of a linear function of one input, by its adjoint.
func linear(adjoint func(g *Node) *Node) func(in nodes, out, g *Node) nodes {
	return func(_ nodes, _, g *Node) nodes { return nodes{adjoint(g)} }
}

// bilinear is the gradient of a product of two inputs: the adjoint of each is made of the output's
// and the other input.
func bilinear(first, second func(g, other *Node) *Node) func(in nodes, out, g *Node) nodes {
	return func(in nodes, _, g *Node) nodes { return nodes{first(g, in[1]), second(g, in[0])} }
}

// noGrad is the gradient of a function of one input whose derivative is 0 wherever there is one.
func noGrad(nodes, *Node, *Node) nodes { return nodes{nil} }

// apply2 adds a rule that is applied entry by entry to two inputs.
func apply2(o named, a, b *Node) *Node {
	same := o.broadcast(a, b)
	return newNode(o, shapeOf(same[0]), same...)
}

// Add returns a + b. Shapes that differ are broadcast as NumPy does, here and in other functions of
// two inputs that are computed entry by entry: they are compared from their last lengths on, and a
// length of 1, or one that is not there, is repeated to the other's. A vector is then a row.
func Add(a, b *Node) *Node {
	same := opAdd.broadcast(a, b)
	a, b = same[0], same[1]
	if a == b {
		return Scale(2, a)
	}
	for _, ab := range [][2]*Node{{a, b}, {b, a}} {
		switch v := ab[0]; ruleOf(v) {
		case repeatRow:
			return AddRow(ab[1], children(v)[0])
		case repeatCol:
			return AddCol(ab[1], children(v)[0])
		}
	}
	for _, ab := range [][2]*Node{{b, a}, {a, b}} { // b first: a sum's newest term is its second
		if r, ok := ruleOf(ab[0]).(placeRule); ok {
			return newNode(addPartRule{r.off}, a.Shape(), ab[1], children(ab[0])[0])
		}
	}
	if all := beside(a, b); all != nil {
		return all
	}
	return newNode(opAdd, a.Shape(), a, b)
}

// Sub returns a − b, with shapes broadcast.
func Sub(a, b *Node) *Node {
	if !equal(shapeOf(a), shapeOf(b)) {
		opSub.broadcastShape(a, b)
		return Add(a, Neg(b))
	}
	return newNode(opSub, a.Shape(), a, b)
}

// Mul returns the elementwise product a∘b, with shapes broadcast.
func Mul(a, b *Node) *Node {
	same := opMul.broadcast(a, b)
	a, b = same[0], same[1]
	if c, ok := constOf(a); ok {
		return Scale(c, b)
	}
	if c, ok := constOf(b); ok {
		return Scale(c, a)
	}
	ca, a := exactFactor(a)
	cb, b := exactFactor(b)
	if ca != 1 || cb != 1 {
		return Scale(ca*cb, Mul(a, b))
	}
	for _, ab := range [][2]*Node{{a, b}, {b, a}} {
		switch v := ab[0]; ruleOf(v) {
		case repeatRow:
			return ColScale(ab[1], children(v)[0])
		case repeatCol:
			return RowScale(ab[1], children(v)[0])
		case fillOp:
			return ScaleBy(children(v)[0], ab[1])
		}
	}
	return newNode(opMul, a.Shape(), a, b)
}

// gate returns b where a is positive, and 0 elsewhere: b∘Step(a) without 0·∞.
func gate(a, b *Node) *Node {
	c, b := exactFactor(b)
	if _, constant := constOf(b); constant {
		return Scale(c, Mul(b, Step(a)))
	}
	switch ruleOf(b) {
	case repeatRow, repeatCol, fillOp:
		return Scale(c, Mul(b, Step(a)))
	}
	return Scale(c, newNode(opGate, b.Shape(), a, b))
}

// exactFactor returns n as c·a with c a power of two or its negative, which can be multiplied in
// later without a change of a digit: such factors meet and cancel. c is 1 where n has none.
func exactFactor(n *Node) (c float64, a *Node) {
	if f, ok := ruleOf(n).(affine); ok && f.b == 0 && isPowerOfTwo(f.a) {
		return f.a, children(n)[0]
	}
	return 1, n
}

// Div returns a/b elementwise, with shapes broadcast.
func Div(a, b *Node) *Node { return apply2(opDiv, a, b) }

// Square returns a∘a.
func Square(a *Node) *Node { return Mul(a, a) }

// Sum returns the sum of one or more nodes, with shapes broadcast.
func Sum(a *Node, more ...*Node) *Node {
	for _, b := range more {
		a = Add(a, b)
	}
	return a
}

// affine is a·x + b with constants a and b.
type affine struct{ a, b float64 }

// Scale returns c·a for a constant c that is not NaN.
func Scale(c float64, a *Node) *Node {
	shapeOf(a)
	notNaN("Scale", c)
	if f, ok := ruleOf(a).(affine); ok && f.b == 0 {
		return Scale(c*f.a, children(a)[0])
	}
	if k, ok := constOf(a); ok {
		return Uniform(c*k, a)
	}
	if c == 1 {
		return a
	}
	if ruleOf(a) == scaleByOp { // one number less, and not each entry, is multiplied
		return ScaleBy(Scale(c, children(a)[0]), children(a)[1])
	}
	return apply1(affine{a: c}, a)
}

func notNaN(what string, c float64) {
	if math.IsNaN(c) {
		failf("%s: the constant must not be NaN", what)
	}
}

// Neg returns −a.
func Neg(a *Node) *Node { return Scale(-1, a) }

// Offset returns a + c for a constant c that is not NaN.
func Offset(c float64, a *Node) *Node {
	notNaN("Offset", c)
	return apply1(affine{1, c}, a)
}

func (f affine) String() string {
	if f.b == 0 {
		return fmt.Sprintf("Scale(%v)", f.a)
	}
	return fmt.Sprintf("Offset(%v)", f.b)
}
func (f affine) grad(_ nodes, _, g *Node) nodes { return nodes{Scale(f.a, g)} }
func (f affine) lower(nodes) engine.Op {
	return arithmetical(engine.Other, overwriting(with(f, "r", affineKernel, affineKernel)))
}

// affineKernel sets dst to a·v + b.
func affineKernel[T Float](f affine, c *call[T]) {
	if f.b == 0 {
		scale(c.Dst.V, T(f.a), c.In[0].V)
		return
	}
	// Two kernels for a piece that stays in cache, with the bits of T(T(a)*v) + T(b), are
	// several times as fast as a loop.
	from, to := c.In[0].V, c.Dst.V
	b := c.Block[:min(len(c.Block), len(to))]
	linalg.Fill(b, T(f.b))
	for i := 0; i < len(to); i += len(b) {
		n := min(len(b), len(to)-i)
		d := to[i:][:n]
		kernel.Scale(d, T(f.a), from[i:][:n])
		kernel.AddTo(d, d, b[:n])
	}
}

// constant is one number in the shape of its input, whose value is not read.
type constant struct{ v float64 }

// Uniform returns v in each entry of like's shape. The values of like are not read.
func Uniform(v float64, like *Node) *Node { return apply1(constant{v}, like) }

// constOf returns the number that fills n, if n is such a constant.
func constOf(n *Node) (float64, bool) {
	k, ok := ruleOf(n).(constant)
	return k.v, ok
}

func (k constant) String() string                 { return fmt.Sprintf("Const(%v)", k.v) }
func (k constant) grad(nodes, *Node, *Node) nodes { return nodes{nil} }
func (k constant) lower(nodes) engine.Op {
	return with(k.v, "n", fillKernel, fillKernel)
}

func fillKernel[T Float](v float64, c *call[T]) { linalg.Fill(c.Dst.V, T(v)) }

// isPowerOfTwo reports whether c is a power of two or its negative, which changes no digit of a
// product.
func isPowerOfTwo(c float64) bool {
	fraction, _ := math.Frexp(math.Abs(c))
	return fraction == .5
}
