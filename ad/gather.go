package ad

import (
	"fmt"

	"gorgonia.org/tensor"

	"dsbo/ad/internal/engine"
	"dsbo/internal/kernel"
)

// Gather and SegmentSum are adjoint to each other. As an op of a derivative each keeps the model's
// op, for the error of an index out of range, which has to name it.
const (
	gatherOp     named = "Gather"
	gatherBackOp named = "Gather in the derivative of SegmentSum"
	sumOp              = "SegmentSum(%d)"
	sumBackOp          = "SegmentSum(%d) in the derivative of Gather"
)

// init defines the ops: the kernel of each, and the adjoints of its inputs by the adjoint g of its
// output.
func init() {
	op := uncut(kernels("wr", gatherKernel, gatherKernel))
	adjoint := func(name string) definition {
		return definition{op, func(in nodes, _, g *Node) nodes {
			n := in[0].Shape()[0]
			return nodes{newNode(segmentRule{name, n}, tall(n, g), g, in[1]), nil}
		}}
	}
	define(map[named]definition{gatherOp: adjoint(sumBackOp), gatherBackOp: adjoint(sumOp)})
}

// segmentRule adds rows into n zero rows by index: the adjoint of gatherOp, which reads rows by
// index.
type segmentRule struct {
	name string // with a place for n
	n    int
}

// Gather returns rows idx_0, idx_1, ... of a (entries, if a is a vector). idx is a vector whose
// entries are whole numbers in [0, rows of a); it is data, not differentiated. A program reports
// an entry out of range when it runs. In float32 a has at most 2²⁴ rows, for larger indices are
// not exact.
func Gather(a, idx *Node) *Node {
	r, _ := dims(a)
	checkIndices("Gather", a, idx, r)
	return gather(gatherOp, a, idx)
}

func gather(op named, a, idx *Node) *Node {
	m, _ := dims(idx)
	return newNode(op, tall(m, a), a, idx)
}

// tall is the shape of r rows that are as long as a's, or of r entries if a is a vector.
func tall(r int, a *Node) tensor.Shape {
	if len(a.Shape()) == 1 {
		return vecShape(r)
	}
	_, c := dims(a)
	return matShape(r, c)
}

// checkIndices refuses what is no vector of indices of n rows.
func checkIndices(op string, a, idx *Node, n int) {
	if _, one := dims(idx); one != 1 {
		failf("%s: indices must be a vector; their shape is %v", op, idx.Shape())
	}
	checkExact(op, a, n)
}

// checkExact refuses more indices than float32 distinguishes.
func checkExact(op string, a *Node, n int) {
	if a.Dtype() == tensor.Float32 && n > 1<<24 {
		failf("%s: there must be at most %d rows in float32; there are %d: compute in float64", op, 1<<24, n)
	}
}

// SegmentSum returns n rows, row k of which is the sum of the rows i of a whose segment is k: 0
// where there are none. segments is a vector of whole numbers in [0, n), one for each row of a, in
// any order; it is data, not differentiated. Of a vector entries are summed. With Gather it sends
// messages along the edges of a graph, and sums them where they arrive.
func SegmentSum(a, segments *Node, n int) *Node {
	r, _ := dims(a)
	checkIndices("SegmentSum", a, segments, n)
	if m, _ := dims(segments); m != r {
		failf("SegmentSum: there must be a segment for each row; shapes are %v and %v", a.Shape(), segments.Shape())
	}
	return newNode(segmentRule{sumOp, n}, tall(n, a), a, segments)
}

// ScatterAdd returns to with row i of a added to its row idx_i, for all i (entries, if both are
// vectors). idx is as in [Gather], and may have an index several times.
func ScatterAdd(to, idx, a *Node) *Node {
	r, _ := dims(to)
	return Add(to, SegmentSum(a, idx, r))
}

// gatherKernel copies, for each index of the second input, that row of the first.
func gatherKernel[T Float](c *call[T]) {
	from, n := c.In[0].V, c.Dst.C
	for i := range c.Dst.R {
		at := c.In[0].IndexAt(c.In[1], i)
		if n == 1 {
			c.Dst.V[i] = from[at]
			continue
		}
		copy(c.Dst.Row(i), from[at*n:][:n])
	}
}

func (r segmentRule) String() string { return fmt.Sprintf(r.name, r.n) }
func (r segmentRule) grad(in nodes, _, g *Node) nodes {
	op := gatherBackOp
	if r.name == sumBackOp {
		op = gatherOp
	}
	return nodes{gather(op, g, in[1]), nil}
}
func (r segmentRule) lower(nodes) engine.Op {
	return uncut(summing("rr", segmentKernel, segmentKernel))
}

// segmentKernel adds each row of the first input to the row of dst at its index.
func segmentKernel[T Float](c *call[T]) {
	c.Clear()
	n := c.Dst.C
	for i := range c.In[0].R {
		at := c.Dst.IndexAt(c.In[1], i)
		d, s := c.Dst.V[at*n:][:n], c.In[0].V[i*n:][:n]
		if n > shortRow {
			kernel.AddTo(d, d, s)
			continue
		}
		for j, v := range s {
			d[j] += v
		}
	}
}
