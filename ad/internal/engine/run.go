package engine

import (
	"math"
	"slices"

	"dsbo/internal/kernel"
	"dsbo/internal/linalg"
)

// A port is a machine of T to callers with vectors of V, which it converts as it reads and writes.
type port[T, V Float] struct{ *machine[T] }

// SetInput copies v into point i. What depends on the point is computed again only if v differs in
// a bit: 0 and −0 differ, because results must not depend on what the input was before.
func (m port[T, V]) SetInput(i int, v []V) {
	p, none := m.input(i).source.shared, [mostPoints]uint64{}
	if p.version != 0 && m.has(p.common, v) {
		return
	}
	newest := m.memory.takeNewest(p.kind, none)
	if newest != nil && newest != p.common && m.has(newest, v) { // another program is at the point already
		m.memory.giveUp(p.common)
		p.set(newest)
		return
	}
	m.memory.giveUp(newest)
	c := m.memory.renew(p.common, p.kind, len(v))
	linalg.Convert(c.v, v)
	p.set(m.memory.publish(c, none))
}

// has reports whether a common has the numbers of v.
func (m port[T, V]) has(c *common[T], v []V) bool {
	if same, ok := any(v).([]T); ok {
		return kernel.SameBits(same, c.v)
	}
	if len(v) > 0 && T(v[0]) != c.v[0] { // as most vectors that differ do
		return false
	}
	block := m.memory.commons.blocks.Get()
	defer m.memory.commons.blocks.Add(block)
	for j := 0; j < len(v); j += len(block) {
		piece := block[:min(len(block), len(v)-j)]
		linalg.Convert(piece, v[j:][:len(piece)])
		if !kernel.SameBits(piece, c.v[j:][:len(piece)]) {
			return false
		}
	}
	return true
}

// Run computes the outputs of p and writes them to dst. In EachVector dst is empty, and the outputs
// can be read until the next run. It fails on an index out of range.
func (m port[T, V]) Run(p *Plan, dst [][]V) (err error) {
	defer func() {
		if m.lanes == 0 {
			m.releaseSlots()
		}
		err = m.failure(recover())
	}()
	m.bindSlots(p)
	kernel.Begin()
	defer kernel.End()
	m.chooseSteps(p)
	for i := range p.stages {
		st := &p.stages[i]
		runChosen(m.machine, st.whole, 0, m.template.rows)
		m.runTiles(st, m.current.groups[i])
	}
	for _, k := range p.order {
		if ins := &m.instrs[k]; ins.run && !ins.wide {
			m.slots[ins.out].valid = m.slots[ins.out].retained
		}
	}
	tl := m.current.tail
	if tl != nil && m.lanes == 0 {
		m.runTail(tl, dst)
	}
	for i, d := range dst {
		if tl == nil || tl.outs[i] < 0 {
			linalg.Convert(d, m.slots[p.outs[i]].whole())
		}
	}
	return nil
}

// chooseSteps marks the steps that run before the tail: those whose output is needed and not there.
func (m *machine[T]) chooseSteps(p *Plan) {
	for i := range m.needed {
		m.needed[i] = math.MaxInt
	}
	for _, o := range p.outs {
		m.needed[o] = m.least
	}
	for _, k := range slices.Backward(p.order) {
		ins := &m.instrs[k]
		s := &m.slots[ins.out]
		ins.wide, ins.first = m.hasLanes(s), m.needed[ins.out]
		ins.run = ins.first < s.numbers() && (ins.wide || !s.valid)
		if !ins.run || ins.wide && s.lanes.same && s.base < 0 && !ins.Tail {
			continue // zeros need no arguments, but in a tail
		}
		for i, a := range ins.args {
			if a >= 0 {
				m.needed[a] = min(m.needed[a], firstOf(m, ins, i))
			}
		}
	}
	if tl := m.current.tail; tl != nil {
		for i := range tl.steps {
			m.instrs[tl.steps[i].step].run = false
		}
	}
}

// runTiles makes one pass over the batch.
func (m *machine[T]) runTiles(st *stage, groups []group) {
	if !slices.ContainsFunc(st.tiled, func(k int) bool { return m.instrs[k].run }) {
		return
	}
	m.chooseForms(st)
	if w, helpers := newWave(m, st, groups); helpers > 0 {
		w.run(m, helpers)
		return
	}
	rows, tile := m.template.rows, m.current.tile
	for from := 0; from < rows; from += tile {
		runTile(m, st, from, min(from+tile, rows), groups, nil, 0)
	}
}

