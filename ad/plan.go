package ad

import (
	"fmt"
	"slices"

	"dsbo/internal/kernel"
)

// A plan is the order of work that makes some outputs: stages of whole instructions, each followed by
// one pass over the tiles of the batch.
type plan struct {
	outs   []int // slots
	order  []int // instructions, inputs first
	stages []stage
	layout layout
}

type stage struct {
	whole, tiled []int // instructions
	tables       []int // slots of the tables that the tiled ones read

	// For each table, whether an instruction that runs now reads its numbers, or its bytes; scratch of runTiles.
	numbers, bytes []bool
}

// plan prepares the computation of nodes.
func (m *machine[T]) plan(nodes ...*Node) (*plan, error) {
	p := &plan{}
	for _, n := range nodes {
		i, err := m.slotOf(n)
		if err != nil {
			return nil, err
		}
		if m.slots[i].sparse != nil {
			return nil, fmt.Errorf("%w: sparse rows cannot be a value themselves", ErrGraph)
		}
		p.outs = append(p.outs, i)
	}
	stageOf := map[int]int{} // slot -> stage in which it is whole; tiles of stage s belong to the pass after its whole part
	var schedule func(slot int)
	schedule = func(slot int) {
		k, computed := m.byOut[slot]
		if _, seen := stageOf[slot]; seen || !computed {
			return
		}
		ins := &m.instrs[k]
		st := 0
		for _, a := range ins.args {
			if a < 0 {
				continue
			}
			schedule(a)
			need := stageOf[a]
			if a2, ok := m.byOut[a]; ok && m.instrs[a2].tiled && (m.instrs[a2].sum || !ins.tiled) {
				need++ // the pass over the tiles has to be over
			}
			st = max(st, need)
		}
		stageOf[slot] = st
		p.add(st, k, ins.tiled)
	}
	for _, i := range p.outs {
		schedule(i)
	}
	for _, i := range p.outs {
		if s := &m.slots[i]; s.bit != 0 && s.buf == nil {
			s.keep(make([]T, s.r*s.c))
		}
	}
	m.listTables(p)
	m.plans = append(m.plans, p)
	changed := m.plans[len(m.plans)-1:]
	if m.chooseKept() {
		changed = m.plans
	}
	for _, p := range changed {
		m.lay(p)
	}
	return p, nil
}

func (p *plan) add(st, k int, tiled bool) {
	for len(p.stages) <= st {
		p.stages = append(p.stages, stage{})
	}
	p.order = append(p.order, k)
	if tiled {
		p.stages[st].tiled = append(p.stages[st].tiled, k)
	} else {
		p.stages[st].whole = append(p.stages[st].whole, k)
	}
}

// listTables notes which tables each pass reads, and gives memory to those that are read whole.
func (m *machine[T]) listTables(p *plan) {
	for i := range p.stages {
		st := &p.stages[i]
		for _, k := range append(slices.Clone(st.whole), st.tiled...) {
			ins := &m.instrs[k]
			for _, a := range ins.args {
				if a < 0 || m.slots[a].per == 0 || m.slots[a].bit == 0 || m.slots[a].sparse != nil {
					continue
				}
				if s := &m.slots[a]; !ins.tiled && s.own == nil {
					s.keep(make([]T, s.r*s.c))
				}
				if ins.tiled && !slices.Contains(st.tables, a) {
					st.tables = append(st.tables, a)
					st.numbers, st.bytes = append(st.numbers, false), append(st.bytes, false)
				}
			}
		}
	}
}

// run computes the outputs of p, which can be read until the next run or [machine.leave]. It fails on data that an op
// cannot use, such as an index out of range.
func (m *machine[T]) run(p *plan) (err error) {
	defer func() { m.locate(err) }() // after the next
	defer catchMisuse(&err)
	kernel.Begin()
	defer kernel.End()
	m.followPoints()
	m.enter(p)
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
	for i := range p.stages {
		st := &p.stages[i]
		for _, k := range st.whole {
			if ins := &m.instrs[k]; ins.run {
				m.runWhole(ins)
			}
		}
		m.runTiles(st)
	}
	for _, k := range p.order {
		if ins := &m.instrs[k]; ins.run && !ins.wide {
			m.slots[ins.out].valid = m.slots[ins.out].own != nil
		}
	}
	return nil
}

