package ad

import (
	"fmt"
	"slices"
)

// A plan is the order of work that makes some outputs: stages of whole instructions, each followed
// by one pass over the tiles of the batch.
type plan struct {
	number int   // among its template's plans
	outs   []int // values
	order  []int // steps, inputs first
	stages []stage
	lanes  bool // it runs in lanes
}

type stage struct {
	whole, tiled []int // steps
	tables       []int // inputs whose tables the tiled ones read
}

// plan prepares the computation of nodes, for [machine.eachUnit] if in lanes.
func (t *template[T]) plan(lanes bool, nodes ...*Node) (*plan, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := &plan{number: len(t.plans), lanes: lanes}
	for _, n := range nodes {
		i, err := t.valueOf(n)
		if err != nil {
			return nil, err
		}
		if t.values[i].sparse != nil {
			return nil, fmt.Errorf("%w: sparse rows cannot be a value themselves", ErrGraph)
		}
		p.outs = append(p.outs, i)
	}
	// value -> stage in which it is whole; tiles of stage s belong to the pass after its whole part
	stageOf := map[int]int{}
	var schedule func(i int)
	schedule = func(i int) {
		k, computed := t.byOut[i]
		if _, seen := stageOf[i]; seen || !computed {
			return
		}
		s := t.steps[k]
		st := 0
		for _, a := range s.args {
			if a < 0 {
				continue
			}
			schedule(a)
			need := stageOf[a]
			if a2, ok := t.byOut[a]; ok && t.steps[a2].tiled && (t.steps[a2].sum || !s.tiled) {
				need++ // the pass over the tiles has to be over
			}
			st = max(st, need)
		}
		stageOf[i] = st
		p.add(st, k, s.tiled)
	}
	for _, i := range p.outs {
		schedule(i)
	}
	for _, i := range p.outs {
		if v := t.values[i]; v.bit != 0 && v.point == "" {
			v.kept = true
		}
	}
	for i := range p.stages {
		p.stages[i].tiled = t.gather(p.stages[i].tiled)
	}
	t.listTables(p)
	if p.number == 0 {
		t.chooseTile()
	}
	t.plans, t.layouts = append(t.plans, p), append(t.layouts, nil)
	changed := t.plans[p.number:]
	if t.chooseKept() {
		changed = t.plans
	}
	for _, p := range changed {
		t.layouts[p.number] = t.lay(p)
	}
	return p, nil
}

func (p *plan) add(st, k int, tiled bool) {
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

// listTables notes which tables each pass reads, and gives memory to those that are read whole.
func (t *template[T]) listTables(p *plan) {
	for i := range p.stages {
		st := &p.stages[i]
		for _, k := range append(slices.Clone(st.whole), st.tiled...) {
			s := t.steps[k]
			for _, a := range s.args {
				if a < 0 || t.values[a].per == 0 || t.values[a].bit == 0 || t.values[a].sparse != nil {
					continue
				}
				if !s.tiled {
					t.values[a].kept = true
				} else if !slices.Contains(st.tables, a) {
					st.tables = append(st.tables, a)
				}
			}
		}
	}
}