// runTile runs a pass on examples from..to, which are tile t of a wave, if there is one.
func runTile[T Float](m *machine[T], st *stage, from, to int, groups []group, w *wave[T], t int) {
	m.loadTile(st, from, to)
	for g, of := range groups {
		steps := st.tiled[of.first:of.end]
		if w != nil && w.shared[g] != nil {
			w.addShared(m, t, g)
			continue
		}
		if w != nil && slices.ContainsFunc(steps, func(k int) bool { return m.instrs[k].run && m.instrs[k].sums }) {
			w.await(t, g)
		}
		strip := to - from
		if of.rows > 0 {
			strip = of.rows
		}
		for first := from; first < to; first += strip {
			runChosen(m, steps, first, min(first+strip, to))
		}
		if w != nil {
			w.passes(t, g)
		}
	}
}

// runChosen runs, of some steps, those that [machine.chooseSteps] has marked, on examples from..to.
func runChosen[T Float](m *machine[T], steps []int, from, to int) {
	for _, k := range steps {
		switch ins := &m.instrs[k]; {
		case !ins.run:
		case ins.wide:
			m.runLanes(ins, from, to)
		case ins.tiled && ins.bytes >= 0: // of other steps bytes is not set
			m.runBytes(ins, from, to)
		default:
			m.runStep(ins, from, to)
		}
	}
}

// loadTile makes examples from..to the current tile of each table that a pass reads.
func (m *machine[T]) loadTile(st *stage, from, to int) {
	m.tileFrom = from
	for i, a := range st.tables {
		if m.numbers[i] {
			if m.slots[a].loadRows(from, to, m.memory) {
				m.tables = append(m.tables, a)
			}
		}
		if m.bytes[i] {
			m.slots[a].source.listRows(from, to, m.template.rows)
		}
	}
}

// bindSlots gives the slots of p their places. It waits until there is scratch memory.
func (m *machine[T]) bindSlots(p *Plan) {
	if p.number >= len(m.layouts) {
		m.update()
	}
	if m.current == m.layouts[p.number] {
		return
	}
	m.current = m.layouts[p.number] // until releaseSlots; EachVector runs the same plan many times
	m.call.Block = m.memory.commons.blocks.Get()
	m.comparePoints()
	m.takeCommons()
	if m.current.size > 0 {
		m.scratch = m.memory.acquire(m.current.size)
	}
	for _, to := range m.current.places {
		if s := &m.slots[to.value]; to.extent == wholeExtent {
			s.buf, s.tiles, s.strip = m.scratch[to.off:][:to.n:to.n], nil, false
		}
	}
	placeTiles(m)
	for k, does := range m.current.roles {
		m.instrs[k].role, m.instrs[k].gate = does, m.current.gates[k]
	}
}

// placeTiles gives the values of which only a tile, or a strip of one, is in memory their places in
// scratch memory, and views the memory of their base.
func placeTiles[T Float](m *machine[T]) {
	for _, to := range m.current.places {
		if s := &m.slots[to.value]; to.extent != wholeExtent {
			s.buf, s.tiles, s.strip = nil, m.scratch[to.off:][:to.n:to.n], to.extent == stripExtent
		}
	}
	for _, i := range m.current.views {
		s := &m.slots[i]
		if base := &m.slots[s.base]; base.buf != nil {
			s.buf, s.tiles = base.buf[s.off:][:s.numbers()], nil
		} else {
			s.buf, s.tiles, s.strip = nil, base.tiles, base.strip
		}
	}
}

// releaseSlots takes the places back from the slots and from the last call, and gives scratch
// memory to other programs.
func (m *machine[T]) releaseSlots() {
	if m.current == nil {
		return
	}
	m.shareCommons()
	for _, to := range m.current.places {
		m.slots[to.value].buf, m.slots[to.value].tiles = nil, nil
	}
	for _, i := range m.current.views {
		m.slots[i].buf, m.slots[i].tiles = nil, nil
	}
	m.tables = slices.DeleteFunc(m.tables, func(i int) bool { // short tiles stay, see keptTile
		m.slots[i].releaseTile(m.memory)
		return m.slots[i].tiles == nil
	})
	clear(m.in)
	m.memory.commons.blocks.Add(m.call.Block)
	m.call = Call[T]{}
	if m.scratch != nil {
		m.memory.release(m.scratch)
	}
	m.scratch, m.current = nil, nil
}

// Numbers returns a copy of input i's numbers: the bound rows of its table, or the values shared
// between machines.
func (m port[T, V]) Numbers(i int) any {
	s := m.input(i)
	numbers := make([]T, s.numbers())
	if of := s.source; of.table != nil {
		Read(of.table, numbers, of.idx, 0, s.r)
	} else {
		copy(numbers, of.shared.common.v)
	}
	return numbers
}
