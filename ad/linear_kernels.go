package ad

import (
	"math"

	"dsbo/internal/kernel"
)

// lowerKernel copies the lower triangles of matrices of k×k, with half the diagonal if r.changes,
// and zeros above.
func lowerKernel[T Float](r systemRule, c *call[T]) {
	clear(c.Dst.V)
	for i := range c.Dst.R {
		d, a, at := c.Dst.Row(i), c.In[0].Row(i), i%r.k
		copy(d[:at], a)
		if d[at] = a[at]; r.changes {
			d[at] *= .5
		}
	}
}

// factorKernel factors by Gauss's elimination. Of each column the largest entry on or below the
// diagonal is the pivot, whose row is exchanged with the diagonal's.
func factorKernel[T Float](k int, c *call[T]) {
	for m := range c.In[0].R / k {
		lu, from := factorsIn(c.Dst.V, m, k)
		copy(lu, c.In[0].V[m*k*k:][:k*k])
		for i := range from {
			from[i] = T(i)
		}
		for j := range k {
			best := j
			for i := j; i < k; i++ {
				if math.Abs(float64(lu[i*k+j])) > math.Abs(float64(lu[best*k+j])) {
					best = i
				}
			}
			swapRows(lu, k, best, j)
			from[best], from[j] = from[j], from[best]
			above := lu[j*k:][:k]
			for i := j + 1; i < k; i++ {
				row := lu[i*k:][:k]
				row[j] /= above[j]
				minus(row[j+1:], row[j], above[j+1:])
			}
		}
	}
}

// factorsIn returns the factors of matrix m among others, L below the diagonal and U, and the row
// of the matrix that each row comes from.
func factorsIn[T Float](v []T, m, k int) (lu, from []T) {
	v = v[m*(k+1)*k:][:(k+1)*k]
	return v[:k*k], v[k*k:]
}

func swapRows[T Float](a []T, cols, i, j int) {
	if i == j {
		return
	}
	for k := range cols {
		a[i*cols+k], a[j*cols+k] = a[j*cols+k], a[i*cols+k]
	}
}

// minus sets a −= factor·b, each product rounded before it is taken off.
func minus[T Float](a []T, factor T, b []T) {
	b = b[:len(a)]
	for i := range a {
		a[i] -= T(factor * b[i])
	}
}

// A triangle is a triangular part of a matrix of k×k, plain or transposed.
type triangle[T Float] struct {
	k          int
	t          []T
	upper      bool // else the lower part
	transposes bool
	unit       bool // its diagonal is 1
}

// triangleRows is how many rows are solved for at a time, after a product with all that are known.
const triangleRows = 16

// solve replaces x, k×w, by the solution of op(t) x = x. Solved entries are negated in place, so
// that products are added.
func (t triangle[T]) solve(x []T, w int) {
	k, forward := t.k, t.upper == t.transposes // op(t) is a lower triangle: from the first row on
	for done := 0; done < k; done += triangleRows {
		h := min(triangleRows, k-done)
		from := done
		if !forward {
			from = k - done - h
		}
		t.addKnown(x, w, from, h, done)
		for n := range h {
			i, known := from+n, from
			if !forward {
				i, known = from+h-1-n, from+h-n
			}
			row := x[i*w:][:w]
			for j := known; j < known+n; j++ {
				c := t.t[i*k+j]
				if t.transposes {
					c = t.t[j*k+i]
				}
				minus(row, -c, x[j*w:][:w])
			}
			by := T(-1)
			if !t.unit {
				by = -t.t[i*k+i]
			}
			for j := range row {
				row[j] /= by
			}
		}
	}
	for i := range x {
		x[i] = -x[i]
	}
}

// addKnown adds, to h rows of x from row from on, the triangle's products with the done rows that
// are solved already.
func (t triangle[T]) addKnown(x []T, w, from, h, done int) {
	if done == 0 {
		return
	}
	known := 0
	if t.upper != t.transposes {
		known = from + h
	}
	if t.transposes {
		kernel.GemmTN(h, w, done, x[from*w:], w, t.t[known*t.k+from:], t.k, x[known*w:], w, true)
		return
	}
	kernel.GemmNN(h, w, done, x[from*w:], w, t.t[from*t.k+known:], t.k, x[known*w:], w, true)
}

