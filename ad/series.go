package ad

import "slices"

// Where weights are used again and again, as in each step of a recurrent network, their gradient is
// the sum of as many products, each a sum over the batch. From manyProducts on they are one sum:
// each goes on where the one before it stands, in one place instead of one for each, which would be
// more memory than a cache has. Fewer keep an order of their own: first over the batch.
const manyProducts = 4

// A series is sums over the batch that are one sum, in the memory of the last addition.
type series struct {
	begun bool // the first of its sums has its place
	life  int  // the number of its life
	end   int  // the value of the sum
}

// A role is what a step does in a series.
type role uint8

const (
	noRole   role = iota
	goesOn        // the sum goes on where it stands, at the first tile too
	needless      // an addition of what is one sum
)

// seriesOf finds the series of p, by the values of their sums and additions. made has the tail of
// the plan, whose steps are in none.
func (t *template[T]) seriesOf(p *plan, made *layout, when []moment) map[int]*series {
	found := map[int]*series{}
	if p.lanes {
		return found
	}
	read := make(map[int]int, len(p.order)) // how often, by value
	for _, k := range p.order {
		for _, a := range t.steps[k].args {
			read[a]++
		}
	}
	type part struct{ sums, pass int } // of a series: how many sums over the batch, and the pass that makes them
	parts := map[int]part{}
	inTail := made.tail.members(len(t.steps))
	for _, k := range p.order {
		s := t.steps[k]
		switch {
		case inTail[k] || !t.isTemporary(s.out) || slices.Contains(p.outs, s.out):
		case t.goesOn(s):
			parts[s.out] = part{1, when[k].first}
		case s.rule == rule(opAdd) && !s.tiled:
			a, b := parts[s.args[0]], parts[s.args[1]]
			if a.sums > 0 && b.sums > 0 && a.pass == b.pass && read[s.args[0]] == 1 && read[s.args[1]] == 1 {
				parts[s.out] = part{a.sums + b.sums, a.pass}
			}
		}
	}
	for i := len(p.order) - 1; i >= 0; i-- {
		s := t.steps[p.order[i]]
		if n := parts[s.out].sums; n >= manyProducts && found[s.out] == nil {
			found[s.out] = &series{end: s.out}
		} else if n == 0 {
			continue
		}
		if c := found[s.out]; c != nil && !s.sum {
			found[s.args[0]], found[s.args[1]] = c, c
		}
	}
	return found
}

// goesOn reports whether a step is a sum over the batch whose kernel can go on where another
// one stands.
func (t *template[T]) goesOn(s *step[T]) bool {
	if !s.sum {
		return false
	}
	for _, a := range s.args { // bytes and sparse rows are read by other kernels
		if t.values[a].bit != 0 || t.values[a].sparse != nil {
			return false
		}
	}
	switch r := s.rule.(type) {
	case matmulRule:
		return true
	case convRule:
		return r.form == convFilters
	case named:
		return r == sumRows || r == colDot
	}
	return false
}
