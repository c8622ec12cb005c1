package ad

import (
	"cmp"
	"slices"
	"unsafe"
)

// Between two products of matrices, which are best with as many rows as a tile has, lies work row
// by row: sums, gates, slices of columns and their derivatives, each of which takes as long as
// reading and writing memory does. It runs on a strip of the tile's rows at a time. What one of its
// steps makes is then in a near cache for the next, and what nothing else reads has no other memory
// than that of a strip.

// A group is consecutive steps of a pass over the tiles which run together: on rows of so many
// examples at a time, or on a whole tile if that is 0.
type group struct{ first, end, rows int }

// A strip of the widest value of a group takes at most stripBytes, so that several of them stay in
// the second-level cache; shorter ones took longer, each step having its own cost. Values so wide
// that leastStrip examples take more than that, such as images, are not cut.
const (
	stripBytes = 64 << 10
	leastStrip = 8
)

// runsInStrips reports whether a tiled step works row by row, so that strips leave its bits alone,
// and reads rows from no memory but that of values. A product gains nothing, and sums of all
// entries would have another order.
func (t *template[T]) runsInStrips(s *step[T]) bool {
	switch r := s.rule.(type) {
	case matmulRule, batchRule, convRule, windowRule, scatterRule:
		return false
	case named:
		if r == dotOp || r == sumAllOp || r == gatherOp {
			return false
		}
	}
	for _, a := range s.args {
		if a >= 0 && t.values[a].sparse != nil {
			return false
		}
	}
	return true
}

// gather orders the steps of a pass so that those which run in strips are together, and values live
// for a short time: what sums the batch runs as soon as it can, and everything else when it
// is needed.
func (t *template[T]) gather(tiled []int) []int {
	n := len(tiled)
	g := gathering[T]{template: t, tiled: tiled, at: make(map[int]int, n), listed: make([]bool, n),
		height: make([]int, n), readers: make([][]int, n)}
	for i, k := range tiled {
		g.at[t.steps[k].out] = i
	}
	g.climb()
	var targets []int
	for i, k := range tiled {
		if len(g.readers[i]) == 0 || !t.runsInStrips(t.steps[k]) {
			targets = append(targets, i)
		}
	}
	slices.SortStableFunc(targets, func(a, b int) int { return cmp.Compare(g.height[b], g.height[a]) })
	for _, i := range targets {
		g.add(i)
	}
	return g.list
}

// A gathering is the state of [template.gather]. Steps are named by their places in the pass.
type gathering[T Float] struct {
	*template[T]
	tiled   []int       // the steps of the pass, in an order in which they can run
	at      map[int]int // the place of the step that makes a value
	listed  []bool      // steps that are in the list
	readers [][]int     // of a step's output
	height  []int       // how many products, one after the other, are behind a step
	list    []int
}

// climb finds the readers and the heights of steps.
func (g *gathering[T]) climb() {
	for i := len(g.tiled) - 1; i >= 0; i-- {
		s, h := g.steps[g.tiled[i]], g.height[i]
		if !g.runsInStrips(s) {
			h++
		}
		for _, a := range s.args {
			if by, ok := g.at[a]; ok {
				g.readers[by] = append(g.readers[by], i)
				g.height[by] = max(g.height[by], h)
			}
		}
	}
}

// add puts a step into the list, after what it needs, and then the sums that need nothing more.
func (g *gathering[T]) add(i int) {
	if g.listed[i] {
		return
	}
	for _, a := range g.steps[g.tiled[i]].args {
		if by, ok := g.at[a]; ok {
			g.add(by)
		}
	}
	if g.listed[i] { // a sum that came with the last thing it needs
		return
	}
	g.listed[i] = true
	g.list = append(g.list, g.tiled[i])
	for _, r := range g.readers[i] {
		if g.steps[g.tiled[r]].sum && !g.listed[r] && g.isReady(r) {
			g.add(r)
		}
	}
}

// isReady reports whether all that a step reads is in the list.
func (g *gathering[T]) isReady(i int) bool {
	return !slices.ContainsFunc(g.steps[g.tiled[i]].args, func(a int) bool {
		by, ok := g.at[a]
		return ok && !g.listed[by]
	})
}

// groups cuts a pass of a plan into groups.
func (t *template[T]) groups(p *plan, tiled []int) (list []group) {
	for i := 0; i < len(tiled); {
		g := group{first: i, end: i + 1}
		widest := 1
		for ; i < len(tiled) && t.runsInStrips(t.steps[tiled[i]]); i++ {
			s := t.steps[tiled[i]]
			for _, a := range append(s.args[:len(s.args):len(s.args)], s.out) {
				if a >= 0 {
					widest = max(widest, t.values[a].per*t.values[a].c)
				}
			}
		}
		if i > g.end && !p.lanes {
			var number T
			if rows := stripBytes / int(unsafe.Sizeof(number)) / widest; rows >= leastStrip && rows < t.tile {
				g.rows = rows
			}
		}
		i = max(i, g.end)
		g.end = i
		list = append(list, g)
	}
	return list
}