// solveKernel solves A x = b for each matrix by its factors, P A = L U, or Aᵀ x = b if r.changes.
func solveKernel[T Float](r systemRule, c *call[T]) {
	k := r.k
	w := c.Dst.C
	for m := range c.Dst.R / k {
		lu, from := factorsIn(c.In[2].V, m, k)
		b, x := c.In[1].V[m*k*w:][:k*w], c.Dst.V[m*k*w:][:k*w]
		lower, upper := triangle[T]{k, lu, false, r.changes, true}, triangle[T]{k, lu, true, r.changes, false}
		if r.changes { // Uᵀ Lᵀ P x = b
			copy(x, b)
			upper.solve(x, w)
			lower.solve(x, w)
			unpermute(x, w, from, c.Block[:])
			continue
		}
		for i := range k { // L U x = P b
			copy(x[i*w:][:w], b[int(from[i])*w:])
		}
		lower.solve(x, w)
		upper.solve(x, w)
	}
}

// unpermute moves row i of x, of w numbers, to row from_i, a column at a time.
func unpermute[T Float](x []T, w int, from, scratch []T) {
	k := len(from)
	if len(scratch) < k {
		scratch = make([]T, k)
	}
	for j := range w {
		for i := range k {
			scratch[int(from[i])] = x[i*w+j]
		}
		for i := range k {
			x[i*w+j] = scratch[i]
		}
	}
}

// logDetKernel sums the logarithms of the pivots' sizes, which is log |det A|.
func logDetKernel[T Float](k int, c *call[T]) {
	for m := range c.Dst.V {
		lu, _ := factorsIn(c.In[1].V, m, k)
		sum, block := T(0), c.Block[:1]
		for i := range k {
			block[0] = T(math.Abs(float64(lu[i*k+i])))
			kernel.Log(block, block)
			sum += block[0]
		}
		c.Dst.V[m] = sum
	}
}

// choleskyKernel computes L with A = L Lᵀ, row by row, for each matrix.
func choleskyKernel[T Float](k int, c *call[T]) {
	clear(c.Dst.V)
	for m := range c.Dst.R / k {
		a, l := c.In[0].V[m*k*k:][:k*k], c.Dst.V[m*k*k:][:k*k]
		for i := range k {
			row := l[i*k:][:k]
			for j := range i {
				other := l[j*k:][:k]
				row[j] = (a[i*k+j] - kernel.Dot(row[:j], other[:j])) / other[j]
			}
			row[i] = T(math.Sqrt(float64(a[i*k+i] - kernel.Dot(row[:i], row[:i]))))
		}
	}
}

func triangularKernel[T Float](r systemRule, c *call[T]) {
	k := r.k
	w := c.Dst.C
	copy(c.Dst.V, c.In[1].V)
	for m := range c.Dst.R / k {
		triangle[T]{k, c.In[0].V[m*k*k:][:k*k], false, r.changes, false}.solve(c.Dst.V[m*k*w:][:k*w], w)
	}
}

// A systemRule is of small dense systems: n matrices of k×k, one below the other, n = 1 for a
// single one. Factors of a matrix are a node of their own, which all solves with it, and its
// determinant, share.
type systemRule struct {
	of named
	k  int
	// of solves: with the transposed matrices; of lowerOp: the diagonals are halved
	changes bool
}

const (
	// factorsOp is P A = L U of each matrix: k rows of L below the diagonal and U, and one row more
	// with the row of A that each row comes from. Its readers have the derivatives.
	factorsOp named = "Factors"
	// solveOp is op(A)⁻¹ B of each pair, by A's factors; A itself is read by derivatives alone.
	solveOp named = "Solve"
	// logDetOp is log |det A| of each matrix, by its factors.
	logDetOp named = "LogDet"
	// choleskyOp is the lower L with A = L Lᵀ, of the lower part of each A.
	choleskyOp named = "Cholesky"
	// solveLowerOp is op(L)⁻¹ B of each pair for a lower L.
	solveLowerOp named = "SolveLower"
	// lowerOp is the lower part of each matrix.
	lowerOp named = "Lower"
)
