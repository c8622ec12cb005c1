package ad

import (
	"cmp"
	"slices"
)

// A layout says where values that are not kept lie in scratch memory while a plan runs. Values
// whose lives do not overlap share a place.
type layout struct {
	places []place
	groups [][]group // of each stage
	roles  []role    // by step
	views  []int     // slots, each after that of which it is a view
	size   int       // numbers of scratch memory
	tail   *tail     // whose values have no places; nil: there is none
}

// A place is the numbers from off on, n of them, for a slot: its whole value, or one tile or one
// strip of it.
type place struct {
	slot, off, n int
	extent       extent
}

// An extent says how much of a value is in memory at one time.
type extent uint8

const (
	wholeExtent extent = iota
	tileExtent
	stripExtent
)

// A life is the time from the first write to the last read of values that lie in one place one
// after another. The time is counted in steps in their order in a run; what is read or written in a
// pass over the tiles and outlasts a tile lives through the whole pass, and what outlasts a strip
// through all steps of the group.
type life struct {
	from, to int
	n        int // numbers
	off      int
}

// lives is the state of making a layout.
type lives struct {
	lastStep []int           // by value: the moment of the step that reads it last
	lastRead []int           // by value: when its life ends
	extent   []extent        // by value
	of       []int           // by value: its life in list, or −1
	series   map[int]*series // by value
	list     []life
}

// moment is when a step runs, the first and the last moment of the pass over tiles that it is in,
// if it is, and those of its group, which has so many examples in a strip, 0 for none.
type moment struct{ at, first, last, groupFirst, groupLast, strip int }

// span returns the first and the last moment at which a step may read or write a value of
// an extent.
func (m moment) span(e extent) (first, last int) {
	switch {
	case e == wholeExtent:
		return m.first, m.last
	case e == tileExtent && m.strip > 0:
		return m.groupFirst, m.groupLast
	}
	return m.at, m.at
}

// lay makes the layout of p.
func (t *template[T]) lay(p *plan) *layout {
	n := len(t.values)
	l := lives{lastStep: make([]int, n), lastRead: make([]int, n), extent: make([]extent, n), of: make([]int, n)}
	for i := range l.of {
		l.of[i] = -1
		if t.values[i].per > 0 {
			l.extent[i] = stripExtent
		}
	}
	made := &layout{tail: t.tailOf(p)}
	for i := range p.stages {
		made.groups = append(made.groups, t.groups(p, p.stages[i].tiled))
	}
	when := t.moments(p, made)
	made.roles = make([]role, len(t.steps))
	l.series = t.seriesOf(p, made, when)
	t.findExtents(p, &l, when)
	t.findReads(p, &l, when)
	inTail := made.tail.members(len(t.steps))
	for i := range p.stages {
		for _, list := range [][]int{p.stages[i].whole, p.stages[i].tiled} {
			for _, k := range list {
				if !inTail[k] {
					t.place(made, &l, t.steps[k], when[k])
				}
			}
		}
	}
	made.size = allot(l.list)
	for i := range made.places {
		to := &made.places[i]
		to.off = l.list[l.of[to.slot]].off
	}
	return made
}

// moments returns when p's steps run, by step: those of the layout's tail after all others.
func (t *template[T]) moments(p *plan, made *layout) []moment {
	when := make([]moment, len(t.steps))
	now := 0
	for i := range p.stages {
		st := &p.stages[i]
		for _, k := range st.whole {
			when[k] = moment{at: now, first: now, last: now}
			now++
		}
		first := now
		for _, g := range made.groups[i] {
			for at, k := range st.tiled[g.first:g.end] {
				when[k] = moment{first + g.first + at, first, first + len(st.tiled) - 1, first + g.first,
					first + g.end - 1, g.rows}
			}
		}
		now += len(st.tiled)
	}
	if made.tail != nil {
		for i := range made.tail.steps {
			when[made.tail.steps[i].step] = moment{at: now, first: now, last: now}
		}
	}
	return when
}

// findExtents finds how much of each value with rows is in memory: all of one that is read outside
// of the pass that makes it, or is an output, a tile of one that is made or read in a step which
// does not run in strips, or in two groups.
func (t *template[T]) findExtents(p *plan, l *lives, when []moment) {
	madeAt := make(map[int]moment, len(p.order)) // by value
	widen := func(i int, e extent) { l.extent[t.root(i)] = min(l.extent[t.root(i)], e) }
	for _, k := range p.order {
		s, now := t.steps[k], when[k]
		madeAt[s.out] = now
		if now.strip == 0 {
			widen(s.out, tileExtent)
		}
		for _, a := range s.args {
			if a < 0 || t.values[a].per == 0 {
				continue
			}
			switch made, ok := madeAt[a]; {
			case !s.tiled || ok && made.first != now.first:
				widen(a, wholeExtent)
			case !ok || made.groupFirst != now.groupFirst:
				widen(a, tileExtent)
			}
		}
	}
	for _, o := range p.outs {
		widen(o, wholeExtent)
	}
}

