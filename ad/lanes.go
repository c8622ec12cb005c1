package ad

import (
	"dsbo/internal/kernel"
	"dsbo/internal/linalg"
)

// unitLanes is how many unit vectors run side by side: rows for a matrix product to run at full
// speed, which takes 12 at once, and few enough for what they need to stay in cache.
const unitLanes = 24

// eachUnit runs p for every unit vector of input i, unitLanes of them at a time, and calls each
// with the number of the first of these and how many there are: [machine.readLanes] finds p's
// outputs for them.
//
// What depends on the input is kept once for each lane, beside the ordinary buffers, which stay as
// they are; the rest is computed once for all lanes. Products of a matrix without lanes and vectors
// with them become products of matrices.
func (m *machine[T]) eachUnit(p *plan, i int, each func(from, lanes int)) error {
	m.unit = i
	m.enter(p)
	defer m.leave()
	s := &m.slots[i]
	defer func() { m.lanes = 0 }()
	for m.from = 0; m.from < s.r; m.from += m.lanes {
		m.lanes = min(unitLanes, s.r-m.from)
		m.allotAllLanes(p)
		clear(s.wide)
		for l := range m.lanes {
			s.wide[l*s.stride+m.from+l] = 1
		}
		if err := (port[T, T]{m}).run(p, nil); err != nil {
			return err
		}
		each(m.from, m.lanes)
	}
	return nil
}

// readLanes copies the values of slot i, n numbers in each lane, to dst, one a row.
func (m *machine[T]) readLanes(dst []float64, n, i int) {
	s := &m.slots[i]
	for l := range m.lanes {
		if to := dst[l*n:][:n]; m.hasLanes(s) {
			linalg.Convert(to, s.wide[l*s.stride:][:n])
		} else {
			linalg.Convert(to, s.wholeValue())
		}
	}
}

// allotAllLanes gives what depends on the unit vectors its lanes.
func (m *machine[T]) allotAllLanes(p *plan) {
	m.slots[m.unit].allotLanes(m.tile)
	for _, k := range p.order {
		ins := &m.instrs[k]
		s := &m.slots[ins.out]
		if !m.hasLanes(s) {
			continue
		}
		if s.base < 0 {
			s.allotLanes(m.tile)
			continue
		}
		base := &m.slots[s.base]
		s.wide, s.stride = base.wide[s.off:], base.stride
	}
}

// allotLanes makes the lanes of a slot, as large as its buffer or its tile.
func (s *slot[T]) allotLanes(tile int) {
	if s.stride = s.r * s.c; s.buf == nil {
		s.stride = tile * s.per * s.c
	}
	if len(s.wide) < unitLanes*s.stride {
		s.wide = make([]T, unitLanes*s.stride)
	}
}

// hasLanes reports whether a slot has a value in each lane.
func (m *machine[T]) hasLanes(s *slot[T]) bool {
	return m.lanes > 0 && s.deps&m.slots[m.unit].bit != 0
}

// runLanes runs an instruction on examples from..to in all lanes.
func (m *machine[T]) runLanes(ins *instr[T], from, to int) {
	if m.slots[ins.out].base >= 0 || m.runFused(ins, from, to) {
		return
	}
	c := m.callOf(ins)
	c.first = from == 0
	inLanes := m.inLanes[:len(ins.args)]
	clear(inLanes)
	for i, a := range ins.args {
		if a >= 0 {
			c.in[i], inLanes[i] = m.laneBlock(&m.slots[a], ins.tiled && ins.cut[i], from, to)
		}
	}
	dst, lanes := m.laneBlock(&m.slots[ins.out], ins.tiled && !ins.sum, from, to)
	c.dst = dst
	for l := range m.lanes {
		for i, in := range inLanes {
			if in != nil {
				c.in[i].v = in[l*m.slots[ins.args[i]].stride:][:len(c.in[i].v)]
			}
		}
		c.dst.v = lanes[l*m.slots[ins.out].stride:][:len(dst.v)]
		m.compute(ins, from, to)
	}
}

// laneBlock returns the value of s in the first lane, its rows of examples from..to if cut, else
// the whole; and these of all lanes, from that place on. A value without lanes has nil there.
func (m *machine[T]) laneBlock(s *slot[T], cut bool, from, to int) (mat[T], []T) {
	switch {
	case !m.hasLanes(s) && cut:
		return m.rowsOf(s, from, to), nil
	case !m.hasLanes(s):
		return mat[T]{v: s.wholeValue(), r: s.r, c: s.c}, nil
	case !cut:
		return mat[T]{v: s.wide[:s.r*s.c], r: s.r, c: s.c}, s.wide
	}
	per := s.r / m.rows
	lanes := s.wide
	if s.buf != nil {
		lanes = lanes[from*per*s.c:]
	}
	return mat[T]{v: lanes[:(to-from)*per*s.c], r: (to - from) * per, c: s.c}, lanes
}

// runFused runs the product of a matrix without lanes and a vector with them in all lanes at once:
// the vectors, one a row, are the other matrix. It reports whether the instruction is one.
func (m *machine[T]) runFused(ins *instr[T], from, to int) bool {
	r, ok := ins.rule.(matmulRule)
	if !ok || r.tB {
		return false
	}
	left, right, out := &m.slots[ins.args[0]], &m.slots[ins.args[1]], &m.slots[ins.out]
	if m.hasLanes(left) || left.sparse != nil || right.c != 1 {
		return false
	}
	a, _ := m.laneBlock(left, ins.tiled && ins.cut[0], from, to)
	_, vs := m.laneBlock(right, ins.tiled && ins.cut[1], from, to)
	_, dst := m.laneBlock(out, ins.tiled && !ins.sum, from, to)
	switch {
	case r.tA:
		kernel.GemmNN(m.lanes, a.c, a.r, dst, out.stride, vs, right.stride, a.v, a.c, ins.tiled && from > 0)
	case ins.args[1] == m.unit && left.table != nil:
		m.columns(dst, out.stride, a)
	default:
		kernel.Dots(m.lanes, a.r, a.c, dst, out.stride, vs, right.stride, a.v, a.c)
	}
	return true
}

// columns writes the product of a with the unit vectors, its columns, to dst, one a lane.
func (m *machine[T]) columns(dst []T, stride int, a mat[T]) {
	kernel.Transpose(a.r, m.lanes, dst, stride, a.v[m.from:], a.c)
	var zeros [256]T
	for l := range m.lanes { // a sum has no −0
		for column := dst[l*stride:][:a.r]; len(column) > 0; {
			n := min(len(column), len(zeros))
			kernel.AddTo(column[:n], column[:n], zeros[:n])
			column = column[n:]
		}
	}
}
