package engine

import "dsbo/internal/kernel"

// hasLanes reports whether a slot has a value in each lane.
func (m *machine[T]) hasLanes(s *slot[T]) bool {
	return m.lanes > 0 && s.deps&m.slots[m.unit].bit != 0
}

// runLanes runs a step on examples from..to in all lanes.
func (m *machine[T]) runLanes(ins *instr[T], from, to int) {
	if m.slots[ins.out].base >= 0 || m.runFused(ins, from, to) {
		return
	}
	c := m.callOf(ins)
	c.First = from == 0
	inLanes := m.inLanes[:len(ins.args)]
	clear(inLanes)
	for i, a := range ins.args {
		if a >= 0 {
			c.In[i], inLanes[i] = m.laneBlock(&m.slots[a], ins.tiled && ins.cut[i], from, to)
		}
	}
	dst, lanes := m.laneBlock(&m.slots[ins.out], ins.tiled && !ins.sums, from, to)
	c.Dst = dst
	for l := range m.lanes {
		for i, in := range inLanes {
			if in != nil {
				c.In[i].V = in[l*m.slots[ins.args[i]].lanes.stride:][:len(c.In[i].V)]
			}
		}
		c.Dst.V = lanes[l*m.slots[ins.out].lanes.stride:][:len(dst.V)]
		m.compute(ins, from, to)
	}
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
		if s.buf != nil {
			lanes = lanes[from*per*s.c:]
		}
	}
	return Mat[T]{V: lanes[:rows*s.c], R: rows, C: s.c}, lanes
}

// runFused runs the product of a matrix without lanes and a vector with lanes in all lanes at once:
// the vectors, one a row, are the other matrix. It reports whether the step is such a product.
func (m *machine[T]) runFused(ins *instr[T], from, to int) bool {
	if ins.Kind != Product || ins.TransB {
		return false
	}
	left, right, out := &m.slots[ins.args[0]], &m.slots[ins.args[1]], &m.slots[ins.out]
	if m.hasLanes(left) || left.sparse != nil || right.c != 1 {
		return false
	}
	a, _ := m.laneBlock(left, ins.tiled && ins.cut[0], from, to)
	_, vs := m.laneBlock(right, ins.tiled && ins.cut[1], from, to)
	_, dst := m.laneBlock(out, ins.tiled && !ins.sums, from, to)
	switch {
	case ins.TransA:
		kernel.GemmNN(m.lanes, a.C, a.R, dst, out.lanes.stride, vs, right.lanes.stride, a.V, a.C, ins.tiled && from > 0)
	case ins.args[1] == m.unit && left.hasTable():
		m.copyColumns(dst, out.lanes.stride, a)
	default:
		kernel.Dots(m.lanes, a.R, a.C, dst, out.lanes.stride, vs, right.lanes.stride, a.V, a.C)
	}
	return true
}

// copyColumns writes the product of a with the unit vectors, its columns, to dst, one a lane.
func (m *machine[T]) copyColumns(dst []T, stride int, a Mat[T]) {
	kernel.Transpose(a.R, m.lanes, dst, stride, a.V[m.from:], a.C)
	var zeros [256]T
	for l := range m.lanes { // a sum has no −0
		for column := dst[l*stride:][:a.R]; len(column) > 0; {
			n := min(len(column), len(zeros))
			kernel.AddTo(column[:n], column[:n], zeros[:n])
			column = column[n:]
		}
	}
}
