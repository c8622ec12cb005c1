package engine

import (
	"fmt"
	"slices"
	"sync"
)

// A Template is a graph and the plans over it, without numbers. Many machines share it. New values
// and plans are added under its lock; entries that a machine has read do not change any more,
// except where a field's comment states otherwise.
type Template struct {
	mu sync.Mutex
	graph
	single  bool      // numbers are float32
	plans   []*Plan   // by number
	layouts []*layout // by plan
	budget  int       // numbers that may be kept beside small values
	kept    int       // numbers that are
}

// New returns a template for batches of rows and a y of a length, in float32 if single. It keeps
// large values of at most some bytes from one run to the next; 0: as many as two y have, or
// keptNumbers.
func New(rows, y int, single bool, keep int) *Template {
	t := &Template{graph: graph{rows: rows, size: 8}, single: single, budget: max(2*y, keptNumbers)}
	if single {
		t.size = 4
	}
	if keep != 0 {
		t.budget = max(keep, 0) / t.size
	}
	return t
}

// AddPoint adds a vector that the caller sets and that programs of one workspace share by its name.
func (t *Template) AddPoint(name string, length int) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.addInput(&value{r: length, c: 1, point: name})
}

// AddInput adds an r×c input that the caller binds to a table. A batch has a row for each example.
func (t *Template) AddInput(r, c int, batch, sparse bool) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	v := &value{r: r, c: c, kept: !batch}
	if batch {
		v.per = 1
	}
	if sparse {
		v.sparse = &sparseValue{input: len(t.values)}
	}
	return t.addInput(v)
}

// AddConstant adds an r×c constant, a []float32 or []float64 as the template computes.
func (t *Template) AddConstant(r, c int, numbers any) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.addValue(&value{r: r, c: c, base: -1, step: -1, constant: numbers})
}

// Add adds the rows×cols output of an op, with −1 for arguments that are not read. It fails with
// [ErrGraph] on sparse rows that the op cannot read.
func (t *Template) Add(op Op, rows, cols int, args []int) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := &step{Op: op, args: args, cut: make([]bool, len(args)), sparse: -1}
	v := &value{r: rows, c: cols, base: -1, step: -1}
	if of := t.squareOf(s); of != nil {
		v.per, v.deps, v.sparse = of.per, of.deps, &sparseValue{of.sparse.input, true}
		return t.addValue(v), nil
	}
	for _, a := range args {
		if a >= 0 {
			s.reads = append(s.reads, a)
			v.deps |= t.values[a].deps
			v.remat = v.remat || t.values[a].remat
		}
	}
	v.remat = v.remat && op.Remat != End || op.Remat == Begin
	s.tiled = t.tileable(s, rows)
	s.sums = s.tiled && s.Sum
	if err := t.findSparse(s); err != nil {
		return 0, err
	}
	if s.tiled && !s.sums {
		v.per = rows / t.rows
	}
	if op.Kind == View {
		// A table's rows may lie anywhere, and have no views.
		in := t.values[args[0]]
		if in.per == 0 && v.per == 0 || in.per > 0 && v.per > 0 && in.bit == 0 {
			v.base, v.off = args[0], op.Offset
		}
	}
	v.step = len(t.steps)
	t.steps = append(t.steps, s)
	s.out = t.addValue(v)
	return s.out, nil
}

// AddDirection names an input that changes while others, which are no directions, stay: values that
// do not depend on one are worth keeping.
func (t *Template) AddDirection(input int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.directions |= t.values[input].bit
}

// Plan makes a plan that computes outs. With lanes it is for [Machine.EachVector]. The first plan
// fixes the tile; a plan by which more values are kept changes the layouts of all.
func (t *Template) Plan(lanes bool, outs []int) (*Plan, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, i := range outs {
		if t.values[i].sparse != nil {
			return nil, fmt.Errorf("%w: sparse rows cannot be a value themselves", ErrGraph)
		}
	}
	p := t.newPlan(len(t.plans), lanes, outs)
	if p.number == 0 {
		t.chooseTile()
	}
	t.plans, t.layouts = append(t.plans, p), append(t.layouts, nil)
	changed := t.plans[p.number:] // the new plan alone, unless more values are kept from run to run
	if t.chooseKept() {
		changed = t.plans
	}
	for _, p := range changed {
		t.layouts[p.number] = t.newLayout(p)
	}
	return p, nil
}

// IsEntrywise reports whether p's first output is as long as an input, and its entry i depends on
// entry i of that input alone.
func (t *Template) IsEntrywise(p *Plan, input int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	in := t.values[input]
	for _, k := range p.order {
		s := t.steps[k]
		if v := t.values[s.out]; v.deps&in.bit == 0 {
			continue
		} else if v.numbers() != in.r {
			return false
		}
		for i, a := range s.args {
			if a >= 0 && t.values[a].deps&in.bit != 0 && !(s.Tail && slices.Contains(s.InPlace, i)) {
				return false
			}
		}
	}
	out := t.values[p.outs[0]]
	return out.deps&in.bit != 0 && out.numbers() == in.r
}
