package networktest

import "dsbo/network"

// Sums follows the reductions of an agent's averages, to tell what is in the words of a sum.
type Sums struct {
	asked bool // for scales, before this reduction
	tried int  // the numbers of the sum before, if its words may be repeated
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
	asked, tried := s.asked, s.tried
	s.asked, s.tried = op == network.Max && bits < 64, 0
	switch {
	case s.asked:
		s.tried, sum.Numbers = tried, 0
	case op == network.Max:
	case asked:
		sum.Repeated = words == tried
	case bits == 64:
		sum.Numbers, sum.Words = words/perNumber, perNumber
	default:
		block := 64
		if bits >= 44 { // float32, where more numbers have one scale
			block = 1024
		}
		sum.Numbers, sum.Flags = words-(words+block)/(block+1), true
		s.tried = sum.Numbers
	}
	return sum
}
