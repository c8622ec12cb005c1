package engine

import "testing"

// TestChoosePart: a processor adds to its own part what is ready, else to one for which its tile
// waits, and never what another adds or nobody has yet.
func TestChoosePart(t *testing.T) {
	m := new(machine[float32])
	for name, c := range map[string]struct {
		next      []int // by part: the next tile to add
		adding    []bool
		first, of int // the processor's part and tile
		want      int // −1: none
	}{
		"its own part":                     {[]int{1, 1}, []bool{false, false}, 1, 1, 1},
		"its own, for a tile behind its":   {[]int{2, 2}, []bool{false, false}, 1, 1, 1},
		"another's, as its own is behind":  {[]int{1, 3}, []bool{false, false}, 1, 1, 0},
		"another's part of a later tile":   {[]int{2, 3}, []bool{false, false}, 1, 1, -1},
		"its own, which another adds":      {[]int{3, 1}, []bool{false, true}, 1, 1, -1},
		"a tile that nobody has":           {[]int{3, 3}, []bool{false, false}, 0, 3, -1},
		"all tiles":                        {[]int{4, 4}, []bool{false, false}, 0, 3, -1},
		"a processor beyond the parts":     {[]int{2, 1}, []bool{false, false}, 5, 2, 0},
		"a tile that has left another sum": {[]int{0, 1}, []bool{false, false}, 0, 2, 1},
	} {
		s := &sharedSum[float32]{by: []*machine[float32]{nil, m, m, nil}, next: c.next, adding: c.adding}
		if part, ok := s.choose(c.first, c.of); ok != (c.want >= 0) || ok && part != c.want {
			t.Errorf("%s: part %d, %t; want %d", name, part, ok, c.want)
		}
	}
}

// TestPartsOfSum: parts have whole blocks of kernels, no more parts than processors, and enough
// work each.
func TestPartsOfSum(t *testing.T) {
	const numbers, bytes = -1, 1
	for _, c := range []struct{ columns, width, tile, processors, form, parts, wide int }{
		{256, 784, 128, 2, numbers, 2, 128}, {200, 784, 128, 4, numbers, 2, 128}, {256, 784, 128, 16, numbers, 4, 64},
		{127, 784, 512, 2, numbers, 0, 0}, {128, 128, 127, 2, numbers, 0, 0}, {128, 128, 128, 2, numbers, 2, 64},
		{300, 100, 400, 3, numbers, 3, 128}, {193, 784, 128, 3, numbers, 2, 128},
		{256, 784, 128, 2, bytes, 0, 0}, {1 << 14, 1, 512, 2, numbers, 0, 0},
	} {
		m := new(machine[float32])
		m.slots = []slot[float32]{{value: &value{r: c.tile, c: c.columns, base: -1}},
			{value: &value{r: c.tile, c: c.width, base: -1}}, {value: &value{r: c.columns, c: c.width, base: -1}}}
		sum := &step{args: []int{0, 1}, out: 2, sums: true, sparse: -1}
		sum.Kind, sum.TransA = Product, true
		m.instrs = []instr[float32]{{step: sum, bytes: c.form, run: true}}
		s := newSharedSum(m, []int{0}, c.tile, c.processors, 8)
		if s == nil && c.parts > 0 || s != nil && (len(s.next) != c.parts || s.columns != c.wide) {
			t.Errorf("%+v: %+v", c, s)
		}
	}
}
