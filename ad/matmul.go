package ad

import (
	"gorgonia.org/tensor"

	"dsbo/ad/internal/engine"
	"dsbo/internal/kernel"
)

// matmulRule is op(A) op(B), where op transposes if the flag is set.
type matmulRule struct{ tA, tB bool }

// MatMul returns the matrix op(a)·op(b), where op transposes if the flag is set. A vector is a
// matrix of one column: [MatVec] returns a vector.
func MatMul(a, b *Node, tA, tB bool) *Node {
	return matmul(a, b, tA, tB, func(r, c int) tensor.Shape { return matShape(r, c) })
}

// MatVec returns op(a)·v for a matrix a and a vector v.
func MatVec(a, v *Node, tA bool) *Node {
	return matmul(a, v, tA, false, func(r, c int) tensor.Shape { return vecShape(r) })
}

// Outer returns the matrix u vᵀ of two vectors.
func Outer(u, v *Node) *Node { return MatMul(u, v, false, true) }

// matmul returns op(a)·op(b), where op transposes if the flag is set, in the form that shape gives
// the result.
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
		failf("%v: inner lengths must be the same; shapes %v and %v have %d and %d",
			matmulRule{tA, tB}, a.Shape(), b.Shape(), k, k2)
	}
	if t := transposed(a); t != nil {
		return matmul(t, b, !tA, tB, shape)
	}
	if t := transposed(b); t != nil {
		return matmul(a, t, tA, !tB, shape)
	}
	return newNode(matmulRule{tA, tB}, shape(m, n), a, b)
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

// lower: by rows of A, or, of AᵀB, as a sum over the rows of both.
func (r matmulRule) lower(in nodes) engine.Op {
	o := resuming(uncut(with(r, "", gemmKernel, gemmKernel)))
	o.Kind, o.TransA, o.TransB = engine.Product, r.tA, r.tB
	switch {
	case !r.tA:
		o.Args = "rw"
		_, o.Terms = dims(in[0])
	case !r.tB:
		o.Args, o.Sum = "rr", true
	}
	return o
}

func (r matmulRule) grad(in nodes, _, g *Node) nodes {
	return r.adjoints(in, g, func(a, b *Node, tA, tB bool, shape tensor.Shape) *Node {
		return matmul(a, b, tA, tB, func(int, int) tensor.Shape { return shape })
	})
}

// adjoints: for C = AB, dA = G Bᵀ and dB = Aᵀ G; the flags only move the transposes.
func (r matmulRule) adjoints(in nodes, g *Node,
	product func(a, b *Node, tA, tB bool, shape tensor.Shape) *Node) nodes {
	a, b := in[0], in[1]
	da := func() *Node { return product(g, b, false, !r.tB, a.Shape()) }
	if r.tA {
		da = func() *Node { return product(b, g, r.tB, true, a.Shape()) }
	}
	if r.tB {
		return nodes{da(), product(g, a, true, r.tA, b.Shape())}
	}
	return nodes{da(), product(a, g, !r.tA, false, b.Shape())}
}

// gemmKernel picks the product by its transposes. Products with a vector run along the matrix's
// rows.
func gemmKernel[T Float](r matmulRule, c *call[T]) {
	a, b, d := c.In[0], c.In[1], c.Dst.V
	switch {
	case r.tA && r.tB:
		gemmTT(c)
	case r.tA && b.C == 1: // (Aᵀu)ᵀ = uᵀA
		kernel.GemmTN(1, a.C, a.R, d, a.C, b.V, 1, a.V, a.C, !c.First)
	case r.tA:
		kernel.GemmTN(a.C, b.C, a.R, d, b.C, a.V, a.C, b.V, b.C, !c.First)
	case r.tB:
		kernel.GemmNT(a.R, b.R, a.C, d, b.R, a.V, a.C, b.V, b.C, false)
	case b.C == 1:
		kernel.Dots(a.R, 1, a.C, d, 1, a.V, a.C, b.V, a.C)
	default:
		kernel.GemmNN(a.R, b.C, a.C, d, b.C, a.V, a.C, b.V, b.C, false)
	}
}

// gemmTT is AᵀBᵀ, which no sweep over the usual losses makes: plain loops.
func gemmTT[T Float](c *call[T]) {
	a, b, d := c.In[0], c.In[1], c.Dst
	for i := range a.C {
		for j := range b.R {
			var s T
			for l := range a.R {
				s += T(a.V[l*a.C+i] * b.V[j*b.C+l])
			}
			d.V[i*b.R+j] = s
		}
	}
}
