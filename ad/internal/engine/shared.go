package engine

import (
	"slices"

	"dsbo/internal/kernel"
)

// A sharedSum is a product Aᵀ·B that a wave sums over the batch, so large that processors share it
// by parts of its rows. Each part is the sum of the tiles in their order. A processor adds to its
// own part where it can, also for the tile of another: the part then stays in its cache, and a tile
// does not wait until the tile before it has added to all parts.
type sharedSum[T Float] struct {
	ins     *instr[T]
	by      []*machine[T] // by tile: which machine has the rows of A and B; nil before and after
	next    []int         // by part: the next tile to add
	adding  []bool        // by part: a processor adds that tile
	columns int           // of A in a part, the last may have fewer
}

// leastPart is the least number of multiplications of a processor's part of a tile of a shared sum:
// taking it costs some microseconds.
const leastPart = 1 << 20

// newSharedSum returns the sum of a group of steps as processors share it, nil if the group is
// anything but one sum that is large enough.
func newSharedSum[T Float](m *machine[T], steps []int, tile, processors, tiles int) *sharedSum[T] {
	ins := &m.instrs[steps[0]]
	if len(steps) > 1 || !ins.run || !ins.sums || ins.Kind != Product || ins.bytes >= 0 || ins.sparse >= 0 {
		return nil
	}
	a, out := &m.slots[ins.args[0]], &m.slots[ins.out]
	parts := min(processors, out.numbers()*tile/leastPart, a.c/kernel.CrewGrain)
	if parts < 2 || out.c == 1 { // a vector's kernel is another
		return nil
	}
	columns := ((a.c+parts-1)/parts + kernel.CrewGrain - 1) / kernel.CrewGrain * kernel.CrewGrain
	parts = (a.c + columns - 1) / columns // rounding up may leave fewer
	return &sharedSum[T]{ins: ins, by: make([]*machine[T], tiles), next: make([]int, parts),
		adding: make([]bool, parts), columns: columns}
}

// has reports whether tile t is in all parts.
func (s *sharedSum[T]) has(t int) bool { return slices.Min(s.next) > t }

// isAdding reports whether a processor adds tile t to a part.
func (s *sharedSum[T]) isAdding(t int) bool {
	for part, adding := range s.adding {
		if adding && s.next[part] == t {
			return true
		}
	}
	return false
}

// choose chooses a part to which the next tile can be added now: first if it can be, else one
// which tile t waits for.
func (s *sharedSum[T]) choose(first, t int) (part int, ok bool) {
	isReady := func(part int) bool {
		return !s.adding[part] && s.next[part] < len(s.by) && s.by[s.next[part]] != nil
	}
	if first < len(s.next) && isReady(first) {
		return first, true
	}
	for part, next := range s.next {
		if next <= t && isReady(part) {
			return part, true
		}
	}
	return 0, false
}

// addPart adds examples from..to, of which m has the rows, to a part.
func (s *sharedSum[T]) addPart(m *machine[T], part, from, to int) {
	a, b := m.rowsOf(&m.slots[s.ins.args[0]], from, to), m.rowsOf(&m.slots[s.ins.args[1]], from, to)
	first := part * s.columns
	kernel.GemmTN(min(s.columns, a.C-first), b.C, a.R, m.slots[s.ins.out].buf[first*b.C:], b.C, a.V[first:], a.C,
		b.V, b.C, from > 0)
}

// addShared adds tile t, of which m has the rows, to the shared sum of a group, with the help of
// the processors that come to it meanwhile. It fails if an earlier tile has.
func (w *wave[T]) addShared(m *machine[T], t, group int) {
	s := w.shared[group]
	w.mu.Lock()
	defer w.mu.Unlock()
	s.by[t] = m
	w.moved.Broadcast()
	for !s.has(t) {
		part, ok := s.choose(m.share, t)
		switch {
		case ok:
			w.addNext(s, part)
		case w.failed < t && !s.isAdding(t):
			s.by[t] = nil
			panic(Failure{w.err})
		default:
			w.moved.Wait()
		}
	}
	s.by[t] = nil
	w.moved.Broadcast()
}

// addNext adds the next tile to a part of a shared sum. Meanwhile the wave is unlocked.
func (w *wave[T]) addNext(s *sharedSum[T], part int) {
	t := s.next[part]
	m, from := s.by[t], t*w.tile
	s.adding[part] = true
	w.mu.Unlock()
	s.addPart(m, part, from, min(from+w.tile, m.template.rows))
	w.mu.Lock()
	s.adding[part] = false
	s.next[part]++
	w.moved.Broadcast()
}
