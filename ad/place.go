package ad

import (
	"fmt"

	"gorgonia.org/tensor"
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

func part(v *Node, off int, shape tensor.Shape) *Node {
	n, c := dims(v)
	if c != 1 || off < 0 || off+shape.TotalSize() > n {
		failf("Part: the part must lie inside the vector; %v at offset %d is not inside %v", shape, off, v.Shape())
	}
	if off == 0 && equal(shape, v.Shape()) {
		return v
	}
	return apply(partRule{off}, shape, v)
}

// Place returns the vector of length n that holds the entries of a from offset off on, and
// zeros elsewhere.
func Place(a *Node, off, n int) *Node {
	if off < 0 || off+shapeOf(a).TotalSize() > n {
		failf("Place: the input must fit; shape %v at offset %d does not fit into length %d", a.Shape(), off, n)
	}
	if n == a.Shape().TotalSize() {
		return Flatten(a)
	}
	return apply(placeRule{off, n}, vecShape(n), a)
}

func (r partRule) String() string { return fmt.Sprintf("Part(%d)", r.off) }
func (r partRule) split() split   { return split{} }
func (r partRule) grad(in []*Node, out, g *Node) []*Node {
	return []*Node{Place(g, r.off, in[0].Shape()[0])}
}
func (r partRule) kernels() (func(*call[float32]), func(*call[float64])) {
	return partKernel[float32](r.off), partKernel[float64](r.off)
}

func partKernel[T Float](off int) func(*call[T]) {
	return func(c *call[T]) { copy(c.dst.v, c.in[0].v[off:]) }
}

func (r placeRule) String() string { return fmt.Sprintf("Place(%d, %d)", r.off, r.n) }
func (r placeRule) split() split   { return split{} }
func (r placeRule) grad(in []*Node, out, g *Node) []*Node {
	return []*Node{part(g, r.off, in[0].Shape())}
}
func (r placeRule) kernels() (func(*call[float32]), func(*call[float64])) {
	return placeKernel[float32](r.off), placeKernel[float64](r.off)
}

func placeKernel[T Float](off int) func(*call[T]) {
	return func(c *call[T]) {
		clear(c.dst.v[:off])
		end := off + copy(c.dst.v[off:], c.in[0].v)
		clear(c.dst.v[end:])
	}
}

// addPartRule adds a block to a part of a vector: what is left of adding a vector that [Place]
// made, without the zeros.
type addPartRule struct{ off int }

func (r addPartRule) String() string { return fmt.Sprintf("AddPart(%d)", r.off) }
func (r addPartRule) split() split   { return split{} }
func (r addPartRule) grad(in []*Node, out, g *Node) []*Node {
	return []*Node{g, part(g, r.off, in[1].Shape())}
}
func (r addPartRule) kernels() (func(*call[float32]), func(*call[float64])) {
	return addPartKernel[float32](r.off), addPartKernel[float64](r.off)
}

func addPartKernel[T Float](off int) func(*call[T]) {
	return func(c *call[T]) {
		if &c.dst.v[0] != &c.in[0].v[0] { // else the sum goes on in place
			copy(c.dst.v, c.in[0].v)
		}
		d := c.dst.v[off:][:len(c.in[1].v)]
		addTo(d, d, c.in[1].v)
	}
}

// Reshape returns a's entries, in row-major order, as an r×c matrix. In a compiled program it is
// a view.
func Reshape(a *Node, r, c int) *Node { return reshape(a, matShape(r, c)) }

// Flatten returns a's entries, in row-major order, as a vector.
func Flatten(a *Node) *Node { return reshape(a, vecShape(shapeOf(a).TotalSize())) }

func reshape(a *Node, s tensor.Shape) *Node {
	if shapeOf(a).TotalSize() != s.TotalSize() {
		failf("Reshape: the number of entries must stay; %v has %d, %v has %d", a.Shape(), a.Shape().TotalSize(),
			s, s.TotalSize())
	}
	if equal(a.Shape(), s) {
		return a
	}
	r, c := shapeDims(s)
	return apply(shapeRule{r, c}, s, a)
}

func (r shapeRule) String() string { return fmt.Sprintf("Reshape(%d, %d)", r.r, r.c) }
func (r shapeRule) split() split   { return split{args: "r"} }
func (r shapeRule) grad(in []*Node, out, g *Node) []*Node {
	return []*Node{reshape(g, in[0].Shape())}
}
func (r shapeRule) kernels() (func(*call[float32]), func(*call[float64])) {
	return copyKernel[float32], copyKernel[float64]
}

func copyKernel[T Float](c *call[T]) { copy(c.dst.v, c.in[0].v) }
