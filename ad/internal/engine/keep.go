package engine

import (
	"cmp"
	"slices"
)

// keptNumbers is how many numbers a program may keep between runs, if that is more than twice the
// length of y; values of at most smallNumbers do not count. A value with rows is kept for another
// plan if it is at most keepCols wide.
const (
	keptNumbers  = 4 << 20
	smallNumbers = 4 << 10
	keepCols     = 32
)

// chooseKept decides after a plan was made which other values are kept from one run to the next,
// and reports whether there are any. Worth keeping are: values that do not depend on a
// direction, for a step that does, so that the next product at the point begins with them; narrow
// values that several plans read; and values that depend on x alone, or on nothing. The output of
// a cheap step is not. Where not all of them fit, the products of matrices behind them come first,
// because they cost most: the next product at the point makes the others anew.
func (t *Template) chooseKept() (more bool) {
	last := len(t.plans) - 1
	for _, k := range t.plans[last].order {
		t.steps[k].plans |= 1 << min(last, 63)
	}
	readers := make([]readers, len(t.values))
	for _, s := range t.steps {
		if t.values[s.out].base >= 0 {
			continue
		}
		for _, a := range s.reads {
			readers[t.root(a)].add(s.plans, t.values[s.out].deps)
		}
	}
	var worth []*step
	numbers := 0
	for _, s := range t.steps {
		if t.isTemporary(s.out) && t.isWorthKeeping(s.out, readers[s.out]) && !t.isCheap(s) {
			worth = append(worth, s)
			numbers += t.cost(s)
		}
	}
	if t.kept+numbers > t.budget {
		worth = append(t.productsBehind(worth), worth...)
	}
	for _, s := range worth {
		if v, n := t.values[s.out], t.cost(s); !v.kept && t.kept+n <= t.budget {
			t.kept += n
			v.kept, more = true, true
		}
	}
	return more
}

// cost is how many numbers of the budget the output of a step takes.
func (g *graph) cost(s *step) int {
	if n := g.values[s.out].numbers(); n > smallNumbers {
		return n
	}
	return 0
}

// productsBehind returns the products of matrices with rows on which the outputs of steps depend,
// the longest sums first.
func (g *graph) productsBehind(steps []*step) (list []*step) {
	needed := make([]bool, len(g.values))
	for _, s := range steps {
		needed[s.out] = true
	}
	for _, s := range slices.Backward(g.steps) {
		if !needed[s.out] || g.values[s.out].kept {
			continue
		}
		for _, a := range s.reads {
			needed[a] = true
		}
		if s.Terms > 0 && s.tiled && !s.sums && g.isTemporary(s.out) && !g.values[s.out].remat {
			list = append(list, s)
		}
	}
	slices.Reverse(list)
	slices.SortStableFunc(list, func(a, b *step) int { return cmp.Compare(b.Terms, a.Terms) })
	return list
}

// readers sums up the steps that read a value.
type readers struct {
	any, all uint64 // the plans of any and of all of them
	deps     uint64 // the inputs that they depend on
	some     bool   // there are some
}

func (r *readers) add(plans, deps uint64) {
	if !r.some {
		r.all, r.some = plans, true
	}
	r.any |= plans
	r.all &= plans
	r.deps |= deps
}

// isWorthKeeping reports whether value i is kept between runs: it depends on x alone, or not on the
// direction vectors that its readers depend on, or it is small and only some readers are run
// together.
func (g *graph) isWorthKeeping(i int, by readers) bool {
	v := g.values[i]
	const x = 1 // the bit of the first input
	switch {
	case v.remat:
		return false
	case v.deps&^x == 0, v.deps&g.directions == 0 && by.deps&g.directions != 0:
		return true
	}
	return v.per > 0 && v.c*v.per <= keepCols && by.any != by.all
}

// isCheap reports whether a step takes no longer than reading its output from memory: arithmetic
// entry by entry, on values that are there.
func (g *graph) isCheap(s *step) bool {
	return s.Cheap && g.values[s.out].per > 0 &&
		!slices.ContainsFunc(s.reads, func(a int) bool { return g.isTemporary(g.root(a)) })
}
