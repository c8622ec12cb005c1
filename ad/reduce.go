package ad

import "dsbo/internal/kernel"

// dotRule is ⟨a, b⟩ over all entries.
type dotRule struct{}

// Dot returns the scalar Σ a_ij b_ij of two nodes of the same shape.
func Dot(a, b *Node) *Node {
	sameShape(dotRule{}, a, b)
	if c, ok := constOf(a); ok {
		return Scale(c, SumAll(b))
	}
	if c, ok := constOf(b); ok {
		return Scale(c, SumAll(a))
	}
	return apply(dotRule{}, scalarShape, a, b)
}

func (dotRule) String() string { return "Dot" }
func (dotRule) split() split   { return split{args: "rr", sum: true} }
func (dotRule) grad(in []*Node, out, g *Node) []*Node {
	return []*Node{ScaleBy(g, in[1]), ScaleBy(g, in[0])}
}
func (dotRule) kernels() (func(*call[float32]), func(*call[float64])) {
	return dotKernel[float32], dotKernel[float64]
}

func dotKernel[T Float](c *call[T]) { c.addScalar(kernel.Dot(c.in[0].v, c.in[1].v)) }

// addScalar stores or adds one number into a scalar output.
func (c *call[T]) addScalar(s T) {
	if !c.first {
		s += c.dst.v[0]
	}
	c.dst.v[0] = s
}

type sumAllRule struct{}

// SumAll returns the scalar sum of all entries.
func SumAll(a *Node) *Node { return apply(sumAllRule{}, scalarShape, a) }

// Mean returns the scalar mean of all entries.
func Mean(a *Node) *Node {
	r, c := dims(a)
	return Scale(1/float64(r*c), SumAll(a))
}

func (sumAllRule) String() string { return "SumAll" }
func (sumAllRule) split() split   { return split{args: "r", sum: true} }
func (sumAllRule) grad(in []*Node, out, g *Node) []*Node {
	return []*Node{fill(g, in[0])}
}
func (sumAllRule) kernels() (func(*call[float32]), func(*call[float64])) {
	return sumKernel[float32], sumKernel[float64]
}

func sumKernel[T Float](c *call[T]) { c.addScalar(kernel.Sum(c.in[0].v)) }

// fillRule spreads a scalar over the shape of its second input, which is not read.
type fillRule struct{}

func fill(s, like *Node) *Node {
	if c, ok := constOf(s); ok {
		return constLike(c, like)
	}
	return apply(fillRule{}, like.Shape(), s, like)
}

func (fillRule) String() string { return "Fill" }
func (fillRule) split() split   { return split{args: "wn"} }
func (fillRule) grad(in []*Node, out, g *Node) []*Node {
	return []*Node{SumAll(g), nil}
}
func (fillRule) kernels() (func(*call[float32]), func(*call[float64])) {
	return spreadKernel[float32], spreadKernel[float64]
}

func spreadKernel[T Float](c *call[T]) {
	for i := range c.dst.v {
		c.dst.v[i] = c.in[0].v[0]
	}
}

type scaleByRule struct{}

// ScaleBy returns s·a for a scalar node s.
func ScaleBy(s, a *Node) *Node {
	if !shapeOf(s).IsScalar() {
		failf("ScaleBy: the first input must be a scalar; its shape is %v", s.Shape())
	}
	if c, ok := constOf(s); ok {
		return Scale(c, a)
	}
	return apply(scaleByRule{}, shapeOf(a), s, a)
}

func (scaleByRule) String() string { return "ScaleBy" }
func (scaleByRule) split() split   { return split{args: "wr"} }
func (scaleByRule) grad(in []*Node, out, g *Node) []*Node {
	return []*Node{Dot(g, in[1]), ScaleBy(in[0], g)}
}
func (scaleByRule) kernels() (func(*call[float32]), func(*call[float64])) {
	return scaleByKernel[float32], scaleByKernel[float64]
}

func scaleByKernel[T Float](c *call[T]) { kernel.Scale(c.dst.v, c.in[0].v[0], c.in[1].v) }
