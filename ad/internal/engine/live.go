package engine

import (
	"slices"

	"dsbo/internal/kernel"
)

// gateOf returns the gate of step k of a plan, a value; −1 where there is none. The step is a
// product of the examples' rows and a vector. Its output has one reader, an elementwise product,
// and so on, until a product sums over the examples: an example whose factor is 0 adds nothing, and
// its row need not be read. The gate is the last of these factors that machines keep from run to
// run, with a number for each example: it depends on no direction, such as v of a product Hv.
func (g *graph) gateOf(p *Plan, k int) int {
	s, gate := g.steps[k], -1
	if s.Kind != Product || s.TransA || s.TransB || !s.tiled {
		return -1
	}
	for v := s.out; g.isTemporary(v) && !slices.Contains(p.outs, v); {
		var by *step
		for _, j := range p.order {
			if of := g.steps[j]; slices.Contains(of.args, v) {
				if by != nil {
					return -1
				}
				by = of
			}
		}
		switch {
		case by.sums && by.Kind == Product:
			return gate
		case by.Kind != Mul || !by.tiled:
			return -1
		}
		for _, a := range by.args {
			if of := g.values[a]; of.kept && of.bit == 0 && of.numbers() == g.rows && of.deps&g.directions == 0 {
				gate = a
			}
		}
		v = by.out
	}
	return -1
}

// A gathered is a copy of the rows of a table that count at a point: those whose gate is not 0.
type gathered[T Float] struct {
	gate, table int     // values; the gate is −1 where none is known
	few         bool    // there is a copy: the rows are few enough
	list        []int32 // the rows
	rows        []T
	numbers     []T // scratch, a number for each
}

// mostLive is what share of a batch's rows may be gathered, as a divisor: with more, reading all
// takes no longer.
const mostLive = 3

// gather gathers the rows that count of a table whose rows are there. It reports false where they
// are too many, or where the gate is not known.
func (g *gathered[T]) gather(m *machine[T], gate, table int, rows Mat[T]) bool {
	switch {
	case gate < 0 || !m.slots[gate].valid:
		return false
	case g.gate == gate && g.table == table:
		return g.few
	}
	g.gate, g.table, g.list = gate, table, g.list[:0]
	for i, w := range m.slots[gate].buf {
		if w != 0 {
			g.list = append(g.list, int32(i))
		}
	}
	n := len(g.list)
	if g.few = mostLive*n <= rows.R; !g.few {
		return false
	}
	g.rows, g.numbers = slices.Grow(g.rows[:0], n*rows.C)[:n*rows.C], slices.Grow(g.numbers[:0], n)[:n]
	for k, i := range g.list {
		copy(g.rows[k*rows.C:], rows.Row(int(i)))
	}
	return true
}

// runLive runs a product of a table's rows, of all examples, and a vector on the rows that count
// alone, with the same bits: other entries are 0, and a sum has nothing but zeros of other rows. It
// reports false, and does nothing, where that is not so. A table's numbers are finite.
func runLive[T Float](m *machine[T], ins *instr[T], examples int) bool {
	if ins.Kind != Product || !ins.tiled || ins.TransB || examples < m.template.rows {
		return false
	}
	c, g, table := &m.call, &m.live, ins.args[0]
	rows, vector, dst := c.In[0], c.In[1], c.Dst
	if vector.C != 1 || !m.slots[table].hasTable() || len(rows.V) == 0 {
		return false
	}
	if ins.sums {
		if g.gate < 0 || g.table != table || !g.few {
			return false
		}
		for k, i := range g.list {
			g.numbers[k] = vector.V[i]
		}
		if countNonzero(g.numbers) < countNonzero(vector.V) {
			return false
		}
		c.In[1] = Mat[T]{V: g.numbers, R: len(g.list), C: 1}
	} else {
		if d := kernel.Dot(vector.V, vector.V); d-d != 0 || !g.gather(m, ins.gate, table, rows) {
			return false
		}
		c.Dst = Mat[T]{V: g.numbers, R: len(g.list), C: 1}
	}
	c.In[0] = Mat[T]{V: g.rows, R: len(g.list), C: rows.C}
	m.compute(ins, 0, examples)
	if !ins.sums {
		clear(dst.V)
		for k, i := range g.list {
			dst.V[i] = g.numbers[k]
		}
	}
	return true
}

// countNonzero returns how many numbers are not 0.
func countNonzero[T Float](v []T) (n int) {
	for _, x := range v {
		if x != 0 {
			n++
		}
	}
	return n
}
