package ad

// keptNumbers is how many numbers a program may keep between runs, if that is more than twice the length of y; values of at most
// smallNumbers do not count. keepCols is the width of a value with rows that is kept for another plan's sake: at one
// point a gradient follows a value, and a product a product.
const (
	keptNumbers  = 4 << 20
	smallNumbers = 4 << 10
	keepCols     = 32
)

// chooseKept decides after a plan was made which values more are kept from one run to the next. These are worth it: what does not depend
// on the direction, where something that does reads it, so that the next product at the same point begins with it; what several
// plans read, if it is narrow; and what depends on x alone, or on nothing. A value that one cheap op makes of what is there
// is not. It reports whether there are more.
func (m *machine[T]) chooseKept() (more bool) {
	last := len(m.plans) - 1
	for _, k := range m.plans[last].order {
		m.instrs[k].plans |= 1 << min(last, 63)
	}
	readers := make([]reading, len(m.slots))
	for k := range m.instrs {
		ins := &m.instrs[k]
		if m.slots[ins.out].base >= 0 {
			continue
		}
		for _, a := range ins.args {
			if a >= 0 {
				readers[m.root(a)].add(ins.plans, m.slots[ins.out].deps)
			}
		}
	}
	for k := range m.instrs {
		ins := &m.instrs[k]
		i := ins.out
		if !m.isTemporary(i) || !m.isWorthKeeping(i, readers[i]) || m.isCheap(ins) {
			continue
		}
		s := &m.slots[i]
		n := s.r * s.c
		if n > smallNumbers {
			if m.kept+n > m.budget {
				continue
			}
			m.kept += n
		}
		s.keep(make([]T, n))
		more = true
	}
	return more
}

// A reading is what reads a value.
type reading struct {
	any, all uint64 // the plans of any and of all that read it
	deps     uint64 // the inputs that they depend on
	some     bool
}

func (r *reading) add(plans, deps uint64) {
	if !r.some {
		r.all, r.some = plans, true
	}
	r.any |= plans
	r.all &= plans
	r.deps |= deps
}

func (m *machine[T]) isWorthKeeping(i int, by reading) bool {
	s := &m.slots[i]
	const x = 1 // the first input
	switch {
	case s.deps&^x == 0:
		return true
	case s.deps&m.direction == 0 && by.deps&m.direction != 0:
		return true
	}
	return s.per > 0 && s.c*s.per <= keepCols && by.any != by.all
}

// isCheap reports whether an instruction takes no longer than reading its output from memory: arithmetic entry by entry, on
// values that are there.
func (m *machine[T]) isCheap(ins *instr[T]) bool {
	switch r := ins.rule.(type) {
	case affine, clipRule:
	case named:
		switch r {
		case opAdd, opSub, opMul, opMax, opMin, fnStep, fnReLU, fnAbs, fnSign, rowScale, colScale, addRow, addCol, scaleByOp:
		default:
			return false
		}
	default:
		return false
	}
	for _, a := range ins.args {
		if a >= 0 && m.isTemporary(m.root(a)) {
			return false
		}
	}
	return m.slots[ins.out].per > 0
}
