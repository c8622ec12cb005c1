package ad

import (
	"errors"
	"fmt"

	"gorgonia.org/tensor"

	"dsbo"
	"dsbo/internal/kernel"
)

// scatterRule adds rows into n zero rows by index: the adjoint of gatherOp, which reads rows
// by index.
type scatterRule struct{ n int }

// Gather returns rows idx_0, idx_1, ... of a (entries, if a is a vector). idx is a vector whose
// entries are whole numbers in [0, rows of a); it is data, not differentiated. A program reports an
// entry out of range when it runs. In float32 a has at most 2²⁴ rows, for larger indices are
// not exact.
func Gather(a, idx *Node) *Node {
	m, one := dims(idx)
	r, c := dims(a)
	if one != 1 {
		failf("Gather: indices must be a vector; their shape is %v", idx.Shape())
	}
	if a.Dtype() == tensor.Float32 && r > 1<<24 {
		failf("Gather: there must be at most %d rows in float32; there are %d: compute in float64", 1<<24, r)
	}
	if len(a.Shape()) == 1 {
		return apply(gatherOp, vecShape(m), a, idx)
	}
	return apply(gatherOp, matShape(m, c), a, idx)
}

// scatter adds row i of g to row idx_i of n zero rows.
func scatter(g, idx *Node, n int) *Node {
	if len(g.Shape()) == 1 {
		return apply(scatterRule{n}, vecShape(n), g, idx)
	}
	_, c := dims(g)
	return apply(scatterRule{n}, matShape(n, c), g, idx)
}

func gatherKernel[T Float](c *call[T]) {
	for i := range c.dst.r {
		copy(c.dst.row(i), c.in[0].rowAt(c.in[1], i))
	}
}

// rowAt returns the row whose index is entry i of idx.
func (m mat[T]) rowAt(idx mat[T], i int) []T {
	v := idx.v[i]
	if !(v >= 0 && v < T(m.r)) || v != T(int(v)) {
		panic(misuse{&badIndex{value: float64(v), rows: m.r, entry: i, of: idx.r}})
	}
	return m.row(int(v))
}

// A badIndex is the error for an entry of a vector of indices that a program runs on. It
// matches [dsbo.ErrShape].
type badIndex struct {
	value     float64
	rows      int // of what is indexed
	entry, of int // which entry of how many is at fault
	where     string
}

func (e *badIndex) Error() string {
	return fmt.Sprintf("Gather: indices must be whole numbers from 0 to %d; %s is %v", e.rows-1, e.where, e.value)
}

func (e *badIndex) Unwrap() error { return dsbo.ErrShape }

// locate says in which row of its table a bad index is, in what runs now on examples from..to.
func (m *machine[T]) locate(err error) {
	if err == nil { // before there is a variable that takes memory
		return
	}
	var bad *badIndex
	if !errors.As(err, &bad) {
		return
	}
	bad.where = fmt.Sprintf("entry %d", bad.entry)
	ins, examples := m.running.ins, m.running.to-m.running.from
	for i := range m.slots {
		s := &m.slots[i]
		if s.table == nil || s.per == 0 || s.bit&m.slots[ins.args[1]].deps == 0 || bad.of%examples != 0 {
			continue
		}
		each := bad.of / examples
		row := s.table.baseRow(rowIndex(s.idx, m.running.from+bad.entry/each))
		if bad.where = fmt.Sprintf("that of row %d", row); each > 1 {
			bad.where = fmt.Sprintf("entry %d of row %d", bad.entry%each, row)
		}
		return
	}
}

func (r scatterRule) String() string { return fmt.Sprintf("Scatter(%d)", r.n) }
func (r scatterRule) split() split   { return split{args: "rr", sum: true} }
func (r scatterRule) grad(in []*Node, out, g *Node) []*Node {
	return []*Node{Gather(g, in[1]), nil}
}
func (r scatterRule) kernels() (func(*call[float32]), func(*call[float64])) {
	return scatterKernel[float32], scatterKernel[float64]
}

func scatterKernel[T Float](c *call[T]) {
	c.clear()
	for i := range c.in[0].r {
		d := c.dst.rowAt(c.in[1], i)
		kernel.AddTo(d, d, c.in[0].row(i))
	}
}
