package ad

import (
	"fmt"

	"gorgonia.org/tensor"

	"dsbo/ad/internal/engine"
	"dsbo/internal/kernel"
)

// batchRule is [matmulRule] for each of several pairs of matrices, which are stacked: ra rows of
// the first input, and rb rows of the second, make height rows of the output.
type batchRule struct {
	matmulRule
	ra, rb, height int
}

// BatchMatMul returns the products op(a_i)·op(b_i) of n pairs of matrices of equal shapes, one
// below the other, where op transposes if the flag is set. The matrices of a, and of b, are stacked
// in the same way.
func BatchMatMul(a, b *Node, n int, tA, tB bool) *Node {
	ra, ka := dims(a)
	rb, kb := dims(b)
	if n < 1 || ra%n != 0 || rb%n != 0 {
		failf("BatchMatMul: each input must be %d matrices of equal shape; shapes are %v and %v",
			n, a.Shape(), b.Shape())
	}
	r := batchRule{matmulRule{tA, tB}, ra / n, rb / n, ra / n}
	inner, other, width := ka, r.rb, kb
	if tA {
		inner, r.height = r.ra, ka
	}
	if tB {
		other, width = kb, r.rb
	}
	if inner != other {
		failf("%v: inner lengths must be the same; shapes %v and %v, each of %d matrices, have %d and %d",
			r, a.Shape(), b.Shape(), n, inner, other)
	}
	return newNode(r, matShape(n*r.height, width), a, b)
}

func (r batchRule) String() string {
	return fmt.Sprintf("Batch%v of %d and %d rows", r.matmulRule, r.ra, r.rb)
}

// grad is the gradient of [matmulRule] for each pair.
func (r batchRule) grad(in nodes, _, g *Node) nodes {
	rows, _ := dims(in[0])
	return r.adjoints(in, g, func(a, b *Node, tA, tB bool, shape tensor.Shape) *Node {
		return reshape(BatchMatMul(a, b, rows/r.ra, tA, tB), shape)
	})
}

func (r batchRule) lower(nodes) engine.Op {
	o := stacked(r.height, with(r, "rr", batchKernel, batchKernel)) // pairs stay together
	o.Pairs = true
	return o
}

// batchKernel multiplies the pairs of blocks: all at once where there is a kernel for it, else one
// after the other. All pairs share an input of one block.
func batchKernel[T Float](r batchRule, c *call[T]) {
	a, b, d := c.In[0], c.In[1], c.Dst
	pairs, k := d.R/r.height, a.C
	if r.tA {
		k = r.ra
	}
	if d.C > 1 && kernel.Pairs(pairs, r.height, d.C, k, d.V, a.V, r.tA, b.V, r.tB) {
		return
	}
	c.First = true
	for i := range pairs {
		c.In[0], c.In[1], c.Dst = block(a, i, r.ra), block(b, i, r.rb), block(d, i, r.height)
		gemmKernel(r.matmulRule, c)
	}
	c.In[0], c.In[1], c.Dst = a, b, d
}

// block returns block i of a matrix, of some rows, or its only one.
func block[T Float](m mat[T], i, rows int) mat[T] {
	if m.R == rows {
		return m
	}
	return mat[T]{V: m.V[i*rows*m.C:][:rows*m.C], R: rows, C: m.C}
}
