package engine

import (
	"dsbo/internal/kernel"
	"dsbo/internal/linalg"
)

// A tailMemory is the registers of a tail that runs.
type tailMemory[T Float] struct {
	call      Call[T]
	block     [CallBlock]T // of the call
	in        [2]Mat[T]
	registers [tailMost][tailBlock]T
	blocks    [tailMost][]T // by register: the value, there or where it lies in memory
	zeros     [tailBlock]T
}

// release forgets the places of values, whose scratch memory may go to other programs.
func (w *tailMemory[T]) release() {
	clear(w.in[:])
	clear(w.blocks[:])
	w.call.In, w.call.Dst = nil, Mat[T]{}
}

// runTail runs the tail of the current plan and writes its outputs to dst.
func (m port[T, V]) runTail(tl *tail, dst [][]V) {
	team := kernel.NewCrew(tl.n * kernel.EntryWork)
	if team == nil {
		m.tailAlone(tl, 0, dst)
		return
	}
	team.Share(tl.n, func(from, to int) { m.tailPart(tl, new(tailMemory[T]), from, to, dst) })
}

// tailAlone runs a tail without a crew, from an entry on.
func (m port[T, V]) tailAlone(tl *tail, from int, dst [][]V) {
	if m.tail == nil {
		m.tail = new(tailMemory[T])
	}
	m.tailPart(tl, m.tail, from, tl.n, dst)
	m.tail.release()
}

// tailPart runs a tail on entries from..to.
func (m port[T, V]) tailPart(tl *tail, w *tailMemory[T], from, to int, dst [][]V) {
	for n := 0; from < to; from += n {
		n = min(tailBlock-from%tailBlock, to-from)
		for i, r := range tl.outs {
			if r >= 0 { // memory is fetched while the block before is computed: waiting takes longer than all steps
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
	// argument returns the entries of an input, only the block of an input as long as the output.
	argument := func(i int) []T {
		if r := st.from[i]; r >= 0 {
			return w.blocks[r]
		}
		v := inLane(m, ins.args[i])
		if len(v) == m.slots[ins.out].numbers() {
			return v[from : from+n]
		}
		return v
	}
	switch ins.Kind {
	case Place:
		switch to, part := overlap(d, inLane(m, ins.args[0]), ins.Offset-from); len(to) {
		case n:
			d = part
		case 0:
			d = w.zeros[:n]
		default:
			clear(d)
			copy(to, part)
		}
	case AddPart:
		base := argument(0)
		switch to, part := overlap(d, inLane(m, ins.args[1]), ins.Offset-from); {
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
			w.in[i] = Mat[T]{V: v, R: len(v), C: 1}
		}
		w.call = Call[T]{Dst: Mat[T]{V: d, R: n, C: 1}, In: w.in[:len(ins.args)], First: true, Block: &w.block}
		ins.kern(&w.call)
	}
	w.blocks[st.to] = d
}

// overlap returns what d has in common with a part that begins at entry off of d, which may be
// outside: in d, and in the part.
func overlap[T Float](d, part []T, off int) (to, from []T) {
	first, end := max(off, 0), min(len(d), off+len(part))
	if first >= end {
		return nil, nil
	}
	return d[first:end], part[first-off : end-off]
}
