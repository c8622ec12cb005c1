package networktest

import (
	"math/bits"
	"slices"

	"dsbo/network"
)

// Sums follows the reductions of an agent's averages, to identify the content of each word of a
// sum.
type Sums struct {
	Agents int

	asked []int    // the scales that were asked for, of sums that have not come yet
	tried [][2]int // bits and numbers of sums that went without asking: when they ask, they are repeated
	wide  [17]bool // by numbers, whether the last whole number was a wide one: the first is repeated
}

// A Sum is what the words of a sum are.
type Sum struct {
	Numbers  int
	Cell     int  // bits of each number of a whole number, else 0
	Flags    bool // behind the numbers
	Repeated bool // the numbers were sent before, under scales that did not fit
}

// Next describes the next reduction, of a number of words. A maximum of scales has no numbers.
func (s *Sums) Next(op network.Op, size, words int) (sum Sum) {
	sum = Sum{Numbers: words}
	switch {
	case op == network.Max && size < 64:
		s.asked, sum.Numbers = append(s.asked, words), 0
	case op == network.Max:
	case s.isAsked(size, words):
		s.asked = s.asked[1:]
		sum.Repeated = slices.Contains(s.tried, [2]int{size, words})
	case size >= network.Whole:
		window := []int{64 + 160, 1024 + 78 + 1074}[size-network.Whole] // bits of a term, narrow and wide
		sum.Cell = 3*(1+bits.Len(uint(s.Agents-1))) + window
		sum.Numbers = 64 * words / sum.Cell
		sum.Repeated = size > network.Whole && !s.wide[sum.Numbers]
		s.wide[sum.Numbers] = size > network.Whole
	default:
		block := blockOf(size)
		sum.Numbers, sum.Flags = words-(words+block)/(block+1), true
		s.tried = append(s.tried, [2]int{size, sum.Numbers})
	}
	return sum
}

// isAsked reports whether words of a sum are under the scales that were asked for first.
func (s *Sums) isAsked(bits, words int) bool {
	block := blockOf(bits)
	return len(s.asked) > 0 && (words+block-1)/block == s.asked[0]
}

// blockOf returns how many numbers have one scale: more of float32, and of float64.
func blockOf(bits int) int {
	if bits >= 44 {
		return 1024
	}
	return 64
}
