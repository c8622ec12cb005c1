package ad

import (
	"fmt"
	"slices"
	"sync"
	"unsafe"
)

// A template is what the nodes of one graph become: values, the steps that compute them, and plans
// over these, all without numbers. Any number of machines with numbers of their own share it. What
// is asked for the first time is added to it under its lock; what a machine has taken note of (see
// [machine.follow]) does not change any more, but for what says so.
type template[T Float] struct {
	mu      sync.Mutex
	rows    int // examples in a batch, 0 without batch
	tile    int // examples in a tile
	numbers int // of y
	values  []*value[T]
	steps   []*step[T]
	byNode  map[*Node]int
	byOut   map[int]int // value -> step
	inputs  int         // leaves that can change
	plans   []*plan
	layouts []*layout // of plans

	direction uint64 // the bit of the input that changes while others stay, else 0
	budget    int    // numbers that may be kept beside small values
	kept      int    // numbers that are
}

// A value is what a template knows of a node.
type value[T Float] struct {
	r, c      int
	per       int          // rows per example if the value is cut by rows, else 0
	deps      uint64       // inputs that it depends on
	bit       uint64       // of an input, else 0
	point     string       // of an input that programs may share: its name
	constant  []T          // of a leaf that is no input
	base, off int          // of a view: the value whose numbers from off on it has; else base is -1
	sparse    *sparseValue // of a value with sparse rows, which has no buffer; else nil
	kept      bool         // machines keep the whole value; it may become so under the lock
}

// A step computes a value.
type step[T Float] struct {
	rule  rule
	kern  func(*call[T])
	args  []int // values; −1 where the kernel does not read
	out   int
	cut   []bool // args that are cut by rows, if tiled
	tiled bool   // runs tile by tile
	sum   bool   // adds up the tiles
	plans uint64 // which plans have it, by bit; those from the 64th on share the last; changes under the lock
}

// maxInputs is the number of bits in which a value notes the inputs that it depends on.
const maxInputs = 64

// A tile of the widest value takes about as much as y, the weights of a layer being read anew for
// each tile, but at least leastTile bytes, a share of the second-level cache, and at most mostTile,
// more than which has no use. It has at most tileRows examples: calls of kernels for fewer rows of
// narrow data took a fifth of the time.
const (
	leastTile = 512 << 10
	mostTile  = 5 << 19
	tileRows  = 512
)

// newTemplate returns a template for batches of so many rows, and a y of so many numbers.
func newTemplate[T Float](rows, numbers int) *template[T] {
	return &template[T]{rows: rows, numbers: numbers, budget: max(2*numbers, keptNumbers), byNode: map[*Node]int{},
		byOut: map[int]int{}}
}

// chooseTile chooses the examples of a tile by the values that there are, so that all tiles of a
// batch have about as many.
func (t *template[T]) chooseTile() {
	widest := 1
	for _, v := range t.values {
		if v.sparse == nil {
			widest = max(widest, v.per*v.c)
		}
	}
	var number T
	size := int(unsafe.Sizeof(number))
	bytes := min(max(leastTile, t.numbers*size), mostTile)
	most := min(max(8, bytes/(widest*size)&^7), tileRows)
	tiles := max(1, (t.rows+most-1)/most)
	t.tile = min(((t.rows+tiles-1)/tiles+7)&^7, t.rows)
}

// addInput adds a leaf that the caller sets. A batch input has one row per example.
func (t *template[T]) addInput(n *Node, in Input) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	v := &value[T]{}
	switch {
	case in.Sparse:
		v.per, v.sparse = 1, &sparseValue{input: len(t.values)}
	case in.Batch:
		v.per = 1
	default:
		v.kept = true
	}
	return t.addLeaf(n, v)
}

// addPoint adds a vector that the caller sets, and that programs of one workspace share.
func (t *template[T]) addPoint(n *Node, name string) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.addLeaf(n, &value[T]{point: name})
}

// addLeaf adds the value of an input.
func (t *template[T]) addLeaf(n *Node, v *value[T]) (int, error) {
	if t.inputs == maxInputs {
		return 0, fmt.Errorf("%w: a function can have at most %d inputs, counting x, y and v", ErrGraph, maxInputs)
	}
	v.r, v.c = dims(n)
	v.base, v.bit = -1, 1<<t.inputs
	v.deps = v.bit
	t.inputs++
	return t.addValue(n, v), nil
}

// setDirection names the input that changes while the others stay: what does not depend on it is
// worth keeping.
func (t *template[T]) setDirection(i int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.direction = t.values[i].bit
}

