package ad

import (
	"fmt"
	"slices"

	"dsbo/internal/kernel"
	"dsbo/internal/linalg"
)

// Products with sparse rows read the rows' values where they lie, and nothing makes such rows
// dense. What reads them is a matrix product whose batch they are, as X in X·B, X·Bᵀ, Xᵀ·U and
// Uᵀ·X, and X∘X in the same places: the values of a linear first layer, all its derivatives, and
// the diagonal of its Hessian.

// sparseRows are rows of a batch, of a slot whose table is sparse.
type sparseRows[T Float] struct {
	table *Table
	idx   []int
	from  int // the first row
	// square says that values are read squared.
	square bool
	values []T // scratch of row
}

// row returns the columns and the values of row i after the first. The values are a view that the
// next call overwrites.
func (s *sparseRows[T]) row(i int) (indices []int32, values []T) {
	indices, v := s.table.sparse.row(s.table.baseRow(rowIndex(s.idx, s.from+i)))
	if same, ok := any(v).([]T); ok && !s.square {
		return indices, same
	}
	s.values = slices.Grow(s.values[:0], len(v))[:len(v)]
	linalg.Convert(s.values, v)
	if s.square {
		kernel.MulTo(s.values, s.values, s.values)
	}
	return indices, s.values
}

// sparseRowsOf returns the slot's rows from from on.
func (m *machine[T]) sparseRowsOf(s *slot[T], from int) *sparseRows[T] {
	in := &m.slots[s.sparse.input]
	s.rows.table, s.rows.idx, s.rows.from, s.rows.square = in.table, in.idx, from, s.sparse.square
	return &s.rows
}

// A sparseValue says where a value of sparse rows, which has no buffer, finds them.
type sparseValue struct {
	input  int  // the value with the table: this one, or that of which it has the squares
	square bool // it has squares
}

// addSquare adds the value of n, the square of a value of sparse rows.
func (t *template[T]) addSquare(n *Node, of int) int {
	v := t.values[of]
	return t.addValue(n, &value[T]{base: -1, r: v.r, c: v.c, per: v.per, deps: v.deps,
		sparse: &sparseValue{v.sparse.input, true}})
}

// isSquare reports whether the step squares a value of sparse rows that are no squares.
func (t *template[T]) isSquare(s *step[T]) bool {
	if s.rule != rule(opMul) || s.args[0] != s.args[1] {
		return false
	}
	rows := t.values[s.args[0]].sparse
	return rows != nil && !rows.square
}

// chooseSparse gives a step that reads sparse rows its kernel. It fails if the rule has none.
func (t *template[T]) chooseSparse(s *step[T]) error {
	for i, a := range s.args {
		if a < 0 || t.values[a].sparse == nil {
			continue
		}
		r, ok := s.rule.(matmulRule)
		if ok && s.tiled {
			s.kern = sparseKernel[T](r, i)
		}
		if !ok || !s.tiled || s.kern == nil || slices.Index(s.args, a) != i || t.values[s.args[1-i]].sparse != nil {
			return fmt.Errorf(
				"%w: %v cannot read sparse rows: only X·B, X·Bᵀ, Xᵀ·U and Uᵀ·X by MatMul or MatVec can, and "+
					"Square(X) as X", ErrGraph, s.rule)
		}
	}
	return nil
}

// sparseKernel returns the product whose input arg has sparse rows, nil if there is none.
func sparseKernel[T Float](r matmulRule, arg int) func(*call[T]) {
	switch {
	case arg == 0 && r == matmulRule{}:
		return func(c *call[T]) { sparseProduct(c, kernel.SparseRowNN[T]) }
	case arg == 0 && r == matmulRule{tB: true}:
		return func(c *call[T]) { sparseProduct(c, kernel.SparseRowNT[T]) }
	case arg == 0 && r == matmulRule{tA: true}:
		return func(c *call[T]) { sparseSum(c, c.in[0], c.in[1], kernel.SparseOuterT[T]) }
	case arg == 1 && r == matmulRule{tA: true}:
		return func(c *call[T]) { sparseSum(c, c.in[1], c.in[0], kernel.SparseOuter[T]) }
	}
	return nil
}

// sparseProduct writes each sparse row times the other matrix.
func sparseProduct[T Float](c *call[T], product func(dst []T, idx []int32, val, b []T, ldb int)) {
	x, b := c.in[0], c.in[1]
	for i := range x.r {
		indices, values := x.sparse.row(i)
		product(c.dst.row(i), indices, values, b.v, b.c)
	}
}

// sparseSum adds the outer products of the sparse rows x and the rows of u.
func sparseSum[T Float](c *call[T], x, u mat[T], outer func(dst []T, ld int, u []T, idx []int32, val []T)) {
	c.clear()
	for i := range x.r {
		indices, values := x.sparse.row(i)
		outer(c.dst.v, c.dst.c, u.row(i), indices, values)
	}
}
