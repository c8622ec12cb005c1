package engine

import "slices"

// If weights are used many times, as in each step of a recurrent network, their gradient is a sum
// of products, each a sum over the batch. From manyProducts on they become one sum: each product
// adds to the memory of the one before it, because a place for each would not fit a cache. Fewer
// products are summed over the batch first.
const manyProducts = 4

// A series is sums over the batch that become one sum, in the memory of the last addition.
type series struct {
	begun bool // the first sum has its place
	life  int  // the number of its life
	end   int  // the value of the whole sum
}

// A role is what a step does in a series.
type role uint8

const (
	noRole  role = iota
	resumes      // adds to the sum before it, at the first tile too
	skipped      // an addition of what is one sum already
)

// findSeries finds the series of p by the values of their sums and additions. Steps that are in the
// tail are in none.
func (g *graph) findSeries(p *Plan, inTail []bool, when []moment) map[int]*series {
	found := map[int]*series{}
	if p.lanes {
		return found
	}
	readers := make(map[int]int, len(p.order)) // by value
	for _, k := range p.order {
		for _, a := range g.steps[k].args {
			readers[a]++
		}
	}
	type part struct{ sums, pass int } // of a series: its sums over the batch, and the pass that makes them
	parts := map[int]part{}
	for _, k := range p.order {
		s := g.steps[k]
		switch {
		case inTail[k] || !g.isTemporary(s.out) || slices.Contains(p.outs, s.out):
		case g.canResume(s):
			parts[s.out] = part{1, when[k].first}
		case s.Kind == Add && !s.tiled:
			a, b := parts[s.args[0]], parts[s.args[1]]
			if a.sums > 0 && b.sums > 0 && a.pass == b.pass && readers[s.args[0]] == 1 && readers[s.args[1]] == 1 {
				parts[s.out] = part{a.sums + b.sums, a.pass}
			}
		}
	}
	for _, k := range slices.Backward(p.order) { // the whole sum first, then down to its parts
		s := g.steps[k]
		n := parts[s.out].sums
		if n >= manyProducts && found[s.out] == nil {
			found[s.out] = &series{end: s.out}
		}
		if c := found[s.out]; n > 0 && c != nil && !s.sums {
			found[s.args[0]], found[s.args[1]] = c, c
		}
	}
	return found
}

// canResume reports whether a step is a sum over the batch that can add to the memory of another
// sum. Bytes and sparse rows are read by kernels that cannot.
func (g *graph) canResume(s *step) bool {
	return s.sums && s.Resumes && !slices.ContainsFunc(s.args, func(a int) bool {
		return g.values[a].bit != 0 || g.values[a].sparse != nil
	})
}
