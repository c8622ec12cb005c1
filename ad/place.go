package ad

import (
	"fmt"

	"gorgonia.org/tensor"

	"dsbo/ad/internal/engine"
)

// partRule reads a block out of a flat vector; placeRule puts one into zeros. They are each
// other's adjoint.
type (
	partRule  struct{ off int }
	placeRule struct{ off, n int }
	shapeRule struct{ r, c int }
)

// Part returns entries off, off+1, ... of the vector v as an r×c matrix (row-major).
// In a compiled program it is a view and costs nothing.
func Part(v *Node, off, r, c int) *Node { return part(v, off, matShape(r, c)) }

// PartVec returns entries off ... off+n-1 of the vector v.
func PartVec(v *Node, off, n int) *Node { return part(v, off, vecShape(n)) }

// part returns the entries of vector v from off on, in a shape; v itself if that is all of it.
func part(v *Node, off int, shape tensor.Shape) *Node {
	n, c := dims(v)
	if c != 1 || off < 0 || off+shape.TotalSize() > n {
		failf("Part: the part must lie inside the vector; %v at offset %d is not inside %v", shape, off, v.Shape())
	}
	if off == 0 && equal(shape, v.Shape()) {
		return v
	}
	return newNode(partRule{off}, shape, v)
}

// Place returns the vector of length n with the entries of a from offset off on, and zeros
// elsewhere.
func Place(a *Node, off, n int) *Node {
	if off < 0 || off+shapeOf(a).TotalSize() > n {
		failf("Place: the input must fit; shape %v at offset %d does not fit into length %d", a.Shape(), off, n)
	}
	if n == a.Shape().TotalSize() {
		return Flatten(a)
	}
	return newNode(placeRule{off, n}, vecShape(n), a)
}

func (r partRule) String() string { return fmt.Sprintf("Part(%d)", r.off) }
func (r partRule) grad(in nodes, _, g *Node) nodes {
	return nodes{Place(g, r.off, in[0].Shape()[0])}
}
func (r partRule) lower(nodes) engine.Op {
	return placed(engine.View, r.off, with(r.off, "", partKernel, partKernel))
}

// placed gives an op a kind and the offset that it is about.
func placed(kind engine.Kind, off int, o engine.Op) engine.Op {
	o.Kind, o.Offset = kind, off
	return o
}

func partKernel[T Float](off int, c *call[T]) { copy(c.Dst.V, c.In[0].V[off:]) }

func (r placeRule) String() string { return fmt.Sprintf("Place(%d, %d)", r.off, r.n) }
func (r placeRule) grad(in nodes, _, g *Node) nodes {
	return nodes{part(g, r.off, in[0].Shape())}
}
func (r placeRule) lower(nodes) engine.Op {
	o := placed(engine.Place, r.off, with(r.off, "", placeKernel, placeKernel))
	o.Tail = true
	return o
}

func placeKernel[T Float](off int, c *call[T]) {
	clear(c.Dst.V[:off])
	end := off + copy(c.Dst.V[off:], c.In[0].V)
	clear(c.Dst.V[end:])
}

// addPartRule adds a block to a part of a vector: what is left of adding a vector that [Place]
// made, without the zeros.
type addPartRule struct{ off int }

func (r addPartRule) String() string { return fmt.Sprintf("AddPart(%d)", r.off) }
func (r addPartRule) grad(in nodes, _, g *Node) nodes {
	return nodes{g, part(g, r.off, in[1].Shape())}
}
func (r addPartRule) lower(nodes) engine.Op {
	o := placed(engine.AddPart, r.off, with(r.off, "", addPartKernel, addPartKernel))
	o.Tail, o.InPlace = true, first
	return o
}

// addPartKernel adds the second input to the first one's entries from off on.
func addPartKernel[T Float](off int, c *call[T]) {
	if &c.Dst.V[0] != &c.In[0].V[0] { // else the sum continues in place
		copy(c.Dst.V, c.In[0].V)
	}
	d := c.Dst.V[off:][:len(c.In[1].V)]
	addTo(d, d, c.In[1].V)
}

// Reshape returns a's entries, in row-major order, as an r×c matrix. In a compiled program it is a
// view.
func Reshape(a *Node, r, c int) *Node { return reshape(a, matShape(r, c)) }

// Flatten returns a's entries, in row-major order, as a vector.
func Flatten(a *Node) *Node { return reshape(a, vecShape(shapeOf(a).TotalSize())) }

// reshape returns a in another shape with as many entries; a itself if the shape is the same.
func reshape(a *Node, s tensor.Shape) *Node {
	if shapeOf(a).TotalSize() != s.TotalSize() {
		failf("Reshape: the number of entries must stay; %v has %d, %v has %d",
			a.Shape(), a.Shape().TotalSize(), s, s.TotalSize())
	}
	if equal(a.Shape(), s) {
		return a
	}
	r, c := shapeDims(s)
	return newNode(shapeRule{r, c}, s, a)
}

func (r shapeRule) String() string { return fmt.Sprintf("Reshape(%d, %d)", r.r, r.c) }
func (r shapeRule) grad(in nodes, _, g *Node) nodes {
	return nodes{reshape(g, in[0].Shape())}
}
func (r shapeRule) lower(nodes) engine.Op { return identity() }

// identity is an op whose output is its input.
func identity() engine.Op {
	return placed(engine.View, 0, kernels("r", copyKernel, copyKernel))
}
