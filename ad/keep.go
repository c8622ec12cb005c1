package ad

import (
	"cmp"
	"slices"
)

// keptNumbers is how many numbers a program may keep between runs, if that is more than twice the
// length of y; values of at most smallNumbers do not count. keepCols is the width of a value with
// rows that is kept for another plan's sake: at one point a gradient follows a value, and a product
// a product.
const (
	keptNumbers  = 4 << 20
	smallNumbers = 4 << 10
	keepCols     = 32
)

// chooseKept decides after a plan was made which values more are kept from one run to the next.
// These are worth it: what does not depend on the direction, where something that does reads it, so
// that the next product at the same point begins with it; what several plans read, if it is narrow;
// and what depends on x alone, or on nothing. A value that one cheap op makes of what is there is
// not. Where not all of them fit, products of matrices that they are made of come first, whose
// numbers cost most: the next product at the same point makes the others of these anew. It reports
// whether there are more.
func (t *template[T]) chooseKept() (more bool) {
	last := len(t.plans) - 1
	for _, k := range t.plans[last].order {
		t.steps[k].plans |= 1 << min(last, 63)
	}
	readers := make([]reading, len(t.values))
	for _, s := range t.steps {
		if t.values[s.out].base >= 0 {
			continue
		}
		for _, a := range s.args {
			if a >= 0 {
				readers[t.root(a)].add(s.plans, t.values[s.out].deps)
			}
		}
	}
	var worth []*step[T]
	numbers := 0
	for _, s := range t.steps {
		if i := s.out; t.isTemporary(i) && t.isWorthKeeping(i, readers[i]) && !t.isCheap(s) {
			worth = append(worth, s)
			numbers += t.budgeted(i)
		}
	}
	if t.kept+numbers > t.budget {
		worth = append(t.productsOf(worth), worth...)
	}
	for _, s := range worth {
		if v, n := t.values[s.out], t.budgeted(s.out); !v.kept && t.kept+n <= t.budget {
			t.kept += n
			v.kept, more = true, true
		}
	}
	return more
}

// budgeted is how many numbers of the budget a value takes.
func (t *template[T]) budgeted(i int) int {
	if v := t.values[i]; v.r*v.c > smallNumbers {
		return v.r * v.c
	}
	return 0
}

// productsOf returns the steps that make products of matrices with rows of which the outputs of
// others are made, those with the longest sums first.
func (t *template[T]) productsOf(others []*step[T]) (list []*step[T]) {
	needed := make([]bool, len(t.values))
	for _, s := range others {
		needed[s.out] = true
	}
	terms := map[*step[T]]int{}
	for k := len(t.steps) - 1; k >= 0; k-- {
		s := t.steps[k]
		if !needed[s.out] || t.values[s.out].kept {
			continue
		}
		for _, a := range s.args {
			if a >= 0 {
				needed[a] = true
			}
		}
		if n := t.terms(s); n > 0 && t.isTemporary(s.out) {
			terms[s] = n
			list = append(list, s)
		}
	}
	slices.Reverse(list)
	slices.SortStableFunc(list, func(a, b *step[T]) int { return cmp.Compare(terms[b], terms[a]) })
	return list
}

// terms returns how many numbers a product with rows sums for each of its numbers, 0 for
// other steps.
func (t *template[T]) terms(s *step[T]) int {
	if !s.tiled || s.sum {
		return 0
	}
	switch r := s.rule.(type) {
	case matmulRule:
		return t.values[s.args[0]].c
	case convRule:
		filters := t.values[s.args[1]]
		if r.form == convOutputs {
			return filters.c
		}
		return r.args / 2 * filters.r * filters.c * r.w.patches() / r.w.pixels()
	}
	return 0
}

// A reading is what reads a value.
type reading struct {
	any, all uint64 // the plans of any and of all that read it
	deps     uint64 // the inputs that they depend on
	some     bool
}

func (r *reading) add(plans, deps uint64) {
	if !r.some {
		r.all, r.some = plans, true
	}
	r.any |= plans
	r.all &= plans
	r.deps |= deps
}

func (t *template[T]) isWorthKeeping(i int, by reading) bool {
	v := t.values[i]
	const x = 1 // the first input
	switch {
	case v.deps&^x == 0:
		return true
	case v.deps&t.direction == 0 && by.deps&t.direction != 0:
		return true
	}
	return v.per > 0 && v.c*v.per <= keepCols && by.any != by.all
}

// isCheap reports whether a step takes no longer than reading its output from memory: arithmetic
// entry by entry, on values that are there.
func (t *template[T]) isCheap(s *step[T]) bool {
	switch r := s.rule.(type) {
	case affine, clipRule:
	case named:
		switch r {
		case opAdd, opSub, opMul, opMax, opMin, opGate, fnStep, fnReLU, fnAbs, fnSign, rowScale, colScale, addRow,
			addCol, scaleByOp:
		default:
			return false
		}
	default:
		return false
	}
	for _, a := range s.args {
		if a >= 0 && t.isTemporary(t.root(a)) {
			return false
		}
	}
	return t.values[s.out].per > 0
}
