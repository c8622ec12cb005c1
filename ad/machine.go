package ad

import (
	"fmt"
	"slices"
	"unsafe"

	"dsbo"
	"dsbo/internal/kernel"
)

// A machine holds the nodes of one graph as slots, and runs plans over them.
//
// Rows of the batch are run in tiles: all that depends on rows a..b of the data is computed, and added
// into the sums, before the next tile is read, so that the rows are still in cache when a product
// needs them for the second time, and minibatch rows are converted straight from their table without
// a gathered copy of the batch; most products with bytes read these where they lie.
//
// A value whose recomputation would cost more than its memory is kept, and is recomputed only if an input that it
// depends on has changed (see [machine.chooseKept]). The others lie in scratch memory, where values whose lives do not overlap
// share a place (see [machine.lay]).
type machine[T Float] struct {
	rows   int // examples in a batch, 0 without batch
	tile   int // examples in a tile
	memory *memory[T]
	slots  []slot[T]
	instrs []instr[T]
	byNode map[*Node]int
	byOut  map[int]int // slot -> instruction
	inputs int         // leaves that can change
	needed []bool      // scratch of run

	plans     []*plan
	direction uint64 // the bit of the input that changes while others stay, else 0
	budget    int    // numbers that may be kept beside small values
	kept      int    // numbers that are
	current   *plan  // the one whose slots have their places
	changed   uint64 // how often an input but the direction was found changed

	// For eachUnit: how many unit vectors run now, 0 otherwise; the first one's number; their input.
	lanes, from, unit int

	scaled []T    // scratch of runBytes
	piece  [512]T // scratch of setInput: what the first-level cache holds

	// running is the instruction that runs now, on examples from..to.
	running struct {
		ins      *instr[T]
		from, to int
	}
}

// slot is where a node's value lives.
type slot[T Float] struct {
	r, c  int
	per   int              // rows per example if the value is cut by rows, else 0
	point *sharedVector[T] // of an input that the caller sets, whose memory programs may share
	seen  uint64           // the version of point that the machine's values were computed for
	own   []T              // the whole value, if it is kept
	buf   []T              // the whole value, while a plan runs that has it; nil while only tiles are there
	tiles []T              // one tile of a value that is not there whole
	cur   []T              // the current tile
	held  [2]int           // the examples, from and to, that an input's tile has been read for; 0, 0 if none
	deps  uint64           // inputs that it depends on
	valid bool             // own is up to date
	bit   uint64           // of an input, else 0
	table *Table           // where an input's rows are
	idx   []int            // which of its rows, nil for all

	base, off int // of a view: the slot whose numbers from off on it has; else base is -1

	sparse *sparseSlot[T] // of a value with sparse rows, which has no buffer; else nil

	list [][]byte // rows of the current tile where a table of bytes is read in place, and some that follow

	wide   []T // a value for each lane of eachUnit
	stride int // from one lane to the next
}

type instr[T Float] struct {
	call[T]
	rule  rule
	kern  func(*call[T])
	args  []int // slots; −1 where the kernel does not read
	out   int
	cut   []bool // args that are cut by rows, if tiled
	tiled bool   // runs tile by tile
	sum   bool   // adds up the tiles
	plans uint64 // which plans have it, by bit; those from the 64th on share the last
	run   bool   // scratch of machine.run
	bytes int    // the argument that is read in place as bytes, or −1; scratch of machine.runTiles
	wide  bool   // has a value in each lane; scratch of machine.run
	lanes [][]T  // of args, or nil; scratch of runLanes
}

// maxInputs is the number of bits in which a slot notes the inputs that it depends on.
const maxInputs = 64

// tileBytes is about the size of a tile of the widest input, a share of the second-level cache, and tileRows the
// most rows of one: calls of kernels for fewer rows of narrow data took a fifth of the time.
const (
	tileBytes = 512 << 10
	tileRows  = 512
)

// newMachine returns a machine for batches of so many rows, whose widest input has so many columns, and a y of so many numbers.
func newMachine[T Float](rows, widest, numbers int, mem *memory[T]) *machine[T] {
	return &machine[T]{rows: rows, tile: tileOf[T](rows, widest), memory: mem, budget: max(2*numbers, keptNumbers),
		byNode: map[*Node]int{}, byOut: map[int]int{}}
}

