package ad

import (
	"gorgonia.org/tensor"

	"dsbo/ad/internal/engine"
	"dsbo/internal/kernel"
)

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
	o := resuming(uncut(kernels("", gemmKernel[float32](r), gemmKernel[float64](r))))
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

// grad: for C = AB, dA = G Bᵀ and dB = Aᵀ G; the flags only move the transposes.
func (r matmulRule) grad(in nodes, _, g *Node) nodes {
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
	return nodes{da, db}
}

// gemmKernel picks the product by its transposes. Products with a vector run along the matrix's
// rows.
func gemmKernel[T Float](r matmulRule) func(*call[T]) {
	switch {
	case r.tA && r.tB:
		return gemmTT[T]
	case r.tA:
		return func(c *call[T]) {
			a, b := c.In[0], c.In[1]
			if b.C == 1 { // (Aᵀu)ᵀ = uᵀA
				kernel.GemmTN(1, a.C, a.R, c.Dst.V, a.C, b.V, 1, a.V, a.C, !c.First)
				return
			}
			kernel.GemmTN(a.C, b.C, a.R, c.Dst.V, b.C, a.V, a.C, b.V, b.C, !c.First)
		}
	case r.tB:
		return func(c *call[T]) {
			a, b := c.In[0], c.In[1]
			kernel.GemmNT(a.R, b.R, a.C, c.Dst.V, b.R, a.V, a.C, b.V, b.C, false)
		}
	}
	return func(c *call[T]) {
		a, b := c.In[0], c.In[1]
		if b.C == 1 {
			kernel.Dots(a.R, 1, a.C, c.Dst.V, 1, a.V, a.C, b.V, a.C)
			return
		}
		kernel.GemmNN(a.R, b.C, a.C, c.Dst.V, b.C, a.V, a.C, b.V, b.C, false)
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
