package ad

import "gorgonia.org/tensor"

// matmulRule is op(A) op(B), where op transposes if the flag is set.
type matmulRule struct{ tA, tB bool }

// MatMul returns op(a)·op(b), where op transposes if the flag is set. Both are matrices.
func MatMul(a, b *Node, tA, tB bool) *Node {
	return matmul(a, b, tA, tB, func(r, c int) tensor.Shape { return matShape(r, c) })
}

// MatVec returns op(a)·v for a matrix a and a vector v.
func MatVec(a, v *Node, tA bool) *Node {
	return matmul(a, v, tA, false, func(r, c int) tensor.Shape { return vecShape(r) })
}

// Outer returns the matrix u vᵀ of two vectors.
func Outer(u, v *Node) *Node { return MatMul(u, v, false, true) }

func matmul(a, b *Node, tA, tB bool, shape func(r, c int) tensor.Shape) *Node {
	m, k := dims(a)
	k2, n := dims(b)
	if tA {
		m, k = k, m
	}
	if tB {
		k2, n = n, k2
	}
	if k != k2 {
		failf("%v: inner lengths must be the same; shapes %v and %v have %d and %d", matmulRule{tA, tB}, a.Shape(),
			b.Shape(), k, k2)
	}
	if t := transposed(a); t != nil {
		return matmul(t, b, !tA, tB, shape)
	}
	if t := transposed(b); t != nil {
		return matmul(a, t, tA, !tB, shape)
	}
	return apply(matmulRule{tA, tB}, shape(m, n), a, b)
}

func (r matmulRule) String() string {
	s := "MatMul(A"
	if r.tA {
		s += "ᵀ"
	}
	s += ", B"
	if r.tB {
		s += "ᵀ"
	}
	return s + ")"
}

func (r matmulRule) split() split {
	switch {
	case !r.tA:
		return split{args: "rw"}
	case !r.tB:
		return split{args: "rr", sum: true}
	}
	return split{}
}

// grad: for C = AB, dA = G Bᵀ and dB = Aᵀ G; the flags only move the transposes.
func (r matmulRule) grad(in []*Node, out, g *Node) []*Node {
	a, b := in[0], in[1]
	like := func(n *Node) func(r, c int) tensor.Shape {
		return func(int, int) tensor.Shape { return n.Shape() }
	}
	var da, db *Node
	if r.tA {
		da = matmul(b, g, r.tB, true, like(a))
	} else {
		da = matmul(g, b, false, !r.tB, like(a))
	}
	if r.tB {
		db = matmul(g, a, true, r.tA, like(b))
	} else {
		db = matmul(a, g, !r.tA, false, like(b))
	}
	return []*Node{da, db}
}

func (r matmulRule) kernels() (func(*call[float32]), func(*call[float64])) {
	return gemmKernel[float32](r), gemmKernel[float64](r)
}