// tileOf returns the examples of a tile, so that all tiles of a batch have about as many: the weights of a layer are read anew for each.
func tileOf[T Float](rows, widest int) int {
	var t T
	most := min(max(8, tileBytes/(widest*int(unsafe.Sizeof(t)))&^7), tileRows)
	tiles := max(1, (rows+most-1)/most)
	return min(((rows+tiles-1)/tiles+7)&^7, rows)
}

// addInput adds a leaf that the caller sets. A batch input has one row per example.
func (m *machine[T]) addInput(n *Node, in Input) (int, error) {
	if m.inputs == maxInputs {
		return 0, fmt.Errorf("%w: a function can have at most %d inputs, counting x, y and v", ErrGraph, maxInputs)
	}
	r, c := dims(n)
	s := slot[T]{r: r, c: c, base: -1, bit: 1 << m.inputs}
	s.deps = s.bit
	m.inputs++
	switch {
	case in.Sparse:
		s.per, s.sparse = 1, &sparseSlot[T]{input: len(m.slots)}
	case in.Batch:
		s.per = 1
	default:
		s.keep(make([]T, r*c))
	}
	return m.addSlot(n, s), nil
}

// addPoint adds a vector that the caller sets, and that programs of one workspace share.
func (m *machine[T]) addPoint(n *Node, name string) (int, error) {
	i, err := m.addInput(n, Input{Batch: true}) // without memory of its own
	if err != nil {
		return 0, err
	}
	s := &m.slots[i]
	s.per, s.point, s.valid = 0, m.memory.point(name, s.r), true
	s.buf = s.point.v
	return i, nil
}

// setDirection names the input that changes while the others stay: what does not depend on it is worth keeping.
func (m *machine[T]) setDirection(i int) { m.direction = m.slots[i].bit }

// keep makes the slot keep its whole value in memory of its own.
func (s *slot[T]) keep(memory []T) { s.own, s.buf, s.tiles = memory, memory, nil }

func (m *machine[T]) addSlot(n *Node, s slot[T]) int {
	m.slots = append(m.slots, s)
	m.needed = append(m.needed, false)
	m.byNode[n] = len(m.slots) - 1
	return len(m.slots) - 1
}

// slotOf returns the slot of node n, adding it and all that it depends on.
func (m *machine[T]) slotOf(n *Node) (int, error) {
	if i, ok := m.byNode[n]; ok {
		return i, nil
	}
	if isLeaf(n) {
		return m.addConstant(n)
	}
	r, in := fused(n)
	sp := r.split()
	ins := instr[T]{rule: r, args: make([]int, len(in)), cut: make([]bool, len(in))}
	for i, c := range in {
		ins.args[i] = -1
		if sp.args != "" && sp.args[i] == 'n' {
			continue
		}
		var err error
		if ins.args[i], err = m.slotOf(c); err != nil {
			return 0, err
		}
	}
	k32, k64 := r.kernels()
	ins.kern = kernelOf[T](k32, k64)
	if m.isSquare(&ins) {
		return m.addSquare(n, ins.args[0]), nil
	}
	return m.addInstr(n, sp, ins)
}

// kernelOf returns the kernel of type T.
func kernelOf[T Float](k32 func(*call[float32]), k64 func(*call[float64])) func(*call[T]) {
	if k, ok := any(k32).(func(*call[T])); ok {
		return k
	}
	return any(k64).(func(*call[T]))
}

// addConstant adds a leaf that is not an input: it must carry its value.
func (m *machine[T]) addConstant(n *Node) (int, error) {
	v := n.Value()
	if v == nil {
		return 0, fmt.Errorf("%w: node %q must be an input of the loss or carry a value", ErrGraph, n.Name())
	}
	data, err := valueData[T](v)
	if err != nil {
		return 0, fmt.Errorf("%w: node %q: %w", ErrGraph, n.Name(), err)
	}
	r, c := dims(n)
	s := slot[T]{r: r, c: c, base: -1, valid: true}
	s.keep(slices.Clone(data))
	return m.addSlot(n, s), nil
}