func (t *template[T]) addValue(n *Node, v *value[T]) int {
	t.values = append(t.values, v)
	t.byNode[n] = len(t.values) - 1
	return len(t.values) - 1
}

// valueOf returns the value of node n, adding it and all that it depends on.
func (t *template[T]) valueOf(n *Node) (int, error) {
	if i, ok := t.byNode[n]; ok {
		return i, nil
	}
	if isLeaf(n) {
		return t.addConstant(n)
	}
	r, in := fused(n)
	sp := r.split()
	s := &step[T]{rule: r, args: make([]int, len(in)), cut: make([]bool, len(in))}
	for i, c := range in {
		s.args[i] = -1
		if sp.args != "" && sp.args[i] == 'n' {
			continue
		}
		var err error
		if s.args[i], err = t.valueOf(c); err != nil {
			return 0, err
		}
	}
	k32, k64 := r.kernels()
	s.kern = kernelOf[T](k32, k64)
	if t.isSquare(s) {
		return t.addSquare(n, s.args[0]), nil
	}
	return t.addStep(n, sp, s)
}

// kernelOf returns the kernel of type T.
func kernelOf[T Float](k32 func(*call[float32]), k64 func(*call[float64])) func(*call[T]) {
	if k, ok := any(k32).(func(*call[T])); ok {
		return k
	}
	return any(k64).(func(*call[T]))
}

// addConstant adds a leaf that is not an input: it must carry its value.
func (t *template[T]) addConstant(n *Node) (int, error) {
	v := n.Value()
	if v == nil {
		return 0, fmt.Errorf("%w: node %q must be an input of the loss or carry a value", ErrGraph, n.Name())
	}
	data, err := valueData[T](v)
	if err != nil {
		return 0, fmt.Errorf("%w: node %q: %w", ErrGraph, n.Name(), err)
	}
	r, c := dims(n)
	return t.addValue(n, &value[T]{r: r, c: c, base: -1, constant: slices.Clone(data)}), nil
}

func (t *template[T]) addStep(n *Node, sp split, s *step[T]) (int, error) {
	rows, cols := dims(n)
	v := &value[T]{r: rows, c: cols, base: -1}
	for _, a := range s.args {
		if a >= 0 {
			v.deps |= t.values[a].deps
		}
	}
	s.tiled = t.tileable(s, sp, rows)
	s.sum = s.tiled && sp.sum
	if err := t.chooseSparse(s); err != nil {
		return 0, err
	}
	if s.tiled && !s.sum {
		v.per = rows / t.rows
	}
	t.chooseView(s, v)
	s.out = t.addValue(n, v)
	t.steps = append(t.steps, s)
	t.byOut[s.out] = len(t.steps) - 1
	return s.out, nil
}

// tileable reports whether a step can run tile by tile, and marks the arguments that are cut then:
// one of them has rows of its own for each example, the output has a whole number of rows an
// example or is a sum, and nothing that has rows is read whole.
func (t *template[T]) tileable(s *step[T], sp split, rows int) bool {
	if sp.args == "" || !sp.sum && rows%(max(t.rows, 1)*max(sp.block, 1)) != 0 {
		return false
	}
	batch := false
	for i, a := range s.args {
		switch how := sp.args[i]; {
		case a < 0: // only its shape counts
			return false
		case how == 'r':
			s.cut[i] = true
			batch = batch || t.values[a].per > 0
		case t.values[a].per > 0:
			return false
		}
	}
	return batch
}

// chooseView makes v a view of its input's value where the rule only selects or reshapes. Of values
// with rows, tables are none, which may lie anywhere.
func (t *template[T]) chooseView(s *step[T], v *value[T]) {
	off, shape := 0, false
	switch r := s.rule.(type) {
	case partRule:
		off = r.off
	case shapeRule:
		shape = true
	default:
		return
	}
	if in := t.values[s.args[0]]; in.per == 0 && v.per == 0 || shape && in.per > 0 && v.per > 0 && in.bit == 0 {
		v.base, v.off = s.args[0], off
	}
}

// root returns the value whose memory value i has: itself, if it is no view.
func (t *template[T]) root(i int) int {
	for t.values[i].base >= 0 {
		i = t.values[i].base
	}
	return i
}

// isTemporary reports whether value i is computed and not kept: it has its memory from the plan
// that runs, and is no view.
func (t *template[T]) isTemporary(i int) bool {
	v := t.values[i]
	return v.bit == 0 && !v.kept && v.constant == nil && v.sparse == nil && v.base < 0
}
