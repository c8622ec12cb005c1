package engine

import (
	"fmt"
	"slices"

	"dsbo"
	"dsbo/internal/kernel"
)

// A machine has the numbers of a template's values, a slot for each, and runs plans over them.
//
// Rows of the batch are run in tiles: everything that depends on rows a..b of the data is computed,
// and added into the sums, before the next tile is read. The rows are then still in cache when a
// product needs them for the second time, and minibatch rows are converted straight from their
// table without a gathered copy; most products with bytes read them where they lie.
//
// An expensive value is kept, and computed again only if an input that it depends on has changed
// (see [Template.chooseKept]). Other values lie in scratch memory (see [layout]), or in the
// registers of a [tail].
type machine[T Float] struct {
	template *Template  // what is compiled, shared by the machines of one program
	memory   *memory[T] // of the workspace
	slots    []slot[T]  // by value
	instrs   []instr[T] // by step
	layouts  []*layout  // of the plans that it knows
	points   []int      // slots of x, y, v and u

	directions uint64 // the bits of the inputs that change while others stay
	changed    uint64 // how often an input but the directions was found changed

	scratch  []T     // while a plan runs, until leave
	current  *layout // of the plan whose slots have their places
	tileFrom int     // the first example of the tile that runs
	needed   []int   // by value: its first number that is; scratch of chooseSteps

	lanes, from, unit int       // of EachVector: vectors that run now, the first of them, their input
	vectors           []float64 // of EachVector; nil for unit vectors
	least             int       // of EachVector: the first number of the output that is wanted
	lane              int       // of EachVector: the lane that is read
	laneMemory        []T       // of EachVector: of values that are not kept

	call           Call[T]        // of the step that runs
	in             []Mat[T]       // memory of call.In
	inLanes        [][]T          // arguments in all lanes, or nil; scratch of runLanes
	numbers, bytes []bool         // by table of a pass: a step reads it as numbers, as bytes in place
	tables         []int          // inputs whose tiles are memory of the pool, until it is given back
	scaled         []T            // scratch of runBytes and runBeside
	live           gathered[T]    // of runLive
	tail           *tailMemory[T] // of a tail that no crew shares; made at its first run

	helpers []*machine[T] // that run tiles of waves
	share   int           // of a helper: the part of shared sums that it adds to first

	// running is the step that runs now, on examples from..to.
	running struct {
		ins      *instr[T]
		from, to int
	}
}

// update adds what the template has gained: slots for its values, memory for kept values, and the
// layouts of plans. It is called when a value or plan is asked for that the machine does not know.
func (m *machine[T]) update() {
	t := m.template
	t.mu.Lock()
	defer t.mu.Unlock()
	m.directions = t.directions
	m.layouts = slices.Clone(t.layouts)
	m.slots = lengthened(m.slots, len(t.values))
	for _, v := range t.values[len(m.slots):] {
		if v.point != "" {
			m.points = append(m.points, len(m.slots))
		}
		m.slots = append(m.slots, m.newSlot(v))
	}
	for i := range m.slots {
		if s := &m.slots[i]; s.kept && !s.retained && !t.isCommon(i) { // commons have memory of the pool
			s.retain(kernel.MakePages[T](s.numbers()))
		}
	}
	m.instrs = lengthened(m.instrs, len(t.steps))
	args := 0
	for _, s := range t.steps[len(m.instrs):] {
		m.instrs = append(m.instrs, instr[T]{step: s, kern: kernelOf[T](s)})
		args = max(args, len(s.args))
	}
	m.needed = make([]int, len(m.slots))
	if len(m.in) < args { // args is of the new steps alone
		m.in, m.inLanes = make([]Mat[T], args), make([][]T, args)
	}
}

// lengthened returns a list with memory for n elements, and no more: each agent's machines have it.
func lengthened[E any](list []E, n int) []E {
	if n <= cap(list) {
		return list
	}
	return append(make([]E, 0, n), list...)
}

// newSlot returns the slot of a value: inputs have a source, constants their numbers, and points
// the numbers shared in memory.
func (m *machine[T]) newSlot(v *value) slot[T] {
	s := slot[T]{value: v}
	if v.bit != 0 {
		s.source = new(source[T])
	}
	switch {
	case v.constant != nil:
		s.retain(v.constant.([]T))
		s.valid = true
	case v.point != "":
		s.source.shared, s.valid = m.memory.point(v.point, v.r), true
	}
	return s
}

