package engine

import "slices"

// A Plan is the order of work that makes some outputs: stages of whole steps, each followed by one
// pass over the tiles of the batch.
type Plan struct {
	number int   // among its template's plans
	outs   []int // values
	order  []int // steps, inputs first
	stages []stage
	lanes  bool // it runs for many unit vectors at once
}

type stage struct {
	whole, tiled []int // steps
	tables       []int // inputs whose tables the tiled steps read
}

// newPlan orders the steps that compute the outputs.
func (g *graph) newPlan(number int, lanes bool, outs []int) *Plan {
	p := &Plan{number: number, lanes: lanes, outs: outs}
	stageOf := map[int]int{} // by value; the tiles of stage s belong to the pass after its whole steps
	var schedule func(i int)
	schedule = func(i int) {
		k := g.values[i].step
		if _, seen := stageOf[i]; seen || k < 0 {
			return
		}
		s := g.steps[k]
		st := 0
		for _, a := range s.reads {
			schedule(a)
			need := stageOf[a]
			if by := g.values[a].step; by >= 0 && g.steps[by].tiled && (g.steps[by].sums || !s.tiled) {
				need++ // the pass over the tiles has to be over
			}
			st = max(st, need)
		}
		stageOf[i] = st
		p.add(st, k, s.tiled)
	}
	for _, i := range outs {
		schedule(i)
	}
	for _, i := range outs {
		if v := g.values[i]; v.bit != 0 && v.point == "" { // an input that is an output itself is read whole
			v.kept = true
		}
	}
	for i := range p.stages {
		p.stages[i].tiled = g.orderPass(p.stages[i].tiled)
		g.listTables(&p.stages[i])
	}
	return p
}

// add appends step k to stage st, to its steps over tiles or to those over whole values.
func (p *Plan) add(st, k int, tiled bool) {
	for len(p.stages) <= st {
		p.stages = append(p.stages, stage{})
	}
	p.order = append(p.order, k)
	if tiled {
		p.stages[st].tiled = append(p.stages[st].tiled, k)
	} else {
		p.stages[st].whole = append(p.stages[st].whole, k)
	}
}

// listTables notes which tables a pass reads, and keeps tables that are read whole.
func (g *graph) listTables(st *stage) {
	for _, k := range append(slices.Clone(st.whole), st.tiled...) {
		s := g.steps[k]
		for _, a := range s.reads {
			if g.values[a].per == 0 || g.values[a].bit == 0 || g.values[a].sparse != nil {
				continue
			}
			if !s.tiled {
				g.values[a].kept = true
			} else if !slices.Contains(st.tables, a) {
				st.tables = append(st.tables, a)
			}
		}
	}
}
