package engine

import "slices"

// A layout is the places in scratch memory, during a plan, of values that are not kept. Values
// whose lives do not overlap share a place.
type layout struct {
	places  []place   // of values
	groups  [][]group // by stage
	roles   []role    // by step
	gates   []int     // by step, see gateOf
	views   []int     // values, each after the value that it is a view of
	commons []int     // kept values that programs share
	size    int       // numbers of scratch memory
	tile    int       // examples in a tile
	tail    *tail     // nil if there is none; its values have no places
}

// A place is n numbers from off on for a value: the whole of it, one tile or one strip.
type place struct {
	value, off, n int
	extent        extent
}

// An extent is the part of a value that is in memory at one time.
type extent uint8

const (
	wholeExtent extent = iota
	tileExtent
	stripExtent
)

// A moment is when a step runs. Time is counted in steps in the order of a run.
type moment struct {
	at                    int
	first, last           int // of the steps of its pass over the tiles; at, for a step in no pass
	groupFirst, groupLast int // of the steps of its group
	strip                 int // examples in a strip of its group, 0 for none
}

// span returns the first and the last moment at which a step may access a value: of its pass for a
// whole value, of its group for a tile, else its own moment.
func (m moment) span(e extent) (first, last int) {
	switch {
	case e == wholeExtent:
		return m.first, m.last
	case e == tileExtent && m.strip > 0:
		return m.groupFirst, m.groupLast
	}
	return m.at, m.at
}

// A layoutState is what is known of values while a layout is made.
type layoutState struct {
	*graph
	plan     *Plan           // whose layout it is
	made     *layout         // so far
	when     []moment        // by step
	lastStep []int           // by value: the moment of the step that reads it last
	lastRead []int           // by value: when its life ends
	extent   []extent        // by value
	lifeOf   []int           // by value: its life, or −1
	series   map[int]*series // by value
	lives    []life          // by number
}

// newLayout makes the layout of p.
func (g *graph) newLayout(p *Plan) *layout {
	n := len(g.values)
	l := layoutState{graph: g, plan: p,
		made: &layout{tail: g.newTail(p), roles: make([]role, len(g.steps)), gates: make([]int, len(g.steps)),
			tile: g.tileOf(p)},
		lastStep: make([]int, n), lastRead: make([]int, n), extent: make([]extent, n), lifeOf: make([]int, n)}
	for i := range l.lifeOf {
		l.lifeOf[i] = -1
		if g.values[i].per > 0 {
			l.extent[i] = stripExtent
		}
	}
	for i := range p.stages {
		l.made.groups = append(l.made.groups, g.groups(p.stages[i].tiled, p.lanes))
	}
	l.findMoments()
	inTail := l.made.tail.members(len(g.steps))
	l.series = g.findSeries(p, inTail, l.when)
	l.findExtents()
	l.findReads()
	for i := range p.stages {
		for _, list := range [][]int{p.stages[i].whole, p.stages[i].tiled} {
			for _, k := range list {
				l.made.gates[k] = g.gateOf(p, k)
				if !inTail[k] {
					l.place(k)
				}
			}
		}
	}
	l.made.size = allot(l.lives)
	for i := range l.made.places {
		to := &l.made.places[i]
		to.off = l.lives[l.lifeOf[to.value]].off
	}
	return l.made
}

// findMoments finds when the steps run: the tail after all others.
func (l *layoutState) findMoments() {
	l.when = make([]moment, len(l.steps))
	now := 0
	for i := range l.plan.stages {
		st := &l.plan.stages[i]
		for _, k := range st.whole {
			l.when[k] = moment{at: now, first: now, last: now}
			now++
		}
		first := now
		for _, of := range l.made.groups[i] {
			for at, k := range st.tiled[of.first:of.end] {
				l.when[k] = moment{first + of.first + at, first, first + len(st.tiled) - 1,
					first + of.first, first + of.end - 1, of.rows}
			}
		}
		now += len(st.tiled)
	}
	if tl := l.made.tail; tl != nil {
		for i := range tl.steps {
			l.when[tl.steps[i].step] = moment{at: now, first: now, last: now}
		}
	}
}

