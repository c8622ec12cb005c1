package engine

import (
	"slices"

	"dsbo/internal/kernel"
)

// A common is numbers that programs of a pool share by reading them: of x, y or v, or of a value
// that depends on such points alone. It is written before anybody else has it.
type common[T Float] struct {
	v       []T
	kind    commonKind
	version uint64             // of a point: which numbers these are; no others of the pool have it
	at      [mostPoints]uint64 // of a value: the versions of the points that it was computed at
	fresh   bool               // nobody else has it yet
	users   int                // how many workspaces or machines have it
}

// A commonKind is the identity of shared numbers: a point, or a value of a template.
type commonKind struct {
	point    string
	template *Template
	number   int // the length of a point, the number of a value
}

// mostPoints is on how many points, the first ones of a template, values depend that are shared: x,
// y, v and u.
const mostPoints = 4

// commons are the numbers of type T that programs of a pool share, under the pool's lock.
type commons[T Float] struct {
	newest map[commonKind]*common[T]   // of each kind the last one, as long as somebody has it
	spare  []*common[T]                // nobody has these
	blocks kernel.Spares[[CallBlock]T] // scratch of calls that do not run, under a lock of its own
}

// mostSpare is how many commons without users wait for the next.
const mostSpare = 8

// takeNewest returns the newest common of a kind, which from then on has one user more; nil if
// there is none, or if it is a value at other points.
func (m *memory[T]) takeNewest(kind commonKind, at [mostPoints]uint64) *common[T] {
	m.pool.mu.Lock()
	defer m.pool.mu.Unlock()
	c := m.commons.newest[kind]
	if c == nil || c.at != at {
		return nil
	}
	c.users++
	return c
}

// giveUp notes that a common, nil for none, has one user less.
func (m *memory[T]) giveUp(c *common[T]) {
	if c == nil {
		return
	}
	m.pool.mu.Lock()
	defer m.pool.mu.Unlock()
	m.drop(c)
}

// drop is giveUp under the lock.
func (m *memory[T]) drop(c *common[T]) {
	if c.users--; c.users > 0 {
		return
	}
	if m.commons.newest[c.kind] == c {
		delete(m.commons.newest, c.kind)
	}
	if len(m.commons.spare) == mostSpare {
		m.commons.spare = slices.Delete(m.commons.spare, 0, 1)
	}
	m.commons.spare = append(m.commons.spare, c)
}

// renew returns a common of n numbers in place of old, which may be nil, to be written: old itself
// if nobody else has it.
func (m *memory[T]) renew(old *common[T], kind commonKind, n int) *common[T] {
	c := m.reuse(old, n)
	if c == nil {
		c = &common[T]{v: kernel.MakePages[T](n)}
	}
	c.kind, c.fresh, c.users = kind, true, 1
	return c
}

// reuse returns memory that may be written to: old, which has n numbers or is nil, if nobody else
// has it, else a spare common of n numbers; nil if there is none. Old is not the newest of its kind
// any more then, since its numbers will be others.
func (m *memory[T]) reuse(old *common[T], n int) *common[T] {
	m.pool.mu.Lock()
	defer m.pool.mu.Unlock()
	if old != nil && old.users == 1 {
		if m.commons.newest[old.kind] == old {
			delete(m.commons.newest, old.kind)
		}
		return old
	}
	if old != nil {
		m.drop(old)
	}
	i := slices.IndexFunc(m.commons.spare, func(c *common[T]) bool { return len(c.v) == n })
	if i < 0 {
		return nil
	}
	c := m.commons.spare[i]
	m.commons.spare = slices.Delete(m.commons.spare, i, i+1)
	return c
}

// publish makes a fresh common the newest of its kind and returns it. If another program has been
// quicker with a value at the same points, the newest is returned in its place, and c dropped.
func (m *memory[T]) publish(c *common[T], at [mostPoints]uint64) *common[T] {
	m.pool.mu.Lock()
	defer m.pool.mu.Unlock()
	c.fresh, c.at = false, at
	n := m.commons.newest[c.kind]
	if n != nil && c.kind.template != nil && n.at == at { // points have no points; they are compared by numbers
		n.users++
		m.drop(c)
		return n
	}
	m.pool.versions++
	c.version = m.pool.versions
	if m.commons.newest == nil {
		m.commons.newest = map[commonKind]*common[T]{}
	}
	m.commons.newest[c.kind] = c
	return c
}

// isCommon reports whether programs share value i: it is kept, and depends on points alone.
func (g *graph) isCommon(i int) bool {
	v := g.values[i]
	return v.kept && v.step >= 0 && v.base < 0 && v.deps&^g.points == 0
}

// pointsOf returns the versions of the points that a value depends on.
func (m *machine[T]) pointsOf(s *slot[T]) (at [mostPoints]uint64) {
	for k, i := range m.points {
		if p := &m.slots[i]; s.deps&p.bit != 0 {
			at[k] = p.source.seen
		}
	}
	return at
}

// takeCommons finds the values of the current plan that another program has computed at the same
// points, and gives memory to the others.
func (m *machine[T]) takeCommons() {
	for _, i := range m.current.commons {
		s := &m.slots[i]
		if s.valid {
			continue
		}
		kind := commonKind{template: m.template, number: i}
		if c := m.memory.takeNewest(kind, m.pointsOf(s)); c != nil {
			m.memory.giveUp(s.common)
			s.common, s.valid = c, true
		} else {
			s.common = m.memory.renew(s.common, kind, s.numbers())
		}
		s.retain(s.common.v)
	}
}

// shareCommons lets other programs have what the current plan has computed, and gives memory back
// that it did not need.
func (m *machine[T]) shareCommons() {
	for _, i := range m.current.commons {
		s := &m.slots[i]
		switch {
		case s.common == nil || !s.common.fresh:
		case s.valid:
			s.common = m.memory.publish(s.common, m.pointsOf(s))
			s.retain(s.common.v)
		default:
			m.memory.giveUp(s.common)
			s.common = nil
			s.retain(nil)
		}
	}
}
