package engine

import (
	"slices"
	"unsafe"

	"dsbo/internal/kernel"
)

// A slot is where the numbers of a value are in a machine.
type slot[T Float] struct {
	*value
	shared *sharedVector[T] // the memory of a point
	seen   uint64           // the version of shared that the machine's values were computed for
	common *common[T]       // what own is of, if programs share it
	own    []T              // the whole value, if it is kept
	buf    []T              // the whole value, while a plan runs that has it whole
	tiles  []T              // one tile, or one strip, of a value that is not there whole
	strip  bool             // tiles is a strip
	cur    []T              // the current tile of a table
	held   [2]int           // the examples, from and to, that tiles has of a table; 0, 0 for none
	valid  bool             // own is up to date
	table  *Rows            // where an input's rows are
	idx    []int            // which of the table's rows, nil for all
	rows   *sparseRows[T]   // the current tile of sparse rows; nil before the first
	list   []kernel.ByteRow // the current tile of bytes that are read in place, and some rows more
	wide   []T              // for a run in lanes: the value in each lane
	stride int              // from one lane to the next
}

// retain makes the slot retain its whole value in memory of its own.
func (s *slot[T]) retain(memory []T) { s.own, s.buf, s.tiles = memory, memory, nil }

// whole returns the whole value, which is read from its table the first time.
func (s *slot[T]) whole() []T {
	if s.table != nil && !s.valid {
		s.read()
	}
	return s.buf
}

func (s *slot[T]) read() {
	Read(s.table, s.buf, s.idx, 0, s.r)
	s.valid = true
}

// loadRows makes rows from..to of the slot's table current, in place if they lie there as T. A tile
// that was read last is still there, unless releaseTile gave it back: a batch of one tile is
// gathered once for all questions. loadRows reports whether it took the tile's memory from m.
func (s *slot[T]) loadRows(from, to int, m *memory[T]) (took bool) {
	if s.buf != nil {
		s.cur = s.whole()[from*s.c : to*s.c]
		return false
	}
	if rows, ok := InPlace[T](s.table, s.idx, from, to); ok {
		s.cur = rows
		return false
	}
	n := (to - from) * s.c
	if took = len(s.tiles) < n; took { // not before: a table may lie in place
		s.tiles, s.held = m.takeTile(n), [2]int{}
	}
	s.cur = s.tiles[:n]
	if tile := [2]int{from, to}; s.held != tile {
		Read(s.table, s.cur, s.idx, from, to)
		s.held = tile
	}
	return took
}

// keptTile is the most bytes of a tile that its slot keeps whatever is in it.
const keptTile = 1 << 16

// releaseTile gives the memory of the tile to other programs, unless it is small or has a drawn
// batch as a whole.
func (s *slot[T]) releaseTile(m *memory[T]) {
	drawn := s.idx != nil && s.held == [2]int{0, s.r}
	if len(s.tiles) == 0 || drawn || len(s.tiles)*int(unsafe.Sizeof(s.tiles[0])) <= keptTile {
		return
	}
	m.returnTile(s.tiles)
	s.tiles, s.cur, s.held = nil, nil, [2]int{}
}

// listRows makes rows from..to of a batch of some rows current, as bytes.
func (s *slot[T]) listRows(from, to, rows int) {
	until := min(to+kernel.BytesAhead, rows)
	s.list = slices.Grow(s.list[:0], until-from)[:until-from]
	for k := range s.list {
		s.list[k] = s.table.ByteRows[rowIndex(s.idx, from+k)]
	}
}

// rowsBeside returns the current rows for a product with numbers. If these are not finite, or too
// large to tell, zeros of the rows count.
func (s *slot[T]) rowsBeside(numbers []T) []kernel.ByteRow {
	if d := kernel.Dot(numbers, numbers); d-d == 0 {
		return s.list
	}
	whole := slices.Clone(s.list)
	for k, r := range whole {
		whole[k] = r.Whole()
	}
	return whole
}

// allotLanes makes the lanes of a slot, as large as its buffer or its tile.
func (s *slot[T]) allotLanes(tile int) {
	if s.stride = s.r * s.c; s.buf == nil && s.per > 0 {
		s.stride = tile * s.per * s.c
	}
	if len(s.wide) < UnitLanes*s.stride {
		s.wide = make([]T, UnitLanes*s.stride)
	}
}

// UnitLanes is how many unit vectors run side by side: enough rows for a matrix product to run at
// full speed, which takes 12 at once, and few enough for their values to stay in cache.
const UnitLanes = 24

// An instr is a step as a machine runs it now.
type instr[T Float] struct {
	*step
	kern  func(*Call[T])
	run   bool
	bytes int  // the argument that is read in place as bytes, or −1
	wide  bool // has a value in each lane
	role  role // in the plan that runs
}
