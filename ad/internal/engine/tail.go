package engine

import "slices"

// A tail is the end of a plan: steps that make its longest outputs entry by entry, such as the sum
// of a penalty's gradient and the parts of a network's. They run together on a block of entries at
// a time, which goes from the first-level cache to the caller's vector: no value of a tail is in
// memory.
type tail struct {
	n         int // entries of each value
	steps     []tailStep
	busy      [][]int32 // by block: the steps that do something there
	registers int       // blocks that are in use at one time
	outs      []int     // by output of the plan: its register, −1 if it is made before the tail
}

// A tailStep is a step with the registers of its output and of its arguments, −1 for arguments in
// memory.
type tailStep struct {
	step, to int
	from     [2]int
}

// tailBlock is the entries of a register and tailMost the most registers: together they stay in the
// first-level cache, as does a vector of less than shortTail entries by itself.
const (
	tailBlock = 1024
	tailMost  = 4
	shortTail = 4 * tailBlock
)

// newTail returns the tail of p, nil if there is none.
func (g *graph) newTail(p *Plan) *tail {
	tl := &tail{outs: make([]int, len(p.outs))}
	for _, o := range p.outs {
		tl.n = max(tl.n, g.values[o].numbers())
	}
	if !p.lanes && tl.n < shortTail {
		return nil
	}
	steps := g.tailSteps(p, tl.n)
	if len(steps) == 0 {
		return nil
	}
	held := g.allotRegisters(tl, steps, p.outs)
	if tl.registers > tailMost {
		return nil
	}
	for i, o := range p.outs {
		tl.outs[i] = -1
		if r, ok := held[o]; ok {
			tl.outs[i] = r
		}
	}
	g.findBusy(tl)
	return tl
}

// allotRegisters adds the steps to the tail, and returns the registers of its outputs by value.
func (g *graph) allotRegisters(tl *tail, steps, outs []int) map[int]int {
	last := map[int]int{} // by value: the last step of the tail that reads it
	for k, s := range steps {
		for _, a := range g.steps[s].args {
			last[a] = k
		}
	}
	for _, o := range outs {
		last[o] = len(steps)
	}
	held := map[int]int{} // by value: its register
	var free []int
	for k, s := range steps {
		st := tailStep{step: s, from: [2]int{-1, -1}}
		for i, a := range g.steps[s].args {
			if r, ok := held[a]; ok {
				st.from[i] = r
			}
		}
		for _, a := range g.steps[s].args {
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
		held[g.steps[s].out] = st.to
		tl.steps = append(tl.steps, st)
	}
	return held
}

// findBusy finds the steps that do something in each block. A step that adds a part to its own
// register does nothing outside of the part: without this the time of a network with a part for
// each layer would grow with the square of the layers.
func (g *graph) findBusy(tl *tail) {
	tl.busy = make([][]int32, (tl.n+tailBlock-1)/tailBlock)
	for i, st := range tl.steps {
		first, end := 0, tl.n
		if s := g.steps[st.step]; s.Kind == AddPart && st.from[0] == st.to {
			first, end = s.Offset, s.Offset+g.values[s.args[1]].numbers()
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

// tailSteps returns the steps of p's tail in their order: they work entry by entry on n entries,
// and only other steps of the tail, or the caller, read what they make.
func (g *graph) tailSteps(p *Plan, n int) (steps []int) {
	elsewhere := make([]bool, len(g.values)) // values that are read in another way
	in := make([]bool, len(p.order))
	for i, k := range slices.Backward(p.order) { // readers first
		s := g.steps[k]
		in[i] = s.Tail && !s.tiled && !elsewhere[s.out] && g.isTemporary(s.out) && g.values[s.out].numbers() == n
		for j, a := range s.args {
			if a >= 0 && !(in[i] && slices.Contains(s.InPlace, j)) {
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