func (m *machine[T]) addInstr(n *Node, sp split, ins instr[T]) (int, error) {
	rows, cols := dims(n)
	s := slot[T]{r: rows, c: cols, base: -1}
	for _, a := range ins.args {
		if a >= 0 {
			s.deps |= m.slots[a].deps
		}
	}
	ins.tiled = m.tileable(&ins, sp, rows)
	ins.sum = ins.tiled && sp.sum
	if err := m.chooseSparse(&ins); err != nil {
		return 0, err
	}
	if ins.tiled && !ins.sum {
		s.per = rows / m.rows
	}
	m.chooseView(ins, &s)
	ins.in, ins.lanes = make([]mat[T], len(ins.args)), make([][]T, len(ins.args))
	ins.out = m.addSlot(n, s)
	m.instrs = append(m.instrs, ins)
	m.byOut[ins.out] = len(m.instrs) - 1
	return ins.out, nil
}

// tileable reports whether an instruction can run tile by tile, and marks the arguments that are cut then:
// one of them has rows of its own for each example, the output has a whole number of rows an
// example or is a sum, and nothing that has rows is read whole.
func (m *machine[T]) tileable(ins *instr[T], sp split, rows int) bool {
	if sp.args == "" || !sp.sum && rows%(max(m.rows, 1)*max(sp.block, 1)) != 0 {
		return false
	}
	batch := false
	for i, a := range ins.args {
		switch s := sp.args[i]; {
		case a < 0: // only its shape counts
			return false
		case s == 'r':
			ins.cut[i] = true
			batch = batch || m.slots[a].per > 0
		case m.slots[a].per > 0:
			return false
		}
	}
	return batch
}

// chooseView makes s a view of its input's value where the rule only selects or reshapes.
func (m *machine[T]) chooseView(ins instr[T], s *slot[T]) {
	off := 0
	switch r := ins.rule.(type) {
	case partRule:
		off = r.off
	case shapeRule:
	default:
		return
	}
	if in := m.slots[ins.args[0]]; in.per == 0 && s.per == 0 {
		s.base, s.off = ins.args[0], off
	}
}

// root returns the slot whose memory slot i has: itself, if it is no view.
func (m *machine[T]) root(i int) int {
	for m.slots[i].base >= 0 {
		i = m.slots[i].base
	}
	return i
}

// isTemporary reports whether slot i is computed and not kept: it has its memory from the plan that runs, and is no view.
func (m *machine[T]) isTemporary(i int) bool {
	s := &m.slots[i]
	return s.bit == 0 && s.own == nil && s.sparse == nil && s.base < 0
}

// setInput copies v into input i; what depends on it is recomputed only if it differs in a bit. So 0 and -0 differ: results must not
// depend on what the input was before.
func (m *machine[T]) setInput(i int, v []float64) {
	p := m.slots[i].point
	j := 0
	for ; j < len(v); j += len(m.piece) {
		n := min(len(m.piece), len(v)-j)
		if convert(m.piece[:n], v[j:][:n]); !kernel.SameBits(m.piece[:n], p.v[j:][:n]) {
			break
		}
	}
	if j >= len(v) {
		return
	}
	convert(p.v[j:], v[j:])
	p.version++
}

// followPoints marks what depends on a point that has changed, be it by another program, for recomputation.
func (m *machine[T]) followPoints() {
	for i := range m.slots {
		if s := &m.slots[i]; s.point != nil && s.seen != s.point.version {
			m.invalidate(s.bit)
			s.seen = s.point.version
		}
	}
}

// bind makes rows idx of t (all if nil) the value of input i.
func (m *machine[T]) bind(i int, t *Table, idx []int) error {
	s := &m.slots[i]
	if t == nil {
		return dsbo.Errorf(dsbo.ErrShape, "the table must not be nil")
	}
	rows := t.Rows()
	if idx != nil {
		rows = len(idx)
	}
	if rows != s.r || t.Cols() != s.c {
		return dsbo.Errorf(dsbo.ErrShape, "the input has %d rows and %d columns; the table has %d and %d", s.r, s.c, rows, t.Cols())
	}
	if s.sparse != nil && !t.Sparse() {
		return dsbo.Errorf(dsbo.ErrShape, "the input is declared sparse; the table must be one of SparseTable")
	}
	if s.table == t && slices.Equal(s.idx, idx) {
		return nil
	}
	for k, j := range idx {
		if j < 0 || j >= t.Rows() {
			return dsbo.Errorf(dsbo.ErrShape, "rows of a batch must be from 0 to %d; at place %d is %d", t.Rows()-1, k, j)
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

// readSlot copies the value of slot i to dst.
func (m *machine[T]) readSlot(dst []float64, i int) {
	convert(dst, m.slots[i].wholeValue())
}
