package engine

import (
	"slices"
	"unsafe"

	"dsbo/internal/kernel"
)

// A slot is where the numbers of a value are in a machine.
type slot[T Float] struct {
	*value
	source   *source[T]     // of an input, else nil
	common   *common[T]     // what buf is of, if the value is kept and programs share it
	lanes    *laneValues[T] // nil before the first run in lanes
	buf      []T            // the whole value, if it is retained or while a plan runs that has it whole
	tiles    []T            // one tile, or one strip, of a value that is not there whole
	strip    bool           // tiles is a strip
	retained bool           // buf stays when a plan has run
	valid    bool           // what is retained, or read of a table, is up to date
}

// A source is where the numbers of an input come from: a point or a table.
type source[T Float] struct {
	shared *sharedVector[T]  // the memory of a point
	seen   uint64            // the version of shared that the machine's values were computed for
	table  *Rows             // where rows are; nil before they are bound
	idx    []int             // which of the table's rows, nil for all
	cur    []T               // the current tile of a table
	held   [2]int            // the examples, from and to, that tiles has of a table; 0, 0 for none
	sparse [2]*sparseRows[T] // the current tile of sparse rows, as they are and squared; nil before the first
	list   []kernel.ByteRow  // the current tile of bytes that are read in place, and some rows more
}

// laneValues are a value in each lane of a run in lanes.
type laneValues[T Float] struct {
	wide []T
	own  []T  // memory of a value that is kept
	same bool // all lanes have the value of the first
}

// retain makes the slot retain its whole value in memory of its own.
func (s *slot[T]) retain(memory []T) { s.buf, s.tiles, s.retained = memory, nil, memory != nil }

// hasTable reports whether the slot is of an input to which a table is bound.
func (s *slot[T]) hasTable() bool { return s.source != nil && s.source.table != nil }

// whole returns the whole value, which is read from its table the first time.
func (s *slot[T]) whole() []T {
	if s.hasTable() && !s.valid {
		Read(s.source.table, s.buf, s.source.idx, 0, s.r)
		s.valid = true
	}
	return s.buf
}

// loadRows makes rows from..to of the slot's table current, in place if they lie there as T. A tile
// that was read last is still there, unless releaseTile gave it back: a batch of one tile is
// gathered once for all questions. loadRows reports whether it took the tile's memory from m.
func (s *slot[T]) loadRows(from, to int, m *memory[T]) (took bool) {
	of := s.source
	if s.buf != nil {
		of.cur = s.whole()[from*s.c : to*s.c]
		return false
	}
	if rows, ok := InPlace[T](of.table, of.idx, from, to); ok {
		of.cur = rows
		return false
	}
	n := (to - from) * s.c
	if took = len(s.tiles) < n; took { // not before: a table may lie in place
		s.tiles, of.held = m.takeTile(n), [2]int{}
	}
	of.cur = s.tiles[:n]
	if tile := [2]int{from, to}; of.held != tile {
		Read(of.table, of.cur, of.idx, from, to)
		of.held = tile
	}
	return took
}

// keptTile is the most bytes of a tile that its slot keeps whatever is in it.
const keptTile = 1 << 16

// releaseTile gives the memory of the tile to other programs, unless it is small or has a drawn
// batch as a whole.
func (s *slot[T]) releaseTile(m *memory[T]) {
	of := s.source
	drawn := of.idx != nil && of.held == [2]int{0, s.r}
	if len(s.tiles) == 0 || drawn || len(s.tiles)*int(unsafe.Sizeof(s.tiles[0])) <= keptTile {
		return
	}
	m.returnTile(s.tiles)
	s.tiles, of.cur, of.held = nil, nil, [2]int{}
}

// listRows makes rows from..to of a batch of some rows current, as bytes.
func (s *source[T]) listRows(from, to, rows int) {
	until := min(to+kernel.BytesAhead, rows)
	s.list = slices.Grow(s.list[:0], until-from)[:until-from]
	for k := range s.list {
		s.list[k] = s.table.ByteRows[rowIndex(s.idx, from+k)]
	}
}

// rowsBeside returns the current rows for a product with numbers. If these are infinite, NaN or too
// large to be sure, zeros of the rows are multiplied too.
func (s *source[T]) rowsBeside(numbers []T) []kernel.ByteRow {
	if d := kernel.Dot(numbers, numbers); d-d == 0 {
		return s.list
	}
	whole := slices.Clone(s.list)
	for k, r := range whole {
		whole[k] = r.Whole()
	}
	return whole
}

// Lanes is how many vectors run side by side: enough rows for a matrix product to run at
// full speed, which takes 12 at once, and few enough for their values to stay in cache.
const Lanes = 24

// An instr is a step as a machine runs it now.
type instr[T Float] struct {
	*step
	kern  func(*Call[T])
	bytes int // the argument that is read in place as bytes, or −1
	run   bool
	wide  bool // has a value in each lane
	first int  // of these values, the first number that is needed
	role  role // in the plan that runs
	gate  int  // in that plan, see gateOf
}
