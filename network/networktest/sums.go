package networktest

import (
	"slices"

	"dsbo/network"
)

// Sums follows the reductions of an agent's averages, to tell what is in the words of a sum.
type Sums struct {
	asked []int    // the scales that were asked for, of sums that have not come yet
	tried [][2]int // bits and numbers of sums that went without asking: when they ask, they are repeated
}

// A Sum is what the words of a sum are.
type Sum struct {
	Numbers  int
	Words    int  // of each number
	Flags    bool // behind the numbers
	Repeated bool // the numbers were sent before, under scales that did not fit
}

// Next tells what the next reduction is, of a number of words. A maximum of scales has no numbers.
func (s *Sums) Next(op network.Op, bits, words int) (sum Sum) {
	const perNumber = 45 // words of an accumulator: 2098 bits of a float64, 48 in each, and one more
	sum = Sum{Numbers: words, Words: 1}
	switch {
	case op == network.Max && bits < 64:
		s.asked, sum.Numbers = append(s.asked, words), 0
	case op == network.Max:
	case s.isAsked(bits, words):
		s.asked = s.asked[1:]
		sum.Repeated = slices.Contains(s.tried, [2]int{bits, words})
	case bits == 64:
		sum.Numbers, sum.Words = words/perNumber, perNumber
	default:
		block := blockOf(bits)
		sum.Numbers, sum.Flags = words-(words+block)/(block+1), true
		s.tried = append(s.tried, [2]int{bits, sum.Numbers})
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
