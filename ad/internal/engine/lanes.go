package engine

import (
	"slices"

	"dsbo/internal/kernel"
)

// hasLanes reports whether a slot has a value in each lane.
func (m *machine[T]) hasLanes(s *slot[T]) bool {
	return m.lanes > 0 && s.deps&m.slots[m.unit].bit != 0
}

// part returns where in the vectors the numbers of a slot begin, if it is a view of them.
func (m *machine[T]) part(s *slot[T]) (off int, ok bool) {
	for s != &m.slots[m.unit] {
		if s.base < 0 {
			return 0, false
		}
		off += s.off
		s = &m.slots[s.base]
	}
	return off, true
}

// isSame reports whether the output of a step is the same in all lanes: what it depends on is, such
// as a part of unit vectors without a 1.
func (m *machine[T]) isSame(ins *instr[T]) bool {
	s := &m.slots[ins.out]
	if off, ok := m.part(s); ok {
		return m.vectors == nil && (off >= m.from+m.lanes || off+s.numbers() <= m.from)
	}
	for _, a := range ins.reads {
		if m.hasLanes(&m.slots[a]) && !m.slots[a].lanes.same {
			return false
		}
	}
	return true
}

// firstOf returns the first number of argument i that a step reads, which reads less where not all
// of its output is needed.
func firstOf[T Float](m *machine[T], ins *instr[T], i int) int {
	switch {
	case !ins.wide || m.slots[ins.args[i]].per > 0:
	case ins.Kind == View:
		return ins.first + ins.Offset
	case ins.Kind == Place || ins.Kind == AddPart && i == 1:
		return max(ins.first-ins.Offset, 0)
	case ins.Tail && slices.Contains(ins.InPlace, i):
		return ins.first
	}
	return 0
}

// runLanes runs a step on examples from..to in all lanes.
func (m *machine[T]) runLanes(ins *instr[T], from, to int) {
	out := &m.slots[ins.out]
	dst, wide := m.laneBlock(out, ins.tiled && !ins.sums, from, to)
	switch {
	case out.base >= 0:
		return
	case out.lanes.same: // it is linear in what it depends on, which is 0
		clear(dst.V)
		return
	case m.runUnits(ins, from, to) || m.runFused(ins, from, to) || runBeside(m, ins, from, to):
		return
	}
	c := m.callOf(ins)
	c.First = from == 0
	inLanes := m.inLanes[:len(ins.args)]
	clear(inLanes)
	stacks := ins.Args != "" && !ins.Sum // the lanes of each are one matrix
	pairs := ins.Pairs && dst.R == ins.Block
	for i, a := range ins.args {
		if a < 0 {
			stacks = false
			continue
		}
		s := &m.slots[a]
		c.In[i], inLanes[i] = m.laneBlock(s, ins.tiled && ins.cut[i], from, to)
		if rows := ins.Args != "" && ins.Args[i] == 'r'; rows != (inLanes[i] != nil || pairs) ||
			inLanes[i] != nil && m.stride(s, from, to) != len(c.In[i].V) {
			stacks = false
		}
	}
	if stacks && m.stride(out, from, to) == len(dst.V) {
		c.Dst = stack(dst, wide, m.lanes)
		for i, in := range inLanes {
			if in != nil {
				c.In[i] = stack(c.In[i], in, m.lanes)
			}
		}
		m.compute(ins, from, to)
		return
	}
	c.Dst = dst
	// The first lane last: an input without lanes may be overwritten by the output's first lane.
	for l := m.lanes - 1; l >= 0; l-- {
		for i, in := range inLanes {
			if in != nil {
				c.In[i].V = in[l*m.stride(&m.slots[ins.args[i]], from, to):][:len(c.In[i].V)]
			}
		}
		c.Dst.V = wide[l*m.stride(out, from, to):][:len(dst.V)]
		m.compute(ins, from, to)
	}
}

// stack returns the matrices of lanes, one below the other.
func stack[T Float](first Mat[T], wide []T, lanes int) Mat[T] {
	return Mat[T]{V: wide[:lanes*len(first.V)], R: lanes * first.R, C: first.C}
}

// stride returns the distance, in numbers, between a slot's values in two lanes while examples
// from..to run; 0 if all lanes have one value. A lane is one of several direction vectors in a run.
func (m *machine[T]) stride(s *slot[T], from, to int) int {
	for s.base >= 0 && !s.lanes.same {
		s = &m.slots[s.base]
	}
	switch {
	case s.lanes.same:
		return 0
	case s.buf == nil && s.per > 0:
		return (to - from) * s.per * s.c
	}
	return s.numbers()
}

