package ad

import (
	"slices"

	"dsbo/internal/kernel"
	"dsbo/internal/linalg"
)

// run computes the outputs of p and writes them to dst; in lanes dst is empty, and they can be read
// until the next run or [machine.leave]. It fails on data that an op cannot use, such as an index
// out of range.
func (m port[T, V]) run(p *plan, dst [][]V) (err error) {
	defer func() { m.locate(err) }() // after the next
	defer catchMisuse(&err)
	m.enter(p)
	kernel.Begin()
	defer kernel.End()
	m.followPoints()
	m.chooseSteps(p)
	for i := range p.stages {
		st := &p.stages[i]
		for _, k := range st.whole {
			if ins := &m.instrs[k]; ins.run {
				m.runWhole(ins)
			}
		}
		m.runTiles(st, m.current.groups[i])
	}
	for _, k := range p.order {
		if ins := &m.instrs[k]; ins.run && !ins.wide {
			m.slots[ins.out].valid = m.slots[ins.out].own != nil
		}
	}
	tl := m.current.tail
	if tl != nil {
		m.runTail(tl, dst)
	}
	for i, d := range dst {
		if tl == nil || tl.outs[i] < 0 {
			linalg.Convert(d, m.slots[p.outs[i]].wholeValue())
		}
	}
	return nil
}

// chooseSteps notes which instructions run before the tail: those whose output is needed and
// not there.
func (m *machine[T]) chooseSteps(p *plan) {
	clear(m.needed)
	for _, o := range p.outs {
		m.needed[o] = true
	}
	for i := len(p.order) - 1; i >= 0; i-- {
		ins := &m.instrs[p.order[i]]
		s := &m.slots[ins.out]
		ins.wide = m.hasLanes(s)
		ins.run = m.needed[ins.out] && (ins.wide || !s.valid)
		if !ins.run {
			continue
		}
		for _, a := range ins.args {
			if a >= 0 {
				m.needed[a] = true
			}
		}
	}
	if tl := m.current.tail; tl != nil {
		for i := range tl.steps {
			m.instrs[tl.steps[i].step].run = false
		}
	}
}

// callOf returns the call of an instruction, whose arguments are to be filled in.
func (m *machine[T]) callOf(ins *instr[T]) *call[T] {
	m.call.in = m.in[:len(ins.args)]
	clear(m.call.in)
	return &m.call
}

// compute runs an instruction's kernel on examples from..to, which the call has.
func (m *machine[T]) compute(ins *instr[T], from, to int) {
	m.running.ins, m.running.from, m.running.to = ins, from, to
	ins.kern(&m.call)
}

// runWhole runs an instruction that reads and makes whole values.
func (m *machine[T]) runWhole(ins *instr[T]) {
	if ins.wide {
		m.runLanes(ins, 0, m.rows)
		return
	}
	if m.slots[ins.out].base >= 0 || ins.role == needless {
		return
	}
	c := m.callOf(ins)
	for i, a := range ins.args {
		if a >= 0 {
			s := &m.slots[a]
			c.in[i] = mat[T]{v: s.wholeValue(), r: s.r, c: s.c}
		}
	}
	s := &m.slots[ins.out]
	c.dst = mat[T]{v: s.buf, r: s.r, c: s.c}
	c.first = true
	m.compute(ins, 0, m.rows)
}

// runTiles makes one pass over the batch, in groups of its steps.
func (m *machine[T]) runTiles(st *stage, groups []group) {
	if !slices.ContainsFunc(st.tiled, func(k int) bool { return m.instrs[k].run }) {
		return
	}
	m.chooseForms(st)
	for from := 0; from < m.rows; from += m.tile {
		to := min(from+m.tile, m.rows)
		for i, a := range st.tables {
			if m.forms.numbers[i] {
				m.slots[a].loadRows(from, to)
			}
			if m.forms.bytes[i] {
				m.slots[a].listRows(from, to, m.rows)
			}
		}
		m.tileFrom = from
		for _, g := range groups {
			rows := to - from
			if g.rows > 0 {
				rows = g.rows
			}
			for first := from; first < to; first += rows {
				m.runGroup(st.tiled[g.first:g.end], first, min(first+rows, to))
			}
		}
	}
}

// runGroup runs steps on examples from..to of the current tile.
func (m *machine[T]) runGroup(steps []int, from, to int) {
	for _, k := range steps {
		switch ins := &m.instrs[k]; {
		case !ins.run:
		case ins.wide:
			m.runLanes(ins, from, to)
		case ins.bytes >= 0:
			m.runBytes(ins, from, to)
		default:
			m.runTile(ins, from, to)
		}
	}
}

// runTile runs an instruction on the numbers of examples from..to.
func (m *machine[T]) runTile(ins *instr[T], from, to int) {
	if m.slots[ins.out].base >= 0 {
		return
	}
	c := m.callOf(ins)
	for i, a := range ins.args {
		s := &m.slots[a]
		if ins.cut[i] {
			c.in[i] = m.rowsOf(s, from, to)
		} else {
			c.in[i] = mat[T]{v: s.buf, r: s.r, c: s.c}
		}
	}
	s := &m.slots[ins.out]
	if ins.sum {
		c.dst = mat[T]{v: s.buf, r: s.r, c: s.c}
	} else {
		c.dst = m.rowsOf(s, from, to)
	}
	c.first = from == 0 && ins.role != goesOn
	m.compute(ins, from, to)
}

// enter gives the slots of p their places. It waits until there is scratch memory.
func (m *machine[T]) enter(p *plan) {
	if p.number >= len(m.layouts) {
		m.follow()
	}
	if m.current == m.layouts[p.number] {
		return
	}
	m.current = m.layouts[p.number]
	if m.current.size > 0 {
		m.scratch = take(m.memory.pool, m.memory.free, m.current.size)
	}
	for _, to := range m.current.places {
		s := &m.slots[to.slot]
		memory := m.scratch[to.off:][:to.n:to.n]
		if s.strip = to.extent == stripExtent; to.extent == wholeExtent {
			s.buf, s.tiles = memory, nil
		} else {
			s.buf, s.tiles = nil, memory
		}
	}
	for k, does := range m.current.roles {
		m.instrs[k].role = does
	}
	for _, i := range m.current.views {
		s := &m.slots[i]
		if base := &m.slots[s.base]; base.buf != nil {
			s.buf, s.tiles = base.buf[s.off:][:s.r*s.c], nil
		} else {
			s.buf, s.tiles, s.strip = nil, base.tiles, base.strip
		}
	}
}

// leave takes the places of the slots and of the call that read them back, and gives scratch memory
// to others.
func (m *machine[T]) leave() {
	if m.current == nil {
		return
	}
	for _, to := range m.current.places {
		s := &m.slots[to.slot]
		s.buf, s.tiles = nil, nil
	}
	for _, i := range m.current.views {
		m.slots[i].buf, m.slots[i].tiles = nil, nil
	}
	clear(m.in)
	m.call.dst, m.call.in = mat[T]{}, nil
	if m.scratch != nil {
		give(m.memory.pool, m.memory.free, m.scratch)
	}
	m.scratch, m.current = nil, nil
}