// findReads finds the moment of each value's last read, and the end of its life.
func (t *template[T]) findReads(p *plan, l *lives, when []moment) {
	for _, k := range p.order {
		for _, a := range t.steps[k].args {
			if a < 0 {
				continue
			}
			r, now := t.root(a), when[k]
			_, last := now.span(l.extent[r])
			l.lastStep[r] = max(l.lastStep[r], now.at)
			l.lastRead[r] = max(l.lastRead[r], last)
		}
	}
	for _, o := range p.outs {
		r := t.root(o)
		l.lastStep[r], l.lastRead[r] = len(p.order), len(p.order)
	}
}

// place gives the output of a step a life: that of an input which nothing reads any more and which
// the kernel may overwrite, or a new one.
func (t *template[T]) place(made *layout, l *lives, s *step[T], now moment) {
	v := t.values[s.out]
	if v.base >= 0 {
		made.views = append(made.views, s.out)
	}
	if !t.isTemporary(s.out) {
		return
	}
	to := place{slot: s.out, n: v.r * v.c, extent: l.extent[s.out]}
	switch to.extent {
	case tileExtent:
		to.n = t.tile * v.per * v.c
	case stripExtent:
		to.n = now.strip * v.per * v.c
	}
	made.places = append(made.places, to)
	end := l.lastRead[s.out]
	if c := l.series[s.out]; c != nil {
		made.roles[t.byOut[s.out]] = l.join(c, s.out, s.sum, to.n, now)
		return
	}
	if a := t.overwritten(l, s, now); a >= 0 {
		l.of[s.out] = l.of[a]
		l.list[l.of[a]].to = max(end, l.lastRead[a])
		return
	}
	from, _ := now.span(to.extent)
	l.of[s.out] = len(l.list)
	l.list = append(l.list, life{from: from, to: end, n: to.n})
}

// join gives a sum of a series, or an addition, the place of the series, and returns its role.
func (l *lives) join(c *series, i int, sum bool, n int, now moment) role {
	does := needless
	if sum {
		does = goesOn
	}
	if !c.begun {
		c.begun, c.life, does = true, len(l.list), noRole
		l.list = append(l.list, life{from: now.first, to: l.lastRead[c.end], n: n})
	}
	l.of[i] = c.life
	return does
}

// overwritten returns the input of a step in whose place its output can be written, or −1.
func (t *template[T]) overwritten(l *lives, s *step[T], now moment) int {
	for _, i := range overwritable(s.rule) {
		a := s.args[i]
		if a < 0 || a == s.out || !t.isTemporary(a) || l.of[a] < 0 || l.extent[a] != l.extent[s.out] {
			continue
		}
		if last := l.lastStep[a]; last != now.at || l.extent[a] == wholeExtent && l.lastRead[a] != now.at {
			continue
		}
		in, out := t.values[a], t.values[s.out]
		if in.r != out.r || in.c != out.c || in.per != out.per || t.readElsewhere(s, i) {
			continue
		}
		return a
	}
	return -1
}

// readElsewhere reports whether another argument than i lies in the memory of argument i, unless it
// is the same value.
func (t *template[T]) readElsewhere(s *step[T], i int) bool {
	for j, b := range s.args {
		if j != i && b >= 0 && b != s.args[i] && t.root(b) == s.args[i] {
			return true
		}
	}
	return false
}

// overwritable returns the inputs that a rule's kernel reads entry by entry before it writes the
// same entry of the output, so that both may be one.
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
		case opAdd, opSub, opMul, opDiv, opMax, opMin, opGate:
			return []int{0, 1}
		case fnExp, fnLog, fnSqrt, fnTanh, fnSigmoid, fnSoftplus, fnReLU, fnStep, fnSin, fnCos, fnLog1p, fnExpm1,
			fnErf, fnAbs, fnSign:
			return []int{0}
		}
	}
	return nil
}

// align is the number of numbers of which places have a multiple, so that they begin where lines of
// the cache do.
const align = 16

// allot gives each life its place, and returns the numbers that all take. Time: about proportional
// to their number where few sizes occur again and again.
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

// take returns the offset of n numbers: a gap of just this length, else the least that is large
// enough after neighbouring gaps were joined, else the end.
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
