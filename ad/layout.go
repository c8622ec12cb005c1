package ad

import (
	"cmp"
	"slices"
)

// A layout says where values that are not kept lie in scratch memory while a plan runs. Values whose lives do not overlap
// share a place.
type layout struct {
	places []place
	views  []int // slots, each after that of which it is a view
	size   int   // numbers of scratch memory
}

// A place is the numbers from off on, n of them, for a slot: its whole value or one tile of it.
type place struct {
	slot, off, n int
	tile         bool
}

// A life is the time from the first write to the last read of values that lie in one place one after another. The time is
// counted in instructions in their order in a run; what is read or written in a pass over the tiles and outlasts a tile lives
// through the whole pass.
type life struct {
	from, to int
	n        int // numbers
	off      int
}

// lives is the state of making a layout.
type lives struct {
	lastRead []int  // by slot
	whole    []bool // slots that outlast a tile
	of       []int  // by slot: its life in list, or −1
	list     []life
}

// moment is when an instruction runs, and the first and the last moment of the pass over tiles that it is in, if it is.
type moment struct{ at, first, last int }

// lay makes the layout of p.
func (m *machine[T]) lay(p *plan) {
	l := lives{lastRead: make([]int, len(m.slots)), whole: make([]bool, len(m.slots)), of: make([]int, len(m.slots))}
	for i := range l.of {
		l.of[i] = -1
		l.whole[i] = m.slots[i].per == 0
	}
	when := m.moments(p)
	m.findWhole(p, &l)
	m.findReads(p, &l, when)
	p.layout = layout{}
	for i := range p.stages {
		for _, list := range [][]int{p.stages[i].whole, p.stages[i].tiled} {
			for _, k := range list {
				m.place(p, &l, &m.instrs[k], when[k])
			}
		}
	}
	p.layout.size = allot(l.list)
	m.memory.atLeast(p.layout.size)
	for i := range p.layout.places {
		to := &p.layout.places[i]
		to.off = l.list[l.of[to.slot]].off
	}
}

// moments returns when p's instructions run.
func (m *machine[T]) moments(p *plan) map[int]moment {
	when := make(map[int]moment, len(p.order))
	now := 0
	for i := range p.stages {
		st := &p.stages[i]
		for _, k := range st.whole {
			when[k] = moment{now, now, now}
			now++
		}
		first := now
		for _, k := range st.tiled {
			when[k] = moment{now, first, first + len(st.tiled) - 1}
			now++
		}
	}
	return when
}

// findWhole marks values with rows that are read outside of the pass that makes them.
func (m *machine[T]) findWhole(p *plan, l *lives) {
	pass := make(map[int]int, len(p.order)) // slot -> stage
	for i := range p.stages {
		for _, k := range append(slices.Clone(p.stages[i].whole), p.stages[i].tiled...) {
			ins := &m.instrs[k]
			pass[ins.out] = i
			for _, a := range ins.args {
				if a >= 0 && m.slots[a].per > 0 && (!ins.tiled || pass[a] != i) {
					l.whole[a] = true
				}
			}
		}
	}
	for _, o := range p.outs {
		l.whole[o] = true
	}
}

// findReads finds the moment of each value's last read.
func (m *machine[T]) findReads(p *plan, l *lives, when map[int]moment) {
	for _, k := range p.order {
		ins := &m.instrs[k]
		for _, a := range ins.args {
			if a < 0 {
				continue
			}
			r, t := m.root(a), when[k].at
			if l.whole[r] {
				t = when[k].last
			}
			l.lastRead[r] = max(l.lastRead[r], t)
		}
	}
	for _, o := range p.outs {
		l.lastRead[m.root(o)] = len(p.order)
	}
}

// place gives the output of an instruction a life: that of an input which nothing reads any more and which the kernel may overwrite,
// or a new one.
func (m *machine[T]) place(p *plan, l *lives, ins *instr[T], t moment) {
	s := &m.slots[ins.out]
	if s.base >= 0 {
		p.layout.views = append(p.layout.views, ins.out)
	}
	if !m.isTemporary(ins.out) {
		return
	}
	to := place{slot: ins.out, n: s.r * s.c, tile: !l.whole[ins.out]}
	if to.tile {
		to.n = m.tile * s.per * s.c
	}
	p.layout.places = append(p.layout.places, to)
	end := l.lastRead[ins.out]
	if a := m.overwritten(l, ins, t); a >= 0 {
		l.of[ins.out] = l.of[a]
		l.list[l.of[a]].to = end
		return
	}
	from := t.at
	if l.whole[ins.out] {
		from = t.first
	}
	l.of[ins.out] = len(l.list)
	l.list = append(l.list, life{from: from, to: end, n: to.n})
}

// overwritten returns the input of an instruction in whose place its output can be written, or −1.
func (m *machine[T]) overwritten(l *lives, ins *instr[T], t moment) int {
	for _, i := range overwritable(ins.rule) {
		a := ins.args[i]
		if a < 0 || a == ins.out || !m.isTemporary(a) || l.of[a] < 0 || l.lastRead[a] != t.at || l.whole[a] != l.whole[ins.out] {
			continue
		}
		in, out := &m.slots[a], &m.slots[ins.out]
		if in.r != out.r || in.c != out.c || in.per != out.per || m.readElsewhere(ins, i) {
			continue
		}
		return a
	}
	return -1
}

