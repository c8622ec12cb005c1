package engine

import (
	"slices"
	"sync"

	"dsbo/internal/kernel"
)

// A wave is a pass over the tiles of a batch that processors share. Each takes the next tile, and
// has memory of its own for what is not there whole. Sums over the batch are one after another in
// the order of the tiles, so that bits do not depend on how many processors there are: a tile waits
// until the tile before it has passed the same group, or adds to parts of a [sharedSum].
type wave[T Float] struct {
	pass   *stage          // whose tiled steps run
	groups []group         // of its steps
	mu     sync.Mutex      // of all that follows but tile
	moved  sync.Cond       // another group or tile is over
	tile   int             // examples of a tile
	taken  int             // tiles that are begun
	ended  int             // tiles that are over
	passed []int           // by tile: the groups that are over
	shared []*sharedSum[T] // by group: a sum whose parts processors share; nil for other groups
	failed int             // the first tile with an error, else how many tiles there are
	err    error           // of that tile
}

// takeTile returns the next tile, until there are no more or one has failed.
func (w *wave[T]) takeTile() (t int, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.taken >= w.failed {
		return 0, false
	}
	w.taken++
	return w.taken - 1, true
}

// await waits until the tile before t has passed a group. It fails if that one has.
func (w *wave[T]) await(t, group int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for t > 0 && w.passed[t-1] <= group {
		if w.failed < t {
			panic(Failure{w.err})
		}
		w.moved.Wait()
	}
}

// passes notes that tile t has passed a group.
func (w *wave[T]) passes(t, group int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.passed[t] = group + 1
	w.moved.Broadcast()
}

// end notes that tile t is over. The error of the first tile with one counts, as without a wave.
func (w *wave[T]) end(t int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended++; err != nil && t < w.failed {
		w.failed, w.err = t, err
	}
	w.moved.Broadcast()
}

// wait waits until all tiles that are begun are over.
func (w *wave[T]) wait() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.ended < w.taken {
		w.moved.Wait()
	}
	return w.err
}

// A tile of a wave has at least leastShared examples, and a wave has some turns for each processor:
// the first tile and the last one keep others waiting.
const (
	leastShared = 32
	waveTurns   = 4
)

// newWave returns a wave for a pass of m, and how many helpers it has: none if the pass is short or
// no processor is free.
func newWave[T Float](m *machine[T], st *stage, groups []group) (w *wave[T], helpers int) {
	rows, tile, work := m.template.rows, m.current.tile, 0
	cuts := true // into any tiles
	for _, k := range st.tiled {
		ins := &m.instrs[k]
		if !ins.run {
			continue
		}
		if ins.wide || ins.role != noRole { // of a sum over the whole pass
			return nil, 0
		}
		work += workOf(m, ins)
		cuts = cuts && !(ins.sums && m.slots[ins.out].numbers() == 1)
	}
	least := tile
	if cuts {
		least = min(leastShared, tile)
	}
	if helpers = kernel.Hire(work, (rows-1)/least); helpers == 0 {
		return nil, 0
	}
	if cuts {
		tile = min(tile, max(least, (rows/(waveTurns*(helpers+1))+7)&^7))
	}
	w = &wave[T]{pass: st, groups: groups, tile: tile, passed: make([]int, (rows+tile-1)/tile)}
	w.failed, w.moved.L = len(w.passed), &w.mu
	for _, of := range groups {
		w.shared = append(w.shared, newSharedSum(m, st.tiled[of.first:of.end], tile, helpers+1, len(w.passed)))
	}
	for _, a := range st.tables {
		if s := &m.slots[a]; s.buf != nil { // now, as helpers would all do it at once
			s.whole()
		}
	}
	return w, helpers
}

// run makes the pass of m with helpers.
func (w *wave[T]) run(m *machine[T], helpers int) {
	for len(m.helpers) < helpers {
		m.helpers = append(m.helpers, &machine[T]{})
	}
	ends := make([]func(), helpers)
	for i, h := range m.helpers[:helpers] {
		followMachine(h, m)
		h.share = i + 1
		ends[i] = sync.OnceFunc(kernel.End)
		go func() {
			defer ends[i]()
			w.runTiles(h, kernel.Crowded)
		}()
	}
	w.runTiles(m, func() bool { return false })
	err := w.wait()
	for i, h := range m.helpers[:helpers] {
		ends[i]() // it may not have run, and is not to count in the next pass
		dismissHelper(h)
	}
	if err != nil {
		panic(Failure{err})
	}
}

// runTiles runs tiles until there are no more, or until the processor is needed elsewhere.
func (w *wave[T]) runTiles(m *machine[T], needed func() bool) {
	for !needed() {
		t, ok := w.takeTile()
		if !ok {
			return
		}
		w.end(t, w.runTile(m, t))
	}
}

// runTile runs tile t.
func (w *wave[T]) runTile(m *machine[T], t int) (err error) {
	defer func() { err = m.failure(recover()) }()
	from := t * w.tile
	runTile(m, w.pass, from, min(from+w.tile, m.template.rows), w.groups, w, t)
	return nil
}

// workOf is how many multiplications a step takes about as long as. It reads no value of the
// template, to which other machines may add.
func workOf[T Float](m *machine[T], ins *instr[T]) int {
	const entry = 8 // entry by entry, in a cache
	n := m.slots[ins.out].numbers()
	if ins.sums {
		return n * m.slots[ins.args[0]].r
	}
	return n * max(ins.Terms, entry)
}

// followMachine makes h run tiles of the pass that m is at, with the values of m, but with memory
// of its own for tiles and for rows of tables.
func followMachine[T Float](h, m *machine[T]) {
	h.template, h.memory, h.instrs, h.current = m.template, m.memory, m.instrs, m.current
	h.numbers, h.bytes = m.numbers, m.bytes
	h.slots = append(h.slots[:0], m.slots...)
	h.in = slices.Grow(h.in[:0], len(m.in))[:len(m.in)]
	h.call = Call[T]{Block: h.memory.commons.blocks.Get()}
	h.scratch = h.memory.takeTile(h.current.size)
	placeTiles(h)
	for i := range h.slots {
		if s := &h.slots[i]; s.hasTable() { // the tile that m reads is not the helper's
			s.source = &source[T]{table: s.source.table, idx: s.source.idx}
			s.tiles = nil
		}
	}
}

// dismissHelper gives back what followMachine took.
func dismissHelper[T Float](h *machine[T]) {
	for _, i := range h.tables {
		h.memory.returnTile(h.slots[i].tiles)
	}
	h.memory.returnTile(h.scratch)
	h.memory.commons.blocks.Add(h.call.Block)
	h.tables, h.scratch, h.call = h.tables[:0], nil, Call[T]{}
	clear(h.in)
	clear(h.slots)
}
