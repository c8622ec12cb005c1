package ad

import (
	"slices"

	"dsbo/internal/kernel"
	"dsbo/internal/linalg"
)

// A tail is the end of a plan: the steps that make its outputs entry by entry of vectors as long as
// these, such as the sum of a penalty's gradient and the parts of a network's. They run together, a
// block of entries at a time, which goes to where the caller wants it from the first-level cache:
// none of their values is in memory.
type tail struct {
	n         int // entries of each value
	steps     []tailStep
	busy      [][]int32 // by block: the steps that do something there
	registers int       // blocks that are in use at one time
	outs      []int     // the register of each of the plan's outputs, −1 where it is made before the tail
}

// A tailStep is a step with the registers of its output and of its arguments, −1 for those that are
// in memory.
type tailStep struct {
	step, to int
	from     [2]int
}

// tailBlock is the entries of a register, and tailMost the most registers: together they stay in
// the first-level cache. A vector of less than shortTail entries stays there by itself.
const (
	tailBlock = 1024
	tailMost  = 4
	shortTail = 4 * tailBlock
)

// entrywise returns the inputs of which a rule reads just the entry that it makes; ok is false for
// rules that no tail has.
func entrywise(r rule) (args []int, ok bool) {
	switch r := r.(type) {
	case placeRule:
		return nil, true
	case affine, addPartRule:
		return []int{0}, true
	case named:
		switch r {
		case opAdd, opSub, opMul:
			return []int{0, 1}, true
		case scaleByOp:
			return []int{1}, true
		}
	}
	return nil, false
}

// entrywise reports whether p's first output is as long as an input, and its entry i reads entry i
// of that input alone.
func (t *template[T]) entrywise(p *plan, input int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	in := t.values[input]
	for _, k := range p.order {
		s := t.steps[k]
		if v := t.values[s.out]; v.deps&in.bit == 0 {
			continue
		} else if v.r*v.c != in.r {
			return false
		}
		args, _ := entrywise(s.rule)
		for i, a := range s.args {
			if a >= 0 && t.values[a].deps&in.bit != 0 && !slices.Contains(args, i) {
				return false
			}
		}
	}
	out := t.values[p.outs[0]]
	return out.deps&in.bit != 0 && out.r*out.c == in.r
}

// tailOf returns the tail of p, nil if there is none.
func (t *template[T]) tailOf(p *plan) *tail {
	tl := &tail{outs: make([]int, len(p.outs))}
	for _, o := range p.outs {
		tl.n = max(tl.n, t.values[o].r*t.values[o].c)
	}
	if p.lanes || tl.n < shortTail {
		return nil
	}
	steps := t.tailSteps(p, tl.n)
	if len(steps) == 0 {
		return nil
	}
	last := map[int]int{} // value -> the last step of the tail that reads it; outputs are read after all
	for k, s := range steps {
		for _, a := range t.steps[s].args {
			last[a] = k
		}
	}
	for _, o := range p.outs {
		last[o] = len(steps)
	}
	held := map[int]int{} // value -> register
	var free []int
	for k, s := range steps {
		st := tailStep{step: s, from: [2]int{-1, -1}}
		for i, a := range t.steps[s].args {
			if r, ok := held[a]; ok {
				st.from[i] = r
			}
		}
		for _, a := range t.steps[s].args {
			if r, ok := held[a]; ok && last[a] == k {
				delete(held, a)
				free = append(free, r)
			}
		}
		if len(free) == 0 {
			free = append(free, tl.registers)
			tl.registers++
		}
		st.to = free[len(free)-1]
		free = free[:len(free)-1]
		held[t.steps[s].out] = st.to
		tl.steps = append(tl.steps, st)
	}
	if tl.registers > tailMost {
		return nil
	}
	for i, o := range p.outs {
		tl.outs[i] = -1
		if r, ok := held[o]; ok {
			tl.outs[i] = r
		}
	}
	t.findBusy(tl)
	return tl
}

// findBusy finds which steps do something in each block. One that adds a part to its own register
// does nothing outside of the part: all steps of a network with a part for each layer would take
// the square of their number.
func (t *template[T]) findBusy(tl *tail) {
	tl.busy = make([][]int32, (tl.n+tailBlock-1)/tailBlock)
	for i, st := range tl.steps {
		first, end := 0, tl.n
		s := t.steps[st.step]
		if r, ok := s.rule.(addPartRule); ok && st.from[0] == st.to {
			part := t.values[s.args[1]]
			first, end = r.off, r.off+part.r*part.c
		}
		for b := first / tailBlock; b*tailBlock < end; b++ {
			tl.busy[b] = append(tl.busy[b], int32(i))
		}
	}
}

// members returns which of n steps are in the tail, which may be nil.
func (tl *tail) members(n int) []bool {
	in := make([]bool, n)
	if tl != nil {
		for _, s := range tl.steps {
			in[s.step] = true
		}
	}
	return in
}