// readElsewhere reports whether another argument than i lies in the memory of argument i, unless it is the same value.
func (m *machine[T]) readElsewhere(ins *instr[T], i int) bool {
	for j, b := range ins.args {
		if j != i && b >= 0 && b != ins.args[i] && m.root(b) == ins.args[i] {
			return true
		}
	}
	return false
}

// overwritable returns the inputs that a rule's kernel reads entry by entry before it writes the same entry of the output,
// so that both may be one.
func overwritable(r rule) []int {
	switch r := r.(type) {
	case affine, addPartRule, clipRule, power:
		return []int{0}
	case named:
		switch r {
		case rowScale, colScale, addRow, addCol:
			return []int{0}
		case scaleByOp:
			return []int{1}
		case opAdd, opSub, opMul, opDiv, opMax, opMin:
			return []int{0, 1}
		case fnExp, fnLog, fnSqrt, fnTanh, fnSigmoid, fnSoftplus, fnReLU, fnStep, fnSin, fnCos, fnLog1p, fnExpm1, fnErf, fnAbs, fnSign:
			return []int{0}
		}
	}
	return nil
}

// align is the number of numbers of which places have a multiple, so that they begin where lines of the cache do.
const align = 16

// allot gives each life its place, and returns the numbers that all take. Time: about proportional to their number where few sizes
// occur again and again.
func allot(list []life) (size int) {
	order := make([]int, len(list))
	last := 0
	for i := range list {
		order[i] = i
		list[i].n = (list[i].n + align - 1) / align * align
		last = max(last, list[i].to)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(list[a].from, list[b].from) })
	ends := make([][]int, last+1)
	for i := range list {
		ends[list[i].to] = append(ends[list[i].to], i)
	}
	f := freeSpace{exact: map[int][]int{}}
	now := 0
	for _, i := range order {
		for ; now < list[i].from; now++ {
			for _, j := range ends[now] {
				f.give(list[j].off, list[j].n)
			}
		}
		list[i].off = f.take(list[i].n)
	}
	return f.size
}

// freeSpace is the space that is free at a moment, below the size so far.
type freeSpace struct {
	exact map[int][]int // offsets of gaps, by their length
	gaps  int
	size  int
}

func (f *freeSpace) give(off, n int) {
	f.exact[n] = append(f.exact[n], off)
	f.gaps++
}

// take returns the offset of n numbers: a gap of just this length, else the least that is large enough after
// neighbouring gaps were joined, else the end.
func (f *freeSpace) take(n int) int {
	if off := f.exact[n]; len(off) > 0 {
		f.exact[n] = off[:len(off)-1]
		f.gaps--
		return off[len(off)-1]
	}
	f.join()
	best := 0
	for length, offs := range f.exact {
		if len(offs) > 0 && length >= n && (best == 0 || length < best) {
			best = length
		}
	}
	if best > 0 {
		off := f.take(best)
		if best > n {
			f.give(off+n, best-n)
		}
		return off
	}
	// A gap at the end grows.
	for length, offs := range f.exact {
		if k := slices.Index(offs, f.size-length); k >= 0 {
			f.exact[length] = slices.Delete(offs, k, k+1)
			f.gaps--
			f.size += n - length
			return f.size - n
		}
	}
	f.size += n
	return f.size - n
}

// join joins gaps that touch.
func (f *freeSpace) join() {
	type gap struct{ off, n int }
	all := make([]gap, 0, f.gaps)
	for n, offs := range f.exact {
		for _, off := range offs {
			all = append(all, gap{off, n})
		}
	}
	slices.SortFunc(all, func(a, b gap) int { return cmp.Compare(a.off, b.off) })
	clear(f.exact)
	f.gaps = 0
	for i := 0; i < len(all); {
		j, n := i+1, all[i].n
		for ; j < len(all) && all[j].off == all[i].off+n; j++ {
			n += all[j].n
		}
		f.give(all[i].off, n)
		i = j
	}
}

// enter gives the slots of p their places.
func (m *machine[T]) enter(p *plan) {
	scratch := m.memory.atLeast(p.layout.size)
	for _, to := range p.layout.places {
		s := &m.slots[to.slot]
		memory := scratch[to.off:][:to.n:to.n]
		if to.tile {
			s.buf, s.tiles = nil, memory
		} else {
			s.buf, s.tiles = memory, nil
		}
	}
	for _, i := range p.layout.views {
		s := &m.slots[i]
		s.buf = m.slots[s.base].buf[s.off:][:s.r*s.c]
	}
	m.current = p
}

// leave takes the places of the slots and of the calls that read them back, so that nothing holds scratch memory that has been replaced.
func (m *machine[T]) leave() {
	if m.current == nil {
		return
	}
	for _, to := range m.current.layout.places {
		s := &m.slots[to.slot]
		s.buf, s.tiles = nil, nil
	}
	for _, i := range m.current.layout.views {
		m.slots[i].buf = nil
	}
	for _, k := range m.current.order {
		ins := &m.instrs[k]
		ins.dst = mat[T]{}
		clear(ins.in)
	}
	m.current = nil
}
