package ad

import (
	"slices"

	"dsbo"
	"dsbo/internal/kernel"
)

// A machine holds the numbers of a template's values, a slot for each, and runs plans over them.
//
// Rows of the batch are run in tiles: all that depends on rows a..b of the data is computed, and
// added into the sums, before the next tile is read, so that the rows are still in cache when a
// product needs them for the second time, and minibatch rows are converted straight from their
// table without a gathered copy of the batch; most products with bytes read these where they lie.
//
// A value whose recomputation would cost more than its memory is kept, and is recomputed only if an
// input that it depends on has changed (see [template.chooseKept]). The others lie in scratch
// memory, where values whose lives do not overlap share a place (see [template.lay]), or those of a
// [tail] in registers.
type machine[T Float] struct {
	template *template[T]
	memory   *memory[T]
	rows     int // examples in a batch, 0 without batch
	tile     int // examples in a tile
	tileFrom int // the first example of the tile that runs
	slots    []slot[T]
	instrs   []instr[T]
	layouts  []*layout // of the plans that it knows
	needed   []bool    // scratch of run

	direction uint64  // the bit of the input that changes while others stay, else 0
	scratch   []T     // while a plan runs, until leave
	current   *layout // of the plan whose slots have their places
	changed   uint64  // how often an input but the direction was found changed

	// For eachUnit: how many unit vectors run now, 0 otherwise; the first one's number;
	// their input.
	lanes, from, unit int

	call    call[T]  // of the instruction that runs
	in      []mat[T] // memory of call.in
	inLanes [][]T    // arguments in all lanes, or nil; scratch of runLanes
	forms   forms    // scratch of runTiles
	scaled  []T      // scratch of runBytes
	tail    *tailMemory[T]
	piece   [512]T // scratch of setInput: what the first-level cache holds

	// running is the instruction that runs now, on examples from..to.
	running struct {
		ins      *instr[T]
		from, to int
	}
}

// slot is where the numbers of a value are.
type slot[T Float] struct {
	*value[T]
	shared *sharedVector[T] // of a point: its memory
	seen   uint64           // the version of it that the machine's values were computed for
	own    []T              // the whole value, if it is kept
	buf    []T              // the whole value, while a plan runs that has it; nil while only tiles are there
	tiles  []T              // one tile, or one strip, of a value that is not there whole
	strip  bool             // tiles is a strip
	cur    []T              // the current tile
	held   [2]int           // the examples, from and to, that an input's tile has been read for; 0, 0 if none
	valid  bool             // own is up to date
	table  *Table           // where an input's rows are
	idx    []int            // which of its rows, nil for all
	rows   sparseRows[T]    // those of the current tile, of a value that has such rows
	list   []kernel.ByteRow // rows of the current tile where a table of bytes is read in place, and some that follow

	wide   []T // a value for each lane of eachUnit
	stride int // from one lane to the next
}

// instr is a step as it runs now.
type instr[T Float] struct {
	*step[T]
	run   bool
	bytes int  // the argument that is read in place as bytes, or −1
	wide  bool // has a value in each lane
	role  role // of the plan that runs
}

// engine returns a machine of t with memory of a workspace. It has slots once it has followed t.
func (t *template[T]) engine(w *Workspace) engine {
	return &machine[T]{template: t, memory: memoryOf[T](w), rows: t.rows, tile: t.tile}
}

// follow takes note of all that the template has come to have: slots for its values, memory for
// those that are kept, and how plans lie in scratch memory. It is called where something is asked
// for that the machine does not know.
func (m *machine[T]) follow() {
	t := m.template
	t.mu.Lock()
	defer t.mu.Unlock()
	m.direction = t.direction
	m.layouts = slices.Clone(t.layouts)
	m.slots = slices.Grow(m.slots, len(t.values)-len(m.slots))
	for _, v := range t.values[len(m.slots):] {
		m.slots = append(m.slots, m.newSlot(v))
	}
	for i := range m.slots {
		if s := &m.slots[i]; s.kept && s.own == nil {
			s.keep(kernel.MakePages[T](s.r * s.c))
		}
	}
	m.instrs = slices.Grow(m.instrs, len(t.steps)-len(m.instrs))
	args := 0
	for _, s := range t.steps[len(m.instrs):] {
		m.instrs = append(m.instrs, instr[T]{step: s})
		args = max(args, len(s.args))
	}
	m.needed = make([]bool, len(m.slots))
	if len(m.in) < args {
		m.in, m.inLanes = make([]mat[T], args), make([][]T, args)
	}
}

