package engine

import "dsbo/internal/kernel"

// Products with sparse rows read the values where they lie, and nothing makes such rows dense: X
// in X·B, X·Bᵀ, Xᵀ·U and Uᵀ·X, and X∘X in the same places. These are the values of a linear first
// layer, all its derivatives, and the diagonal of its Hessian.

// kernelOf returns the kernel of a step.
func kernelOf[T Float](s *step) func(*Call[T]) {
	switch {
	case s.sparse < 0:
	case s.sparse == 1:
		return func(c *Call[T]) { sparseSum(c, c.In[1], c.In[0], kernel.SparseOuter[T]) }
	case s.TransA:
		return func(c *Call[T]) { sparseSum(c, c.In[0], c.In[1], kernel.SparseOuterT[T]) }
	case s.TransB:
		return func(c *Call[T]) { sparseProduct(c, kernel.SparseRowNT[T]) }
	default:
		return func(c *Call[T]) { sparseProduct(c, kernel.SparseRowNN[T]) }
	}
	if k, ok := any(s.F32).(func(*Call[T])); ok {
		return k
	}
	return any(s.F64).(func(*Call[T]))
}

// sparseProduct writes each sparse row times the other matrix.
func sparseProduct[T Float](c *Call[T], product func(dst []T, idx []int32, val, b []T, ldb int)) {
	x, b := c.In[0], c.In[1]
	for i := range x.R {
		indices, values := x.sparse.row(i)
		product(c.Dst.Row(i), indices, values, b.V, b.C)
	}
}

// sparseSum adds the outer products of the sparse rows x and the rows of u.
func sparseSum[T Float](c *Call[T], x, u Mat[T], outer func(dst []T, ld int, u []T, idx []int32, val []T)) {
	c.Clear()
	for i := range x.R {
		indices, values := x.sparse.row(i)
		outer(c.Dst.V, c.Dst.C, u.Row(i), indices, values)
	}
}
