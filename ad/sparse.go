package ad

import (
	"fmt"
	"slices"

	"dsbo/internal/kernel"
)

// Products with sparse rows read the rows' values where they lie, and nothing makes such rows dense. What reads them is a matrix product
// whose batch they are, as X in X·B, X·Bᵀ, Xᵀ·U and Uᵀ·X, and X∘X in the same places: the values of a linear first layer, all its
// derivatives, and the diagonal of its Hessian.

// sparseRows are rows of a batch, of a slot whose table is sparse.
type sparseRows[T Float] struct {
	table *Table
	idx   []int
	from  int // the first row
	// square says that values are read squared.
	square bool
	values []T // scratch of row
}

// row returns the columns and the values of row i after the first. The values are a view that the next call overwrites.
func (s *sparseRows[T]) row(i int) (indices []int32, values []T) {
	indices, v := s.table.sparse.row(s.table.baseRow(rowIndex(s.idx, s.from+i)))
	if same, ok := any(v).([]T); ok && !s.square {
		return indices, same
	}
	s.values = slices.Grow(s.values[:0], len(v))[:len(v)]
	convert(s.values, v)
	if s.square {
		kernel.MulTo(s.values, s.values, s.values)
	}
	return indices, s.values
}

// sparseRowsOf returns the slot's rows from from on.
func (m *machine[T]) sparseRowsOf(s *slot[T], from int) *sparseRows[T] {
	in := &m.slots[s.sparse.input]
	r := &s.sparse.rows
	r.table, r.idx, r.from = in.table, in.idx, from
	return r
}

// A sparseSlot is what a slot of sparse rows has in place of a buffer.
type sparseSlot[T Float] struct {
	input int // the slot with the table: this one, or that of which it holds the squares
	rows  sparseRows[T]
}

// addSquare adds the slot of n, the square of a slot of sparse rows.
func (m *machine[T]) addSquare(n *Node, of int) int {
	s := m.slots[of]
	square := slot[T]{base: -1, r: s.r, c: s.c, per: s.per, deps: s.deps, sparse: &sparseSlot[T]{input: s.sparse.input}}
	square.sparse.rows.square = true
	return m.addSlot(n, square)
}

// isSquare reports whether the instruction squares a slot of sparse rows that are no squares.
func (m *machine[T]) isSquare(ins *instr[T]) bool {
	if ins.rule != rule(opMul) || ins.args[0] != ins.args[1] {
		return false
	}
	s := m.slots[ins.args[0]].sparse
	return s != nil && !s.rows.square
}

// chooseSparse gives an instruction that reads sparse rows its kernel. It fails if the rule has none.
func (m *machine[T]) chooseSparse(ins *instr[T]) error {
	for i, a := range ins.args {
		if a < 0 || m.slots[a].sparse == nil {
			continue
		}
		r, ok := ins.rule.(matmulRule)
		if ok && ins.tiled {
			ins.kern = sparseKernel[T](r, i)
		}
		if !ok || !ins.tiled || ins.kern == nil || slices.Index(ins.args, a) != i || m.slots[ins.args[1-i]].sparse != nil {
			return fmt.Errorf("%w: %v cannot read sparse rows: only X·B, X·Bᵀ, Xᵀ·U and Uᵀ·X by MatMul or MatVec can, and Square(X) as X", ErrGraph, ins.rule)
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
