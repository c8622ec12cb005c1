package ad

import "fmt"

// batchRule is [matmulRule] for each of several pairs of matrices, which are stacked: ra rows of
// the first input, and rb rows of the second, make height rows of the output.
type batchRule struct {
	matmulRule
	ra, rb, height int
}

// BatchMatMul returns the products op(a_i)·op(b_i) of n pairs of matrices of equal shapes, one
// below the other, where op transposes if the flag is set. a and b hold their matrices in the same
// way, one below the other.
func BatchMatMul(a, b *Node, n int, tA, tB bool) *Node {
	ra, ka := dims(a)
	rb, kb := dims(b)
	if n < 1 || ra%n != 0 || rb%n != 0 {
		failf("BatchMatMul: each input must be %d matrices of equal shape; shapes are %v and %v", n,
			a.Shape(), b.Shape())
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
		failf("%v: inner lengths must be the same; shapes %v and %v, each of %d matrices, have %d and %d", r, a.Shape(),
			b.Shape(), n, inner, other)
	}
	return apply(r, matShape(n*r.height, width), a, b)
}

func (r batchRule) String() string {
	return fmt.Sprintf("Batch%v of %d and %d rows", r.matmulRule, r.ra, r.rb)
}

// split: pairs stay together.
func (r batchRule) split() split { return split{args: "rr", block: r.height} }

// grad is that of [matmulRule] for each pair.
func (r batchRule) grad(in nodes, _, g *Node) nodes {
	a, b := in[0], in[1]
	rows, _ := dims(a)
	n := rows / r.ra
	var da, db *Node
	if r.tA {
		da = BatchMatMul(b, g, n, r.tB, true)
	} else {
		da = BatchMatMul(g, b, n, false, !r.tB)
	}
	if r.tB {
		db = BatchMatMul(g, a, n, true, r.tA)
	} else {
		db = BatchMatMul(a, g, n, !r.tA, false)
	}
	return nodes{reshape(da, a.Shape()), reshape(db, b.Shape())}
}

func (r batchRule) kernels() (func(*call[float32]), func(*call[float64])) {
	return batchKernel[float32](r), batchKernel[float64](r)
}

func batchKernel[T Float](r batchRule) func(*call[T]) {
	product := gemmKernel[T](r.matmulRule)
	pair := call[T]{in: make([]mat[T], 2), first: true}
	return func(c *call[T]) {
		for i := range c.in[0].r / r.ra {
			pair.in[0], pair.in[1] = c.in[0].block(i, r.ra), c.in[1].block(i, r.rb)
			pair.dst = c.dst.block(i, r.height)
			product(&pair)
		}
	}
}

// block returns the matrix in block i of so many rows.
func (m mat[T]) block(i, rows int) mat[T] {
	return mat[T]{v: m.v[i*rows*m.c:][:rows*m.c], r: rows, c: m.c}
}
