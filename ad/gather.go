package ad

import (
	"fmt"

	"gorgonia.org/tensor"

	"dsbo/ad/internal/engine"
	"dsbo/internal/kernel"
)

const gatherOp named = "Gather"

func init() {
	define(map[named]definition{gatherOp: {uncut(kernels("wr", gatherKernel[float32], gatherKernel[float64])),
		func(in nodes, _, g *Node) nodes { return nodes{scatter(g, in[1], in[0].Shape()[0]), nil} }}})
}

// scatterRule adds rows into n zero rows by index: the adjoint of gatherOp, which reads rows by
// index.
type scatterRule struct{ n int }

// Gather returns rows idx_0, idx_1, ... of a (entries, if a is a vector). idx is a vector whose
// entries are whole numbers in [0, rows of a); it is data, not differentiated. A program reports
// an entry out of range when it runs. In float32 a has at most 2²⁴ rows, for larger indices are
// not exact.
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
		return newNode(gatherOp, vecShape(m), a, idx)
	}
	return newNode(gatherOp, matShape(m, c), a, idx)
}

// scatter adds row i of g to row idx_i of n zero rows.
func scatter(g, idx *Node, n int) *Node {
	if len(g.Shape()) == 1 {
		return newNode(scatterRule{n}, vecShape(n), g, idx)
	}
	_, c := dims(g)
	return newNode(scatterRule{n}, matShape(n, c), g, idx)
}

func gatherKernel[T Float](c *call[T]) {
	for i := range c.Dst.R {
		copy(c.Dst.Row(i), c.In[0].RowAt(c.In[1], i))
	}
}

func (r scatterRule) String() string                  { return fmt.Sprintf("Scatter(%d)", r.n) }
func (r scatterRule) grad(in nodes, _, g *Node) nodes { return nodes{Gather(g, in[1]), nil} }
func (r scatterRule) lower(nodes) engine.Op {
	return uncut(summing("rr", scatterKernel[float32], scatterKernel[float64]))
}

func scatterKernel[T Float](c *call[T]) {
	c.Clear()
	for i := range c.In[0].R {
		d := c.Dst.RowAt(c.In[1], i)
		kernel.AddTo(d, d, c.In[0].Row(i))
	}
}