// input returns the slot of an input.
func (m *machine[T]) input(i int) *slot[T] {
	if i >= len(m.slots) { // the template has gained values since
		m.update()
	}
	return &m.slots[i]
}

// Bind makes rows idx of t (all if nil) the value of input i.
func (m *machine[T]) Bind(i int, t *Rows, idx []int) error {
	s := m.input(i)
	of, rows := s.source, t.R
	if idx != nil {
		rows = len(idx)
	}
	if rows != s.r || t.C != s.c {
		return dsbo.ShapeErrorf("the input has %d rows and %d columns; the table has %d and %d",
			s.r, s.c, rows, t.C)
	}
	if s.sparse != nil && t.Sparse == nil {
		return dsbo.ShapeErrorf("the input is declared sparse; the table must be one of SparseTable")
	}
	if of.table == t && slices.Equal(of.idx, idx) {
		return nil
	}
	for k, j := range idx {
		if j < 0 || j >= t.R {
			return dsbo.ShapeErrorf("rows of a batch must be from 0 to %d; at place %d is %d", t.R-1, k, j)
		}
	}
	of.table = t
	if idx == nil {
		of.idx = nil
	} else {
		of.idx = append(of.idx[:0], idx...)
	}
	m.invalidate(s.bit)
	s.valid, of.held = false, [2]int{}
	if s.per == 0 { // no pass over tiles reads it
		s.whole()
	}
	return nil
}

// Changes returns a number that grows when an input changes, except for a direction.
func (m *machine[T]) Changes() uint64 {
	m.comparePoints()
	return m.changed
}

// comparePoints invalidates what depends on a point that has changed, by this program or another.
func (m *machine[T]) comparePoints() {
	for _, i := range m.points {
		s := &m.slots[i]
		if of := s.source; of.seen != of.shared.version {
			m.invalidate(s.bit)
			of.seen = of.shared.version
			s.buf = of.shared.common.v
		}
	}
}

// invalidate marks what depends on an input for recomputation.
func (m *machine[T]) invalidate(bit uint64) {
	if bit&m.directions == 0 {
		m.changed++
	}
	for i := range m.slots {
		if s := &m.slots[i]; s.deps&bit != 0 && s.bit == 0 {
			s.valid = false
		}
	}
	if g := m.live.gate; g >= 0 && !m.slots[g].valid {
		m.live.gate = -1
	}
}

// rowsOf returns the rows of s that belong to examples from..to.
func (m *machine[T]) rowsOf(s *slot[T], from, to int) Mat[T] {
	per := s.per
	if per == 0 { // not made in tiles, but with rows for each example: a constant, or a step's that runs whole
		per = s.r / m.template.rows
	}
	n, numbers, first := (to-from)*per, s.tiles, from-m.tileFrom
	switch {
	case s.sparse != nil:
		return Mat[T]{R: n, C: s.c, sparse: m.slots[s.sparse.input].source.sparseFrom(from, s.sparse.square)}
	case s.source != nil && s.source.cur != nil:
		numbers = s.source.cur
	case s.buf != nil:
		numbers, first = s.buf, from
	case s.strip: // which begins where this step does
		first = 0
	}
	return Mat[T]{V: numbers[first*per*s.c:][:n*s.c], R: n, C: s.c}
}

// callOf returns the call of a step, whose arguments are to be filled in.
func (m *machine[T]) callOf(ins *instr[T]) *Call[T] {
	m.call.In = m.in[:len(ins.args)]
	clear(m.call.In)
	return &m.call
}

// compute runs a step's kernel on examples from..to, which the call has.
func (m *machine[T]) compute(ins *instr[T], from, to int) {
	m.running.ins, m.running.from, m.running.to = ins, from, to
	ins.kern(&m.call)
}

// runStep runs a step on examples from..to, or whole.
func (m *machine[T]) runStep(ins *instr[T], from, to int) {
	out := &m.slots[ins.out]
	if out.base >= 0 || ins.role == skipped {
		return
	}
	c := m.callOf(ins)
	for i, a := range ins.args {
		if a < 0 {
			continue
		}
		if s := &m.slots[a]; ins.tiled && ins.cut[i] {
			c.In[i] = m.rowsOf(s, from, to)
		} else {
			c.In[i] = Mat[T]{V: s.whole(), R: s.r, C: s.c}
		}
	}
	if ins.tiled && !ins.sums {
		c.Dst = m.rowsOf(out, from, to)
	} else {
		c.Dst = Mat[T]{V: out.buf, R: out.r, C: out.c}
	}
	c.First = from == 0 && ins.role != resumes
	if !runLive(m, ins, to-from) {
		m.compute(ins, from, to)
	}
}