// tailSteps returns the steps of p's tail, in their order: entry by entry on n entries, and read by
// nobody but each other and as outputs.
func (t *template[T]) tailSteps(p *plan, n int) (steps []int) {
	elsewhere := make([]bool, len(t.values)) // values that other steps read, or that are read in another way
	in := make([]bool, len(p.order))
	for i := len(p.order) - 1; i >= 0; i-- {
		s := t.steps[p.order[i]]
		args, ok := entrywise(s.rule)
		v := t.values[s.out]
		in[i] = ok && !s.tiled && !elsewhere[s.out] && t.isTemporary(s.out) && v.r*v.c == n
		for j, a := range s.args {
			if a >= 0 && !(in[i] && (len(args) > 0 && args[0] == j || len(args) > 1 && args[1] == j)) {
				elsewhere[a] = true
			}
		}
	}
	for i, k := range p.order {
		if in[i] {
			steps = append(steps, k)
		}
	}
	return steps
}

// tailMemory is what runs a tail.
type tailMemory[T Float] struct {
	call      call[T]
	in        [2]mat[T]
	registers [tailMost][tailBlock]T
	blocks    [tailMost][]T // of the values: in their registers, or where they lie in memory
	zeros     [tailBlock]T
}

// release takes the places of values back, whose scratch memory may go to others.
func (w *tailMemory[T]) release() {
	clear(w.in[:])
	clear(w.blocks[:])
	w.call.in, w.call.dst = nil, mat[T]{}
}

// runTail runs the tail of the plan whose places the slots have, and writes its outputs to dst.
func (m port[T, V]) runTail(tl *tail, dst [][]V) {
	if m.tail == nil {
		m.tail = new(tailMemory[T])
	}
	team := kernel.NewCrew(tl.n * kernel.EntryWork)
	if team == nil {
		m.tailPart(tl, m.tail, 0, tl.n, dst)
		m.tail.release()
		return
	}
	team.Share(tl.n, func(from, to int) { m.tailPart(tl, new(tailMemory[T]), from, to, dst) })
}

// tailPart runs a tail on entries from..to.
func (m port[T, V]) tailPart(tl *tail, w *tailMemory[T], from, to int, dst [][]V) {
	for n := 0; from < to; from += n {
		n = min(tailBlock-from%tailBlock, to-from)
		for i, r := range tl.outs {
			// memory is asked for while the block before is computed: waiting for it takes longer
			// than all steps
			if r >= 0 {
				kernel.Prefetch(dst[i][from+n : min(from+n+tailBlock, to)])
			}
		}
		for _, i := range tl.busy[from/tailBlock] {
			m.tailStep(&tl.steps[i], w, from, n)
		}
		for i, r := range tl.outs {
			if r >= 0 {
				linalg.Convert(dst[i][from:from+n], w.blocks[r])
			}
		}
	}
}

// tailStep runs a step on n entries from the given one on.
func (m *machine[T]) tailStep(st *tailStep, w *tailMemory[T], from, n int) {
	ins := &m.instrs[st.step]
	d := w.registers[st.to][:n]
	// argument returns the entries of an input, those of the block if it has as many as the output.
	argument := func(i int) []T {
		if r := st.from[i]; r >= 0 {
			return w.blocks[r]
		}
		v := m.slots[ins.args[i]].wholeValue()
		if out := &m.slots[ins.out]; len(v) == out.r*out.c {
			return v[from : from+n]
		}
		return v
	}
	switch r := ins.rule.(type) {
	case placeRule:
		switch to, part := overlap(d, m.slots[ins.args[0]].wholeValue(), r.off-from); len(to) {
		case n:
			d = part
		case 0:
			d = w.zeros[:n]
		default:
			clear(d)
			copy(to, part)
		}
	case addPartRule:
		base := argument(0)
		switch to, part := overlap(d, m.slots[ins.args[1]].wholeValue(), r.off-from); {
		case len(to) == n:
			kernel.AddTo(d, base, part)
		case len(to) == 0 && st.from[0] < 0: // no other register, which might be written to soon
			d = base
		default:
			copy(d, base)
			kernel.AddTo(to, to, part)
		}
	default:
		for i := range ins.args {
			v := argument(i)
			w.in[i] = mat[T]{v: v, r: len(v), c: 1}
		}
		w.call.in, w.call.dst, w.call.first = w.in[:len(ins.args)], mat[T]{v: d, r: n, c: 1}, true
		ins.kern(&w.call)
	}
	w.blocks[st.to] = d
}

// overlap returns what d and a part that begins at its entry off, which may be outside, have in
// common: in d, and in the part.
func overlap[T Float](d, part []T, off int) (to, from []T) {
	first, end := max(off, 0), min(len(d), off+len(part))
	if first >= end {
		return nil, nil
	}
	return d[first:end], part[first-off : end-off]
}
