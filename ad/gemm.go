package ad

import "dsbo/internal/kernel"

// gemmKernel picks the product by its transposes. Products with a vector run along the
// matrix's rows.
func gemmKernel[T Float](r matmulRule) func(*call[T]) {
	switch {
	case r.tA && r.tB:
		return gemmTT[T]
	case r.tA:
		return func(c *call[T]) {
			a, b := c.in[0], c.in[1]
			if b.c == 1 { // (Aᵀu)ᵀ = uᵀA
				kernel.GemmTN(1, a.c, a.r, c.dst.v, a.c, b.v, 1, a.v, a.c, !c.first)
				return
			}
			kernel.GemmTN(a.c, b.c, a.r, c.dst.v, b.c, a.v, a.c, b.v, b.c, !c.first)
		}
	case r.tB:
		return func(c *call[T]) {
			a, b := c.in[0], c.in[1]
			kernel.GemmNT(a.r, b.r, a.c, c.dst.v, b.r, a.v, a.c, b.v, b.c, false)
		}
	}
	return func(c *call[T]) {
		a, b := c.in[0], c.in[1]
		if b.c == 1 {
			kernel.Dots(a.r, 1, a.c, c.dst.v, 1, a.v, a.c, b.v, a.c)
			return
		}
		kernel.GemmNN(a.r, b.c, a.c, c.dst.v, b.c, a.v, a.c, b.v, b.c, false)
	}
}

// gemmTT is AᵀBᵀ, which no sweep over the usual losses makes: plain loops.
func gemmTT[T Float](c *call[T]) {
	a, b, d := c.in[0], c.in[1], c.dst
	for i := range a.c {
		for j := range b.r {
			var s T
			for l := range a.r {
				s += T(a.v[l*a.c+i] * b.v[j*b.c+l])
			}
			d.v[i*b.r+j] = s
		}
	}
}