// laneBlock returns the value of s in the first lane, its rows of examples from..to if cut, and the
// values of all lanes from that place on: nil for a value without lanes.
func (m *machine[T]) laneBlock(s *slot[T], cut bool, from, to int) (Mat[T], []T) {
	switch {
	case !m.hasLanes(s) && cut:
		return m.rowsOf(s, from, to), nil
	case !m.hasLanes(s):
		return Mat[T]{V: s.whole(), R: s.r, C: s.c}, nil
	}
	rows, lanes := s.r, s.lanes.wide
	if cut {
		per := s.r / m.template.rows
		rows = (to - from) * per
		if s.buf != nil || s.per == 0 {
			lanes = lanes[from*per*s.c:]
		}
	}
	return Mat[T]{V: lanes[:rows*s.c], R: rows, C: s.c}, lanes
}

// factorsOf returns the slots of a product's factors and of the product.
func factorsOf[T Float](m *machine[T], ins *instr[T]) (left, right, out *slot[T]) {
	return &m.slots[ins.args[0]], &m.slots[ins.args[1]], &m.slots[ins.out]
}

// runUnits runs the product of a matrix without lanes, of finite numbers, and a part of the unit
// vectors as a matrix: a column in the place of each lane's 1. It reports whether the step is such
// a product.
func (m *machine[T]) runUnits(ins *instr[T], from, to int) bool {
	if m.vectors != nil || ins.Kind != Product || ins.TransA {
		return false
	}
	left, right, out := factorsOf(m, ins)
	off, ok := m.part(right)
	if !ok || m.hasLanes(left) || left.sparse != nil {
		return false
	}
	a, _ := m.laneBlock(left, ins.tiled && ins.cut[0], from, to)
	dst, wide := m.laneBlock(out, ins.tiled, from, to)
	for l := range m.lanes {
		d := wide[l*m.stride(out, from, to):][:len(dst.V)]
		clear(d)
		at := m.from + l - off
		if at < 0 || at >= right.numbers() { // the lane's 1 is in another part
			continue
		}
		k, j := at/right.c, at%right.c // of the 1, row and column
		if ins.TransB {
			k, j = j, k
		}
		for i := range dst.R {
			d[i*dst.C+j] = a.V[i*a.C+k] + 0 // a sum has no −0
		}
	}
	return true
}

// runFused runs the product A·v or Aᵀ·v of a matrix without lanes and a vector with lanes in all
// lanes at once, on examples from..to: one product V·Aᵀ or V·A, where V has a lane's vector in each
// row. Where A is cut by examples, Aᵀ·v is a sum over them, to which all tiles but the first add.
// The result is whether the step is such a product.
func (m *machine[T]) runFused(ins *instr[T], from, to int) bool {
	if ins.Kind != Product || ins.TransB {
		return false
	}
	left, right, out := factorsOf(m, ins)
	if m.hasLanes(left) || left.sparse != nil || right.c != 1 {
		return false
	}
	a, _ := m.laneBlock(left, ins.tiled && ins.cut[0], from, to)
	_, vs := m.laneBlock(right, ins.tiled && ins.cut[1], from, to)
	_, dst := m.laneBlock(out, ins.tiled && !ins.sums, from, to)
	step, next, first := m.stride(right, from, to), m.stride(out, from, to), ins.first
	if ins.TransA {
		kernel.GemmNN(m.lanes, a.C-first, a.R, dst[first:], next, vs, step, a.V[first:], a.C, from > 0)
	} else {
		kernel.Dots(m.lanes, a.R, a.C, dst, next, vs, step, a.V, a.C)
	}
	return true
}

// runBeside runs the product Aᵀ·B of a matrix with lanes and one without in all lanes at once, on
// examples from..to: for each needed row of the product one with that column of A in all lanes. The
// result is whether the step is such a product.
func runBeside[T Float](m *machine[T], ins *instr[T], from, to int) bool {
	if ins.Kind != Product || !ins.TransA || ins.TransB || ins.sparse >= 0 {
		return false
	}
	left, right, out := factorsOf(m, ins)
	if !m.hasLanes(left) || m.hasLanes(right) {
		return false
	}
	a, as := m.laneBlock(left, ins.tiled, from, to)
	b, _ := m.laneBlock(right, ins.tiled, from, to)
	n, dst := len(a.V), out.lanes.wide
	m.scaled = slices.Grow(m.scaled[:0], m.lanes*n)[:m.lanes*n]
	kernel.Transpose(m.lanes, n, m.scaled, m.lanes, as, m.stride(left, from, to))
	for i := ins.first / b.C; i < a.C; i++ {
		beside := m.scaled[i*m.lanes:]
		kernel.GemmTN(m.lanes, b.C, a.R, dst[i*b.C:], out.numbers(), beside, a.C*m.lanes, b.V, b.C, from > 0)
	}
	return true
}