// failure returns the error of a run that panicked with a [Failure], or because of an index, with
// the index's place in its table. Other panics are raised again.
func (m *machine[T]) failure(r any) error {
	if r == nil {
		return nil
	}
	bad, ok := r.(*indexError)
	if !ok {
		return Failed(r)
	}
	ins, examples := m.running.ins, m.running.to-m.running.from
	bad.op = ins.Name
	for i := range m.slots { // the first table with rows that the indices, argument 1, come from
		s := &m.slots[i]
		if !s.hasTable() || s.per == 0 || s.bit&m.slots[ins.args[1]].deps == 0 || bad.of%examples != 0 {
			continue
		}
		each := bad.of / examples
		row := s.source.table.Base(rowIndex(s.source.idx, m.running.from+bad.entry/each))
		if bad.where = fmt.Sprintf("that of row %d", row); each > 1 {
			bad.where = fmt.Sprintf("entry %d of row %d", bad.entry%each, row)
		}
		break
	}
	return bad
}

// bytesArg returns the argument that a tiled step reads in place as bytes, or −1. Rows that are
// made numbers first, once for all products, go out to the second-level cache and back, which
// takes longer than to convert them anew in each product; zeros at the ends of a row, as at the
// edges of pictures, are no work then. Plain Go is quicker with rows that are converted once, and
// so are products that read each byte many times. What other plans read does not count: bits must
// not depend on what was asked before.
func (m *machine[T]) bytesArg(ins *instr[T]) int {
	if ins.Kind != Product || ins.TransA == ins.TransB || ins.wide || kernel.Active() == kernel.Generic {
		return -1
	}
	arg, across := 0, m.slots[ins.args[1]].r
	if ins.TransA {
		arg, across = 1, m.slots[ins.args[0]].c
	}
	s := &m.slots[ins.args[arg]]
	if s.per == 0 || !s.hasTable() || s.source.table.ByteRows == nil || across == 1 || across >= manyColumns {
		return -1
	}
	return arg
}

// manyColumns is from how many columns, or rows of a sum, a product takes longer to convert bytes
// again and again than to read numbers.
const manyColumns = 64

// chooseForms notes in which form the steps of a pass that run read each table.
func (m *machine[T]) chooseForms(st *stage) {
	n := len(st.tables)
	m.numbers, m.bytes = slices.Grow(m.numbers[:0], n)[:n], slices.Grow(m.bytes[:0], n)[:n]
	clear(m.numbers)
	clear(m.bytes)
	for _, k := range st.tiled {
		ins := &m.instrs[k]
		if !ins.run {
			continue
		}
		ins.bytes = m.bytesArg(ins)
		for i, a := range ins.args {
			if t := slices.Index(st.tables, a); t >= 0 {
				m.bytes[t] = m.bytes[t] || i == ins.bytes
				m.numbers[t] = m.numbers[t] || i != ins.bytes
			}
		}
	}
}

// runBytes runs a product on examples from..to of a table of bytes. The scale of the table goes to
// the fewer numbers, the results or the other factor.
func (m *machine[T]) runBytes(ins *instr[T], from, to int) {
	s, out := &m.slots[ins.args[ins.bytes]], &m.slots[ins.out]
	of, scale := s.source, T(s.source.table.Scale)
	if ins.bytes == 0 {
		w, d := &m.slots[ins.args[1]], m.rowsOf(out, from, to)
		kernel.BytesNT(d.R, d.C, s.c, d.V, d.C, of.rowsBeside(w.buf), w.buf, w.c)
		kernel.Scale(d.V, scale, d.V)
		return
	}
	u := m.rowsOf(&m.slots[ins.args[0]], from, to)
	m.scaled = slices.Grow(m.scaled[:0], len(u.V))[:len(u.V)]
	kernel.Scale(m.scaled, scale, u.V)
	kernel.BytesTN(u.C, s.c, out.buf, s.c, m.scaled, u.C, of.rowsBeside(m.scaled)[:u.R], from > 0)
}
