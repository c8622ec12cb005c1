package engine

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
)

// ErrGraph marks a graph that cannot be compiled, or differentiated again and again.
var ErrGraph = errors.New("ad: unsuitable graph")

// A graph is values and the steps that compute them, without numbers.
type graph struct {
	rows       int      // examples in a batch, 0 without batch
	tile       int      // examples in a tile, 0 before the first plan
	size       int      // bytes of a number
	inputs     int      // how many there are
	directions uint64   // the bits of the inputs that change while others stay
	points     uint64   // the bits of x, y, v and u: of the first mostPoints
	values     []*value // inputs before what depends on them
	steps      []*step  // in the order in which they were added
}

// A value is a matrix of numbers: an input, a constant or the output of a step.
type value struct {
	r, c      int          // rows and columns
	per       int          // rows per example if the value is cut by rows, else 0
	deps      uint64       // the bits of the inputs that it depends on
	bit       uint64       // of an input, else 0
	point     string       // the name of an input that programs of a workspace share
	constant  any          // the numbers of a constant, a []float32 or []float64
	base, off int          // of a view: the value whose numbers from off on it has; else base is −1
	sparse    *sparseValue // of sparse rows, which have no buffer; else nil
	step      int          // the step that computes it, −1 for inputs and constants
	remat     bool         // it is computed again in place of being kept
	kept      bool         // machines keep the whole value; may become so under the template's lock
}

func (v *value) numbers() int { return v.r * v.c }

// A sparseValue is the input whose sparse rows a value is, and whether they are squared.
type sparseValue struct {
	input  int
	square bool
}

// A step computes a value.
type step struct {
	args   []int  // values; −1 where the kernel does not read
	reads  []int  // args without these
	out    int    // a value
	cut    []bool // args that are cut by rows, if tiled
	tiled  bool   // runs tile by tile
	sums   bool   // adds up the tiles
	sparse int    // the argument that has sparse rows, −1 for none
	plans  uint64 // the plans that have it, by bit; from the 64th on they share the last
	Op            // last, so that what each run reads lies together
}

// maxInputs is the number of bits in which a value notes the inputs that it depends on.
const maxInputs = 64

func (g *graph) addValue(v *value) int {
	g.values = append(g.values, v)
	return len(g.values) - 1
}

// addInput adds an input, whose bit it chooses.
func (g *graph) addInput(v *value) (int, error) {
	if g.inputs == maxInputs {
		return 0, fmt.Errorf("%w: a function can have at most %d inputs, counting x, y and v", ErrGraph, maxInputs)
	}
	v.base, v.step, v.bit = -1, -1, 1<<g.inputs
	v.deps = v.bit
	if v.point != "" && bits.OnesCount64(g.points) < mostPoints {
		g.points |= v.bit
	}
	g.inputs++
	return g.addValue(v), nil
}

// squareOf returns the sparse rows that a step squares, nil for other steps.
func (g *graph) squareOf(s *step) *value {
	if s.Kind != Mul || s.args[0] != s.args[1] {
		return nil
	}
	if v := g.values[s.args[0]]; v.sparse != nil && !v.sparse.square {
		return v
	}
	return nil
}

// tileable reports whether a step can run tile by tile, and marks the arguments that are cut then.
// At least one argument must have rows for each example, none with rows may be read whole, and the
// output must be a sum or have a whole number of rows for each example.
func (g *graph) tileable(s *step, rows int) bool {
	if s.Args == "" || !s.Sum && rows%(max(g.rows, 1)*max(s.Block, 1)) != 0 {
		return false
	}
	batch := false
	for i, a := range s.args {
		switch how := s.Args[i]; {
		case a < 0: // only its shape counts
			return false
		case how == 'r':
			s.cut[i] = true
			batch = batch || g.values[a].per > 0
		case g.values[a].per > 0:
			return false
		}
	}
	return batch
}

// findSparse finds the argument with sparse rows. It fails if there is no kernel for them.
func (g *graph) findSparse(s *step) error {
	for i, a := range s.args {
		if a < 0 || g.values[a].sparse == nil {
			continue
		}
		known := s.Kind == Product && s.tiled && (i == 0 && !(s.TransA && s.TransB) || i == 1 && s.TransA && !s.TransB)
		if !known || slices.Index(s.args, a) != i || g.values[s.args[1-i]].sparse != nil {
			return fmt.Errorf("%w: %v cannot read sparse rows: only X·B, X·Bᵀ, Xᵀ·U and Uᵀ·X by MatMul or "+
				"MatVec can, and Square(X) as X", ErrGraph, s.Name)
		}
		s.sparse = i
	}
	return nil
}

// root returns the value whose memory value i has: itself, if it is no view.
func (g *graph) root(i int) int {
	for g.values[i].base >= 0 {
		i = g.values[i].base
	}
	return i
}

// isTemporary reports whether value i is computed, not kept and no view: it has memory only while
// a plan runs.
func (g *graph) isTemporary(i int) bool {
	v := g.values[i]
	return v.bit == 0 && !v.kept && v.constant == nil && v.sparse == nil && v.base < 0
}

// A tile of the widest value takes about as much as the largest weights, which are read anew for
// each tile: at least leastTile bytes, and at most mostTile. Where an example has several rows, as
// of a sequence or a picture, fewer examples are enough for a product, and several values in turn
// stay in the second-level cache. A tile has at most tileRows examples: kernels on fewer rows of
// narrow data took a fifth of the time.
const (
	leastTile   = 512 << 10
	leastOfRows = 128 << 10 // where an example has several rows
	mostTile    = 5 << 19
	tileRows    = 512
)

// chooseTile chooses the examples of a tile, so that all tiles of a batch have about as many.
func (g *graph) chooseTile() {
	widest, rows := 1, 1 // numbers and rows of an example
	for _, v := range g.values {
		if v.sparse == nil && v.per*v.c > widest {
			widest, rows = v.per*v.c, v.per
		}
	}
	least := leastTile
	if rows > 1 {
		least = leastOfRows
	}
	bytes := min(max(least, g.largestWeights()*g.size), mostTile)
	most := min(max(8, bytes/(widest*g.size)&^7), tileRows)
	tiles := max(1, (g.rows+most-1)/most)
	g.tile = min(((g.rows+tiles-1)/tiles+7)&^7, g.rows)
}

// largestWeights returns the most numbers of a value without rows that a tiled step reads.
func (g *graph) largestWeights() (most int) {
	for _, s := range g.steps {
		for _, a := range s.args {
			if s.tiled && a >= 0 && g.values[a].per == 0 {
				most = max(most, g.values[a].numbers())
			}
		}
	}
	return most
}

// laneBytes is how many bytes a value with rows takes in all lanes, about: some of them stay in the
// second-level cache.
const laneBytes = 256 << 10

// tileOf returns the examples of a tile of p: in lanes fewer, unless there is a sum to one number,
// whose bits depend on them.
func (g *graph) tileOf(p *Plan) int {
	widest := 1
	for _, k := range p.order {
		s := g.steps[k]
		v := g.values[s.out]
		if !p.lanes || s.sums && v.numbers() == 1 {
			return g.tile
		}
		if v.deps&g.directions != 0 {
			widest = max(widest, v.per*v.c)
		}
	}
	return min(max(1, laneBytes/g.size/Lanes/widest), g.tile)
}