// findExtents finds how much of each value with rows is in memory: the whole of an output and of a
// value that is read outside of the pass that makes it; a tile of a value that two groups access,
// or a step without strips.
func (l *layoutState) findExtents() {
	madeAt := make(map[int]moment, len(l.plan.order)) // by value
	widen := func(i int, e extent) { l.extent[l.root(i)] = min(l.extent[l.root(i)], e) }
	for _, k := range l.plan.order {
		s, now := l.steps[k], l.when[k]
		madeAt[s.out] = now
		if now.strip == 0 {
			widen(s.out, tileExtent)
		}
		for _, a := range s.reads {
			if l.values[a].per == 0 {
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
	for _, o := range l.plan.outs {
		widen(o, wholeExtent)
	}
}

// findReads finds the moment of each value's last read, and the end of its life.
func (l *layoutState) findReads() {
	for _, k := range l.plan.order {
		for _, a := range l.steps[k].reads {
			r, now := l.root(a), l.when[k]
			_, last := now.span(l.extent[r])
			l.lastStep[r] = max(l.lastStep[r], now.at)
			l.lastRead[r] = max(l.lastRead[r], last)
		}
	}
	for _, o := range l.plan.outs {
		r := l.root(o)
		l.lastStep[r], l.lastRead[r] = len(l.plan.order), len(l.plan.order)
	}
}

// place gives the output of a step a life: a new one, or the life of an input that nothing reads
// any more and that the kernel may overwrite.
func (l *layoutState) place(k int) {
	s, now := l.steps[k], l.when[k]
	v := l.values[s.out]
	if v.base >= 0 {
		l.made.views = append(l.made.views, s.out)
	}
	if l.isCommon(s.out) {
		l.made.commons = append(l.made.commons, s.out)
	}
	if !l.isTemporary(s.out) {
		return
	}
	to := place{value: s.out, n: v.numbers(), extent: l.extent[s.out]}
	switch to.extent {
	case tileExtent:
		to.n = l.made.tile * v.per * v.c
	case stripExtent:
		to.n = now.strip * v.per * v.c
	}
	l.made.places = append(l.made.places, to)
	if c := l.series[s.out]; c != nil {
		l.made.roles[k] = l.joinSeries(c, s, to.n, now)
		return
	}
	end := l.lastRead[s.out]
	if a := l.overwritten(s, now); a >= 0 {
		l.lifeOf[s.out] = l.lifeOf[a]
		l.lives[l.lifeOf[a]].to = max(end, l.lastRead[a])
		return
	}
	from, _ := now.span(to.extent)
	l.lifeOf[s.out] = len(l.lives)
	l.lives = append(l.lives, life{from: from, to: end, n: to.n})
}

// joinSeries has step s write to the memory of its series, and returns the step's role. The first
// sum opens the memory, later sums add to it, and additions have nothing left to do.
func (l *layoutState) joinSeries(c *series, s *step, n int, now moment) role {
	first := !c.begun
	if first {
		c.begun, c.life = true, len(l.lives)
		l.lives = append(l.lives, life{from: now.first, to: l.lastRead[c.end], n: n})
	}
	l.lifeOf[s.out] = c.life
	switch {
	case first:
		return noRole
	case s.sums:
		return resumes
	}
	return skipped
}

// overwritten returns the input of a step in whose place its output can be written, or −1: one that
// nothing reads after it, also not a view or the next tile, and that is as large.
func (l *layoutState) overwritten(s *step, now moment) int {
	for _, i := range s.InPlace {
		a := s.args[i]
		if a < 0 || a == s.out || !l.isTemporary(a) || l.lifeOf[a] < 0 || l.extent[a] != l.extent[s.out] {
			continue
		}
		if l.lastStep[a] != now.at || l.extent[a] == wholeExtent && l.lastRead[a] != now.at {
			continue
		}
		in, out := l.values[a], l.values[s.out]
		view := slices.ContainsFunc(s.reads, func(b int) bool { return b != a && l.root(b) == a })
		if in.r == out.r && in.c == out.c && in.per == out.per && !view {
			return a
		}
	}
	return -1
}
