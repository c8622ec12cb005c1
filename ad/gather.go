package ad

import (
	"fmt"

	"gorgonia.org/tensor"

	"dsbo"
	"dsbo/internal/kernel"
)

// scatterRule adds rows into n zero rows by index: the adjoint of gatherOp, which reads rows by index.
type scatterRule struct{ n int }

// Gather returns rows idx_0, idx_1, ... of a (entries, if a is a vector). idx is a vector whose entries
// are whole numbers in [0, rows of a); it is data, not differentiated. A program reports an entry out
// of range when it runs. In float32 a has at most 2²⁴ rows, for larger indices are not exact.
func Gather(a, idx *Node) *Node {
	m, one := dims(idx)
	r, c := dims(a)
	if one != 1 {
		failf("Gather: indices must be a vector; their shape is %v", idx.Shape())
	}
	if a.Dtype() == tensor.Float32 && r > 1<<24 {
		failf("Gather: there must be at most %d rows in float32; there are %d: compute in float64", 1<<24, r)
	}
	if len(a.Shape()) == 1 {
		return apply(gatherOp, vecShape(m), a, idx)
	}
	return apply(gatherOp, matShape(m, c), a, idx)
}

// scatter adds row i of g to row idx_i of n zero rows.
func scatter(g, idx *Node, n int) *Node {
	if len(g.Shape()) == 1 {
		return apply(scatterRule{n}, vecShape(n), g, idx)
	}
	_, c := dims(g)
	return apply(scatterRule{n}, matShape(n, c), g, idx)
}

func gatherKernel[T Float](c *call[T]) {
	for i := range c.dst.r {
		copy(c.dst.row(i), c.in[0].rowAt(c.in[1].v[i]))
	}
}

// rowAt returns the row whose index is v.
func (m mat[T]) rowAt(v T) []T {
	if !(v >= 0 && v < T(m.r)) || v != T(int(v)) {
		panic(misuse{dsbo.Errorf(dsbo.ErrShape, "Gather: indices must be whole numbers from 0 to %d; one is %v", m.r-1, v)})
	}
	return m.row(int(v))
}

func (r scatterRule) String() string { return fmt.Sprintf("Scatter(%d)", r.n) }
func (r scatterRule) split() split   { return split{args: "rr", sum: true} }
func (r scatterRule) grad(in []*Node, out, g *Node) []*Node {
	return []*Node{Gather(g, in[1]), nil}
}
func (r scatterRule) kernels() (func(*call[float32]), func(*call[float64])) {
	return scatterKernel[float32], scatterKernel[float64]
}

func scatterKernel[T Float](c *call[T]) {
	c.clear()
	for i := range c.in[0].r {
		d := c.dst.rowAt(c.in[1].v[i])
		kernel.AddTo(d, d, c.in[0].row(i))
	}
}
