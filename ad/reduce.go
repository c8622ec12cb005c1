package ad

import (
	"math"

	"dsbo/internal/kernel"
)

// Sums over all entries, scalars over all entries, and what is done to each row by itself.
const (
	dotOp       named = "Dot"
	sumAllOp    named = "SumAll"
	fillOp      named = "Fill" // spreads a scalar over the shape of its second input, which is not read
	scaleByOp   named = "ScaleBy"
	softmaxOp   named = "RowSoftmax"
	logSumExpOp named = "RowLogSumExp"
	gatherOp    named = "Gather"
)

var reductions = map[named]definition{
	dotOp: {bothRowsSummed, func(in nodes, _, g *Node) nodes { return nodes{ScaleBy(g, in[1]), ScaleBy(g, in[0])} },
		dotKernel[float32], dotKernel[float64]},
	sumAllOp: {rowsSummed, func(in nodes, _, g *Node) nodes { return nodes{fill(g, in[0])} },
		sumKernel[float32], sumKernel[float64]},
	fillOp: {split{args: "wn"}, func(_ nodes, _, g *Node) nodes { return nodes{SumAll(g), nil} },
		spreadKernel[float32], spreadKernel[float64]},
	scaleByOp: {split{args: "wr"}, func(in nodes, _, g *Node) nodes { return nodes{Dot(g, in[1]), ScaleBy(in[0], g)} },
		scaleByKernel[float32], scaleByKernel[float64]},
	softmaxOp: {rowsIn, func(_ nodes, p, g *Node) nodes {
		return nodes{Mul(p, AddCol(g, Neg(RowDot(g, p))))} // P ∘ (G − ⟨G, P⟩ per row)
	},
		softmaxKernel[float32], softmaxKernel[float64]},
	logSumExpOp: {rowsIn, func(in nodes, _, g *Node) nodes { return nodes{RowScale(RowSoftmax(in[0]), g)} },
		logSumExpKernel[float32], logSumExpKernel[float64]},
	gatherOp: {split{args: "wr"}, func(in nodes, _, g *Node) nodes {
		return nodes{scatter(g, in[1], in[0].Shape()[0]), nil}
	},
		gatherKernel[float32], gatherKernel[float64]},
}

// Dot returns the scalar Σ a_ij b_ij of two nodes of the same shape.
func Dot(a, b *Node) *Node {
	dotOp.sameShape(a, b)
	if c, ok := constOf(a); ok {
		return Scale(c, SumAll(b))
	}
	if c, ok := constOf(b); ok {
		return Scale(c, SumAll(a))
	}
	return apply(dotOp, scalarShape, a, b)
}

// SumAll returns the scalar sum of all entries.
func SumAll(a *Node) *Node { return apply(sumAllOp, scalarShape, a) }

// Mean returns the scalar mean of all entries.
func Mean(a *Node) *Node {
	r, c := dims(a)
	return Scale(1/float64(r*c), SumAll(a))
}

// fill returns the scalar s in the shape of like.
func fill(s, like *Node) *Node {
	if c, ok := constOf(s); ok {
		return Uniform(c, like)
	}
	return apply(fillOp, like.Shape(), s, like)
}

// ScaleBy returns s·a for a scalar node s.
func ScaleBy(s, a *Node) *Node {
	if !shapeOf(s).IsScalar() {
		failf("ScaleBy: the first input must be a scalar; its shape is %v", s.Shape())
	}
	if c, ok := constOf(s); ok {
		return Scale(c, a)
	}
	c, a := exactFactor(a) // one number is multiplied, and not each entry
	return apply(scaleByOp, shapeOf(a), Scale(c, s), a)
}

// isPowerOfTwo reports whether c is a power of two or its negative, which changes no digit of
// a product.
func isPowerOfTwo(c float64) bool {
	fraction, _ := math.Frexp(math.Abs(c))
	return fraction == .5
}

// RowSoftmax returns the softmax of each row of a matrix, stable at any size of the entries.
func RowSoftmax(a *Node) *Node {
	softmaxOp.matrix(a)
	return apply1(softmaxOp, a)
}

// RowLogSumExp returns log Σ_j e^{a_ij}, one entry a row, stable at any size of the entries.
func RowLogSumExp(a *Node) *Node {
	r, _ := logSumExpOp.matrix(a)
	return apply(logSumExpOp, vecShape(r), a)
}

func dotKernel[T Float](c *call[T])     { c.addScalar(kernel.Dot(c.in[0].v, c.in[1].v)) }
func sumKernel[T Float](c *call[T])     { c.addScalar(kernel.Sum(c.in[0].v)) }
func scaleByKernel[T Float](c *call[T]) { scale(c.dst.v, c.in[0].v[0], c.in[1].v) }

// addScalar stores or adds one number into a scalar output.
func (c *call[T]) addScalar(s T) {
	if !c.first {
		s += c.dst.v[0]
	}
	c.dst.v[0] = s
}

func spreadKernel[T Float](c *call[T]) {
	for i := range c.dst.v {
		c.dst.v[i] = c.in[0].v[0]
	}
}

func softmaxKernel[T Float](c *call[T]) {
	kernel.RowSoftmax(c.in[0].r, c.in[0].c, c.dst.v, c.in[0].v)
}

func logSumExpKernel[T Float](c *call[T]) {
	kernel.RowLogSumExp(c.in[0].r, c.in[0].c, c.dst.v, c.in[0].v)
}