func (m *machine[T]) newSlot(v *value[T]) slot[T] {
	s := slot[T]{value: v}
	switch {
	case v.constant != nil:
		s.keep(v.constant)
		s.valid = true
	case v.point != "":
		s.shared, s.valid = m.memory.point(v.point, v.r), true
		s.buf = s.shared.v
	}
	return s
}

// keep makes the slot keep its whole value in memory of its own.
func (s *slot[T]) keep(memory []T) { s.own, s.buf, s.tiles = memory, memory, nil }

// input returns the slot of an input.
func (m *machine[T]) input(i int) *slot[T] {
	if i >= len(m.slots) {
		m.follow()
	}
	return &m.slots[i]
}

// followPoints marks what depends on a point that has changed, be it by another program,
// for recomputation.
func (m *machine[T]) followPoints() {
	for i := range m.slots {
		if s := &m.slots[i]; s.shared != nil && s.seen != s.shared.version {
			m.invalidate(s.bit)
			s.seen = s.shared.version
		}
	}
}

// bind makes rows idx of t (all if nil) the value of input i.
func (m *machine[T]) bind(i int, t *Table, idx []int) error {
	s := m.input(i)
	if t == nil {
		return dsbo.Errorf(dsbo.ErrShape, "the table must not be nil")
	}
	rows := t.Rows()
	if idx != nil {
		rows = len(idx)
	}
	if rows != s.r || t.Cols() != s.c {
		return dsbo.Errorf(dsbo.ErrShape, "the input has %d rows and %d columns; the table has %d and %d", s.r,
			s.c, rows, t.Cols())
	}
	if s.sparse != nil && !t.Sparse() {
		return dsbo.Errorf(dsbo.ErrShape, "the input is declared sparse; the table must be one of SparseTable")
	}
	if s.table == t && slices.Equal(s.idx, idx) {
		return nil
	}
	for k, j := range idx {
		if j < 0 || j >= t.Rows() {
			return dsbo.Errorf(dsbo.ErrShape, "rows of a batch must be from 0 to %d; at place %d is %d",
				t.Rows()-1, k, j)
		}
	}
	s.table = t
	if idx == nil {
		s.idx = nil
	} else {
		s.idx = append(s.idx[:0], idx...)
	}
	m.invalidate(s.bit)
	s.valid, s.held = false, [2]int{}
	if s.per == 0 {
		s.wholeValue()
	}
	return nil
}

// changes returns a number that grows when an input changes, but for the direction.
func (m *machine[T]) changes() uint64 {
	m.followPoints()
	return m.changed
}

// invalidate marks what depends on an input for recomputation.
func (m *machine[T]) invalidate(bit uint64) {
	if bit != m.direction {
		m.changed++
	}
	for i := range m.slots {
		if s := &m.slots[i]; s.deps&bit != 0 && s.bit == 0 {
			s.valid = false
		}
	}
}

// wholeValue returns the value of a slot that keeps it, reading it from its table the first time.
func (s *slot[T]) wholeValue() []T {
	if s.table != nil && !s.valid {
		readRows(s.table, s.buf, s.idx, 0, s.r)
		s.valid = true
	}
	return s.buf
}

// loadRows makes rows from..to of the slot's table current, in place where they lie as T. A tile
// that was read last is there still: a batch of one tile is gathered once for all that is asked
// of it.
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
		return mat[T]{v: s.cur[(from-m.tileFrom)*s.c : (to-m.tileFrom)*s.c], r: to - from, c: s.c}
	case s.buf != nil:
		return mat[T]{v: s.buf[from*per*s.c : to*per*s.c], r: (to - from) * per, c: s.c}
	}
	first := from - m.tileFrom
	if s.strip {
		first = 0
	}
	return mat[T]{v: s.tiles[first*per*s.c:][:(to-from)*per*s.c], r: (to - from) * per, c: s.c}
}

// tableRows returns rows from..to in the table's own memory, if they lie there as T.
func tableRows[T Float](t *Table, idx []int, from, to int) ([]T, bool) {
	if base, ok := any(t.f64).([]T); ok {
		return inPlace(t, base, idx, from, to)
	}
	return inPlace(t, any(t.f32).([]T), idx, from, to)
}