// runWhole runs an instruction that reads and makes whole values.
func (m *machine[T]) runWhole(ins *instr[T]) {
	if ins.wide {
		m.runLanes(ins, 0, m.rows)
		return
	}
	if m.slots[ins.out].base >= 0 {
		return
	}
	for i, a := range ins.args {
		if a >= 0 {
			s := &m.slots[a]
			ins.in[i] = mat[T]{v: s.wholeValue(), r: s.r, c: s.c}
		}
	}
	s := &m.slots[ins.out]
	ins.dst = mat[T]{v: s.buf, r: s.r, c: s.c}
	ins.first = true
	m.running.ins, m.running.from, m.running.to = ins, 0, m.rows
	ins.kern(&ins.call)
}

// wholeValue returns the value of a slot that keeps it, reading it from its table the first time.
func (s *slot[T]) wholeValue() []T {
	if s.table != nil && !s.valid {
		readRows(s.table, s.buf, s.idx, 0, s.r)
		s.valid = true
	}
	return s.buf
}

// runTiles makes one pass over the batch.
func (m *machine[T]) runTiles(st *stage) {
	if !slices.ContainsFunc(st.tiled, func(k int) bool { return m.instrs[k].run }) {
		return
	}
	m.chooseForms(st)
	for from := 0; from < m.rows; from += m.tile {
		to := min(from+m.tile, m.rows)
		for i, a := range st.tables {
			if st.numbers[i] {
				m.slots[a].loadRows(from, to)
			}
			if st.bytes[i] {
				m.slots[a].listRows(from, to, m.rows)
			}
		}
		for _, k := range st.tiled {
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
}

// loadRows makes rows from..to of the slot's table current, in place where they lie as T. A tile that was read last is there
// still: a batch of one tile is gathered once for all that is asked of it.
func (s *slot[T]) loadRows(from, to int) {
	if s.buf != nil {
		s.cur = s.wholeValue()[from*s.c : to*s.c]
		return
	}
	if rows, ok := tableRows[T](s.table, s.idx, from, to); ok {
		s.cur = rows
		return
	}
	n := (to - from) * s.c
	if len(s.tiles) < n { // not before: a table may lie in place
		s.tiles = make([]T, n)
	}
	s.cur = s.tiles[:n]
	if tile := [2]int{from, to}; s.held != tile {
		readRows(s.table, s.cur, s.idx, from, to)
		s.held = tile
	}
}

// runTile runs an instruction on the numbers of examples from..to.
func (m *machine[T]) runTile(ins *instr[T], from, to int) {
	for i, a := range ins.args {
		s := &m.slots[a]
		if ins.cut[i] {
			ins.in[i] = m.rowsOf(s, from, to)
		} else {
			ins.in[i] = mat[T]{v: s.buf, r: s.r, c: s.c}
		}
	}
	s := &m.slots[ins.out]
	if ins.sum {
		ins.dst = mat[T]{v: s.buf, r: s.r, c: s.c}
	} else {
		ins.dst = m.rowsOf(s, from, to)
	}
	ins.first = from == 0
	m.running.ins, m.running.from, m.running.to = ins, from, to
	ins.kern(&ins.call)
}

// rowsOf returns the block of s that belongs to examples from..to.
func (m *machine[T]) rowsOf(s *slot[T], from, to int) mat[T] {
	per := s.per
	if per == 0 {
		per = s.r / m.rows
	}
	switch {
	case s.sparse != nil:
		return mat[T]{r: to - from, c: s.c, sparse: m.sparseRowsOf(s, from)}
	case s.cur != nil:
		return mat[T]{v: s.cur, r: to - from, c: s.c}
	case s.buf != nil:
		return mat[T]{v: s.buf[from*per*s.c : to*per*s.c], r: (to - from) * per, c: s.c}
	}
	return mat[T]{v: s.tiles[:(to-from)*per*s.c], r: (to - from) * per, c: s.c}
}

// tableRows returns rows from..to in the table's own memory, if they lie there as T.
func tableRows[T Float](t *Table, idx []int, from, to int) ([]T, bool) {
	if base, ok := any(t.f64).([]T); ok {
		return inPlace(t, base, idx, from, to)
	}
	return inPlace(t, any(t.f32).([]T), idx, from, to)
}
