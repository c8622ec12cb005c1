package ad

import (
	"math"
	"slices"

	"dsbo/ad/internal/engine"
	"dsbo/internal/kernel"
	"dsbo/internal/linalg"
)

// Sums over all entries, scalars over all entries, and what is done to each row by itself.
const (
	dotOp       named = "Dot"
	sumAllOp    named = "SumAll"
	fillOp      named = "Fill" // spreads a scalar over the shape of its second input, which is not read
	scaleByOp   named = "ScaleBy"
	softmaxOp   named = "RowSoftmax"
	logSumExpOp named = "RowLogSumExp"
)

// init defines the ops: the kernel of each, and the adjoints of its inputs by the adjoint g of its
// output. A kernel's letter for an input is "r" if it is cut by rows, "w" if it is read whole, "n"
// if it is not read.
func init() {
	scaleBy := arithmetical(engine.Other, kernels("wr", scaleByKernel, scaleByKernel))
	scaleBy.InPlace = second
	define(map[named]definition{
		dotOp: {uncut(summing("rr", dotKernel, dotKernel)), bilinear(ScaleBy, ScaleBy)},
		sumAllOp: {uncut(summing("r", sumKernel, sumKernel)),
			func(in nodes, _, g *Node) nodes { return nodes{fill(g, in[0])} }},
		fillOp: {kernels("wn", spreadKernel, spreadKernel),
			func(_ nodes, _, g *Node) nodes { return nodes{SumAll(g), nil} }},
		scaleByOp: {scaleBy,
			func(in nodes, _, g *Node) nodes { return nodes{Dot(g, in[1]), ScaleBy(in[0], g)} }},
		softmaxOp: {kernels("r", softmaxKernel, softmaxKernel), func(_ nodes, p, g *Node) nodes {
			return nodes{Mul(p, AddCol(g, Neg(RowDot(g, p))))} // P ∘ (G − ⟨G, P⟩ per row)
		}},
		logSumExpOp: {kernels("r", logSumExpKernel, logSumExpKernel),
			func(in nodes, _, g *Node) nodes { return nodes{RowScale(RowSoftmax(in[0]), g)} }},
	})
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
	return newNode(dotOp, scalarShape, a, b)
}

// SumAll returns the scalar sum of all entries.
func SumAll(a *Node) *Node { return newNode(sumAllOp, scalarShape, a) }

// Mean returns the scalar mean of all entries.
func Mean(a *Node) *Node {
	return Scale(1/some("Mean", shapeOf(a).TotalSize()), SumAll(a))
}

// fill returns the scalar s in the shape of like.
func fill(s, like *Node) *Node {
	if c, ok := constOf(s); ok {
		return Uniform(c, like)
	}
	return newNode(fillOp, like.Shape(), s, like)
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
	return newNode(scaleByOp, shapeOf(a), Scale(c, s), a)
}

// RowSoftmax returns the softmax of each row of a matrix, stable at any size of the entries. A row
// of −Inf alone, such as of scores that are all masked, has zeros, and no derivatives.
func RowSoftmax(a *Node) *Node {
	softmaxOp.matrix(a)
	return apply1(softmaxOp, a)
}

// RowLogSumExp returns log Σ_j e^{a_ij}, one entry a row, stable at any size of the entries: −Inf
// of a row of −Inf alone, with derivatives of 0.
func RowLogSumExp(a *Node) *Node {
	r, _ := logSumExpOp.matrix(a)
	return newNode(logSumExpOp, vecShape(r), a)
}

func dotKernel[T Float](c *call[T])     { addScalar(c, kernel.Dot(c.In[0].V, c.In[1].V)) }
func sumKernel[T Float](c *call[T])     { addScalar(c, kernel.Sum(c.In[0].V)) }
func scaleByKernel[T Float](c *call[T]) { scale(c.Dst.V, c.In[0].V[0], c.In[1].V) }

// addScalar stores or adds one number into a scalar output.
func addScalar[T Float](c *call[T], s T) {
	if !c.First {
		s += c.Dst.V[0]
	}
	c.Dst.V[0] = s
}

func spreadKernel[T Float](c *call[T]) { linalg.Fill(c.Dst.V, c.In[0].V[0]) }

func softmaxKernel[T Float](c *call[T]) {
	kernel.RowSoftmax(c.In[0].R, c.In[0].C, c.Dst.V, c.In[0].V)
	for i := range c.In[0].R {
		if p := c.Dst.Row(i); p[0] != p[0] && math.IsInf(float64(slices.Max(c.In[0].Row(i))), -1) {
			clear(p)
		}
	}
}

func logSumExpKernel[T Float](c *call[T]) {
	kernel.RowLogSumExp(c.In[0].R, c.In[0].C, c.Dst.V, c.In[0].V)
}
