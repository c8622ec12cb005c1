package engine

// The rest of this file is for tests of the ops: it reports and limits the engine's choices.

// Limit sets the most examples of a tile, and the numbers that may be kept; 0 leaves a limit alone.
func (t *Template) Limit(tile, budget int) {
	if tile > 0 {
		t.tile = min(tile, t.tile)
		for _, l := range t.layouts {
			l.tile = t.tile
		}
	}
	if budget > 0 {
		t.budget = budget
	}
}

// A report is a template's choices for a plan.
type report struct {
	TailSteps, TailWork int  // steps in the tail, and steps of all its blocks
	Resumed             int  // sums that continue in the memory of another
	Strips              bool // a step runs in strips
	Products, Kept      int  // matrix products with rows that do not depend on a direction, and how many are kept
	Numbers             int  // numbers that are kept
}

// Report returns the template's choices for a plan, and the values that it keeps for all plans.
func (t *Template) Report(p *Plan) (r report) {
	l := t.layouts[p.number]
	if l.tail != nil {
		r.TailSteps = len(l.tail.steps)
		for _, busy := range l.tail.busy {
			r.TailWork += len(busy)
		}
	}
	for _, does := range l.roles {
		if does == resumes {
			r.Resumed++
		}
	}
	for _, pass := range l.groups {
		for _, of := range pass {
			r.Strips = r.Strips || of.rows > 0
		}
	}
	for _, s := range t.steps {
		if v := t.values[s.out]; s.Terms > 0 && s.tiled && v.deps&t.directions == 0 {
			r.Products++
			if v.kept {
				r.Kept++
			}
		}
	}
	r.Numbers = t.kept
	return r
}

// Scratch returns the scratch memory that the pool has, and how many programs use some of it.
func (p *Pool) Scratch() (list [][]float64, busy int) { return p.list, p.busy }

// An Inspector is a [Machine] as tests see it.
type Inspector interface {
	Pool() *Pool
	Recomputed(p *Plan) int
	HoldsScratch() bool
}

// Pool returns where scratch memory comes from.
func (m *machine[T]) Pool() *Pool { return m.memory.pool }

// Recomputed returns how many steps of p ran last though they do not depend on a direction.
func (m *machine[T]) Recomputed(p *Plan) (n int) {
	for _, k := range p.order {
		if ins := &m.instrs[k]; ins.run && m.slots[ins.out].deps&m.directions == 0 {
			n++
		}
	}
	return n
}

// HoldsScratch reports whether a slot or the last call is in scratch memory.
func (m *machine[T]) HoldsScratch() bool {
	for i := range m.slots {
		if s := &m.slots[i]; m.template.isTemporary(m.template.root(i)) && (s.buf != nil || s.tiles != nil) {
			return true
		}
	}
	for _, a := range m.in {
		if a.V != nil {
			return true
		}
	}
	return m.scratch != nil || m.call.Dst.V != nil
}
