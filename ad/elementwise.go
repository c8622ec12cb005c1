package ad

import (
	"fmt"
	"math"

	"dsbo/internal/kernel"
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
func apply1(r rule, a *Node) *Node { return apply(r, shapeOf(a), a) }

// Exp returns e^a elementwise.
func Exp(a *Node) *Node { return apply1(fnExp, a) }

// Log returns the natural logarithm elementwise.
func Log(a *Node) *Node { return apply1(fnLog, a) }

// Sqrt returns the square root elementwise.
func Sqrt(a *Node) *Node { return apply1(fnSqrt, a) }

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

var elementwise = map[named]definition{
	fnOutputs: {rowsIn, func(_ nodes, _, g *Node) nodes { return nodes{g} },
		func(c *call[float32]) { copy(c.dst.v, c.in[0].v) }, func(c *call[float64]) { copy(c.dst.v, c.in[0].v) }},
	fnExp: {rowsIn, func(_ nodes, out, g *Node) nodes { return nodes{Mul(g, out)} },
		expKernel[float32], expKernel[float64]},
	fnLog: {rowsIn, func(in nodes, _, g *Node) nodes { return nodes{Div(g, in[0])} },
		logKernel[float32], logKernel[float64]},
	fnLog1p: {rowsIn, func(in nodes, _, g *Node) nodes { return nodes{Div(g, Offset(1, in[0]))} },
		mapKernel[float32](num.Log1p), mapKernel[float64](num.Log1p)},
	fnExpm1: {rowsIn, func(in nodes, _, g *Node) nodes {
		return nodes{Mul(g, Exp(in[0]))} // not 1 + out, which loses its digits where e^a is small
	},
		mapKernel[float32](num.Expm1), mapKernel[float64](num.Expm1)},
	fnErf: {rowsIn, func(in nodes, _, g *Node) nodes {
		return nodes{Mul(g, Scale(2/math.SqrtPi, Exp(Neg(Square(in[0])))))}
	},
		erfKernel[float32], erfKernel[float64]},
	fnSqrt: {rowsIn, func(_ nodes, out, g *Node) nodes { return nodes{Scale(.5, Div(g, out))} },
		sqrtKernel[float32], sqrtKernel[float64]},
	fnTanh: {rowsIn, func(_ nodes, out, g *Node) nodes { return nodes{Mul(g, Offset(1, Neg(Square(out))))} },
		tanhKernel[float32], tanhKernel[float64]},
	fnSigmoid: {rowsIn, func(in nodes, out, g *Node) nodes {
		return nodes{Mul(g, Mul(out, Sigmoid(Neg(in[0]))))} // σ(a)σ(−a), not σ(1−σ): right in both tails
	},
		sigmoidKernel[float32], sigmoidKernel[float64]},
	fnSoftplus: {rowsIn, func(in nodes, _, g *Node) nodes { return nodes{Mul(g, Sigmoid(in[0]))} },
		softplusKernel[float32], softplusKernel[float64]},
	// out is positive where the input is, which nothing reads then
	fnReLU: {rowsIn, func(_ nodes, out, g *Node) nodes { return nodes{gate(out, g)} },
		reluKernel[float32], reluKernel[float64]},
	fnStep: {rowsIn, func(nodes, *Node, *Node) nodes { return nodes{nil} }, stepKernel[float32], stepKernel[float64]},
	fnSin: {rowsIn, func(in nodes, _, g *Node) nodes { return nodes{Mul(g, Cos(in[0]))} },
		mapKernel[float32](num.Sin), mapKernel[float64](num.Sin)},
	fnCos: {rowsIn, func(in nodes, _, g *Node) nodes { return nodes{Neg(Mul(g, Sin(in[0])))} },
		mapKernel[float32](num.Cos), mapKernel[float64](num.Cos)},
	opAdd: {bothRowsIn, func(_ nodes, _, g *Node) nodes { return nodes{g, g} }, addKernel[float32], addKernel[float64]},
	opSub: {bothRowsIn, func(_ nodes, _, g *Node) nodes { return nodes{g, Neg(g)} },
		subKernel[float32], subKernel[float64]},
	opGate: {bothRowsIn, func(in nodes, _, g *Node) nodes { return nodes{nil, gate(in[0], g)} }, gateKernel[float32],
		gateKernel[float64]},
	opMul: {bothRowsIn, func(in nodes, _, g *Node) nodes { return nodes{Mul(g, in[1]), Mul(g, in[0])} },
		mulKernel[float32], mulKernel[float64]},
	opDiv: {bothRowsIn, func(in nodes, out, g *Node) nodes {
		return nodes{Div(g, in[1]), Neg(Mul(g, Div(out, in[1])))}
	},
		divKernel[float32], divKernel[float64]},
}

func expKernel[T Float](c *call[T])      { kernel.Exp(c.dst.v, c.in[0].v) }
func logKernel[T Float](c *call[T])      { kernel.Log(c.dst.v, c.in[0].v) }
func tanhKernel[T Float](c *call[T])     { kernel.Tanh(c.dst.v, c.in[0].v) }
func sigmoidKernel[T Float](c *call[T])  { kernel.Sigmoid(c.dst.v, c.in[0].v) }
func softplusKernel[T Float](c *call[T]) { kernel.Log1pExp(c.dst.v, c.in[0].v) }
func erfKernel[T Float](c *call[T])      { kernel.Erf(c.dst.v, c.in[0].v) }
func sqrtKernel[T Float](c *call[T])     { kernel.Sqrt(c.dst.v, c.in[0].v) }
func subKernel[T Float](c *call[T])      { kernel.SubTo(c.dst.v, c.in[0].v, c.in[1].v) }
func gateKernel[T Float](c *call[T])     { kernel.Gate(c.dst.v, c.in[0].v, c.in[1].v) }
func mulKernel[T Float](c *call[T])      { kernel.MulTo(c.dst.v, c.in[0].v, c.in[1].v) }
func divKernel[T Float](c *call[T])      { kernel.DivTo(c.dst.v, c.in[0].v, c.in[1].v) }

func addKernel[T Float](c *call[T]) { addTo(c.dst.v, c.in[0].v, c.in[1].v) }

// addTo sets dst = a + b, with a crew where they are long.
func addTo[T Float](dst, a, b []T) {
	if team := crewFor(dst); team != nil {
		team.Share(len(dst), func(from, to int) { kernel.AddTo(dst[from:to], a[from:to], b[from:to]) })
		return
	}
	kernel.AddTo(dst, a, b)
}

func reluKernel[T Float](c *call[T]) { kernel.ReLU(c.dst.v, c.in[0].v) }
func stepKernel[T Float](c *call[T]) { kernel.Step(c.dst.v, c.in[0].v) }

// mapKernel computes in float64.
func mapKernel[T Float](f func(float64) float64) func(*call[T]) {
	return func(c *call[T]) {
		for i, a := range c.in[0].v {
			c.dst.v[i] = T(f(float64(a)))
		}
	}
}

func apply2(o named, a, b *Node) *Node {
	o.sameShape(a, b)
	return apply(o, a.Shape(), a, b)
}

// Add returns a + b, same shapes.
func Add(a, b *Node) *Node {
	opAdd.sameShape(a, b)
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
	for _, ab := range [][2]*Node{{b, a}, {a, b}} { // a sum grows at its end
		if r, ok := ruleOf(ab[0]).(placeRule); ok {
			return apply(addPartRule{r.off}, a.Shape(), ab[1], children(ab[0])[0])
		}
	}
	if all := beside(a, b); all != nil {
		return all
	}
	return apply(opAdd, a.Shape(), a, b)
}

// Sub returns a − b, same shapes.
func Sub(a, b *Node) *Node { return apply2(opSub, a, b) }

// Mul returns the elementwise product a∘b, same shapes.
func Mul(a, b *Node) *Node {
	opMul.sameShape(a, b)
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
	return apply(opMul, a.Shape(), a, b)
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
	return Scale(c, apply(opGate, b.Shape(), a, b))
}

// exactFactor returns n as c·a with c a power of two or its negative, which can be multiplied in
// later without a change of a digit: such factors meet and cancel. c is 1 where n has none.
func exactFactor(n *Node) (c float64, a *Node) {
	if f, ok := ruleOf(n).(affine); ok && f.b == 0 && isPowerOfTwo(f.a) {
		return f.a, children(n)[0]
	}
	return 1, n
}

// Div returns a/b elementwise, same shapes.
func Div(a, b *Node) *Node { return apply2(opDiv, a, b) }

// Square returns a∘a.
func Square(a *Node) *Node { return Mul(a, a) }

// Sum returns the sum of one or more nodes of the same shape.
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
	if ruleOf(a) == rule(scaleByOp) { // one number less, and not each entry, is multiplied
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
func (f affine) split() split                          { return split{args: "r"} }
func (f affine) grad(in []*Node, out, g *Node) []*Node { return []*Node{Scale(f.a, g)} }
func (f affine) kernels() (func(*call[float32]), func(*call[float64])) {
	return affineKernel[float32](f), affineKernel[float64](f)
}

// scale sets dst = factor·a, with a crew where they are long.
func scale[T Float](dst []T, factor T, a []T) {
	if team := crewFor(dst); team != nil {
		team.Share(len(dst), func(from, to int) { kernel.Scale(dst[from:to], factor, a[from:to]) })
		return
	}
	kernel.Scale(dst, factor, a)
}

func affineKernel[T Float](f affine) func(*call[T]) {
	if f.b == 0 {
		return func(c *call[T]) { scale(c.dst.v, T(f.a), c.in[0].v) }
	}
	return func(c *call[T]) {
		// Two kernels for a piece that stays in cache, with the bits of T(T(a)*v) + T(b), are
		// several times as fast as a loop.
		from, to := c.in[0].v, c.dst.v
		b := c.block[:min(len(c.block), len(to))]
		for i := range b {
			b[i] = T(f.b)
		}
		for i := 0; i < len(to); i += len(b) {
			n := min(len(b), len(to)-i)
			d := to[i:][:n]
			kernel.Scale(d, T(f.a), from[i:][:n])
			kernel.AddTo(d, d, b[:n])
		}
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

// ruleOf returns the rule of an own op, or nil.
func ruleOf(n *Node) rule {
	if o, ok := n.Op().(*op); ok {
		return o.rule
	}
	return nil
}

func (k constant) String() string                        { return fmt.Sprintf("Const(%v)", k.v) }
func (k constant) split() split                          { return split{args: "n"} }
func (k constant) grad(in []*Node, out, g *Node) []*Node { return []*Node{nil} }
func (k constant) kernels() (func(*call[float32]), func(*call[float64])) {
	return fillKernel[float32](k.v), fillKernel[float64](k.v)
}

func fillKernel[T Float](v float64) func(*call[T]) {
	return func(c *call[T]) {
		for i := range c.dst.v {
			c.dst.v[i] = T(v)
		}
	}
}
