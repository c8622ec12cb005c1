package engine

import (
	"cmp"
	"slices"
)

// Between two products of matrices lies work row by row: sums, gates, slices of columns and their
// derivatives. Each takes as long as reading and writing memory does. It runs on a strip of the
// tile's rows at a time, so that the output of one step is in a near cache for the next, and needs
// no more memory than a strip if nothing else reads it.

// A group is consecutive steps of a pass which run together on the rows of some examples at a time.
type group struct {
	first, end int // steps
	rows       int // examples in a strip; 0: a whole tile
}

// A strip of the widest value of a group takes at most stripBytes, so that several strips stay in
// the second-level cache; shorter ones took longer, because each step has a cost of its own. If
// leastStrip examples of a value take more, as of images, it is not cut.
const (
	stripBytes = 64 << 10
	leastStrip = 8
)

// runsInStrips reports whether a tiled step can run on a strip with the same bits and gains by it.
func (g *graph) runsInStrips(s *step) bool {
	return !s.WholeTile && !slices.ContainsFunc(s.reads, func(a int) bool { return g.values[a].sparse != nil })
}

// orderPass orders the steps of a pass so that those which run in strips are together and values
// live for a short time: sums over the batch run as soon as they can, other steps when needed.
func (g *graph) orderPass(tiled []int) []int {
	n := len(tiled)
	o := passOrder{graph: g, tiled: tiled, at: make(map[int]int, n),
		listed: make([]bool, n), height: make([]int, n), readers: make([][]int, n)}
	for i, k := range tiled {
		o.at[g.steps[k].out] = i
	}
	o.findHeights()
	var targets []int
	for i, k := range tiled {
		if len(o.readers[i]) == 0 || !g.runsInStrips(g.steps[k]) {
			targets = append(targets, i)
		}
	}
	slices.SortStableFunc(targets, func(a, b int) int { return cmp.Compare(o.height[b], o.height[a]) })
	for _, i := range targets {
		o.add(i)
	}
	return o.list
}

// A passOrder is the state of [graph.orderPass]. Steps are numbered by their places in the pass.
type passOrder struct {
	*graph
	tiled   []int       // the steps of the pass, in an order in which they can run
	at      map[int]int // by value: the step that makes it
	listed  []bool      // by step: it is in the list
	readers [][]int     // by step: the steps that read its output
	height  []int       // by step: the longest chain of products that follows
	list    []int
}

// findHeights finds the readers and the heights of steps.
func (o *passOrder) findHeights() {
	for i, k := range slices.Backward(o.tiled) {
		s, h := o.steps[k], o.height[i]
		if !o.runsInStrips(s) { // such as a product
			h++
		}
		for _, a := range s.args {
			if by, ok := o.at[a]; ok {
				o.readers[by] = append(o.readers[by], i)
				o.height[by] = max(o.height[by], h)
			}
		}
	}
}

// add lists a step after the steps it needs, and then the sums that need nothing more.
func (o *passOrder) add(i int) {
	if o.listed[i] {
		return
	}
	for _, a := range o.steps[o.tiled[i]].args {
		if by, ok := o.at[a]; ok {
			o.add(by)
		}
	}
	if o.listed[i] { // a sum that was listed after its last input
		return
	}
	o.listed[i] = true
	o.list = append(o.list, o.tiled[i])
	for _, r := range o.readers[i] {
		if o.steps[o.tiled[r]].sums && !o.listed[r] && o.isReady(r) {
			o.add(r)
		}
	}
}

// isReady reports whether all inputs of a step are listed.
func (o *passOrder) isReady(i int) bool {
	return !slices.ContainsFunc(o.steps[o.tiled[i]].args, func(a int) bool {
		by, ok := o.at[a]
		return ok && !o.listed[by]
	})
}

// groups cuts a pass into groups, without strips for a plan in lanes.
func (g *graph) groups(tiled []int, lanes bool) (list []group) {
	for i := 0; i < len(tiled); {
		of := group{first: i, end: i + 1}
		widest := 1
		for ; i < len(tiled) && g.runsInStrips(g.steps[tiled[i]]); i++ {
			s := g.steps[tiled[i]]
			for _, a := range append(slices.Clone(s.reads), s.out) {
				widest = max(widest, g.values[a].per*g.values[a].c)
			}
		}
		if i > of.end && !lanes { // one step alone gains nothing from strips
			if rows := stripBytes / g.size / widest; rows >= leastStrip && rows < g.tile {
				of.rows = rows
			}
		}
		i = max(i, of.end) // the step that begins a group may not run in strips
		of.end = i
		list = append(list, of)
	}
	return list
}
