package network

import (
	"math"
	"math/bits"
)

// An exact sum of float64s is a sum of whole numbers, and the sums of several numbers are one whole
// number mod a power of two: a term is this number, in words of 64 bits, the lowest first, which
// are added with what is carried from one to the next ([Whole]). Nothing but the sums is in the
// result. Each number has a cell of bits, the first one the lowest: the number of agents whose
// entry does not fit the narrow window, the number whose entry is not finite, and the entry in
// two's complement, in units of the window's lowest bit and with room for the sum.

// A window is the bits of numbers that a sum takes: multiples of 2^lowest of less than 2^highest.
type window struct{ lowest, highest int }

// Sums are tried in the narrow window, and made once more in the wide one, which takes every
// float64, where a number does not fit. Above, it has 78 bits for noise in the place of what is not
// finite.
var (
	narrow = window{-160, 64}
	wide   = window{-1074, 1024 + 78}
)

// mostWhole is the most words that a number has.
const mostWhole = 36

// split returns the m and e of x = ±m·2^e, m a whole number below 2^53: of a normal number m has
// the leading 1 that the bits of x leave out. x is finite.
func split(x float64) (m uint64, e int) {
	b := math.Float64bits(x)
	if e = int(b >> 52 & 0x7ff); e > 0 {
		return b&(1<<52-1) | 1<<52, e - 1075
	}
	return b & (1<<52 - 1), -1074
}

// takes reports whether x is among the window's numbers.
func (w window) takes(x float64) bool {
	_, e := split(x)
	return x == 0 || isFinite(x) && e >= w.lowest && e <= w.highest-53
}

// isFinite reports whether x is neither NaN nor infinite: only then is x−x 0.
func isFinite(x float64) bool { return x-x == 0 }

// cell returns the bits of a number's cell: a field for each of the two counts, the window, and
// a field in which the sum of n agents' entries has room, with its sign.
func (f fixedPoint) cell(w window) int { return 3*f.field() + w.highest - w.lowest }

// wholeWords returns the words of n numbers of a window.
func (f fixedPoint) wholeWords(w window, n int) int { return (n*f.cell(w) + 63) / 64 }

// appendWhole appends the words of an agent's term: a cell for each number of v, in a window. An
// entry that the window does not take is 0 in the term, and counted.
func (f fixedPoint) appendWhole(dst []uint64, w window, v []float64) []uint64 {
	from := len(dst)
	dst = append(dst, make([]uint64, f.wholeWords(w, len(v)))...)
	whole := dst[from:]
	for i, x := range v {
		at := i * f.cell(w)
		if !narrow.takes(x) { // on w = wide too: all agents know by it which window comes next
			addAt(whole, at, 1, false)
		}
		if !isFinite(x) {
			addAt(whole, at+f.field(), 1, false)
		} else if m, e := split(x); w.takes(x) { // e is below the window where m is 0
			addAt(whole, at+2*f.field()+max(e-w.lowest, 0), m, x < 0)
		}
	}
	return dst
}

// addAt adds m·2^at to a whole number, or subtracts it, mod the power of two above the words.
func addAt(whole []uint64, at int, m uint64, subtract bool) {
	part, next, carry := m<<(at%64), m>>(64-at%64), uint64(0) // m is in two words
	for k := at / 64; k < len(whole) && part|next|carry != 0; k++ {
		if subtract { // not by a variable: a call takes longer than the instruction
			whole[k], carry = bits.Sub64(whole[k], part, carry)
		} else {
			whole[k], carry = bits.Add64(whole[k], part, carry)
		}
		part, next = next, 0
	}
}

// bitsAt returns the 64 bits of a whole number from a bit on, zeros above its words.
func bitsAt(whole []uint64, at int) (v uint64) {
	k, shift := at/64, at%64
	if v = whole[k] >> shift; k+1 < len(whole) {
		v |= whole[k+1] << (64 - shift)
	}
	return v
}

// separate adds half of its range to each of n numbers, so that none borrows from the next one, and
// reports whether all fit the narrow window, on all agents: the lowest count of each cell is 0. In
// the narrow window, cells above the first that does not fit are meaningless, as cover has put
// noise there.
func (f fixedPoint) separate(whole []uint64, w window, n int) (fit bool) {
	for i := range n {
		addAt(whole, (i+1)*f.cell(w)-1, 1, false)
	}
	for i := range n {
		if bitsAt(whole, i*f.cell(w))&mask(f.field()) != 0 {
			return false
		}
	}
	return true
}

// means sets dst to the means of n agents, whose numbers have the sum whole and are separate. The
// sum is rounded once, and the quotient once. A number that is not finite at some agent is NaN.
func (f fixedPoint) means(dst []float64, whole []uint64, w window, n int) {
	var memory [mostWhole]uint64
	size := f.cell(w) - 2*f.field() // bits of a sum
	value := memory[:(size+63)/64]
	top, unused := &value[len(value)-1], 64*len(value)-size
	for i := range dst {
		at := i*f.cell(w) + 2*f.field()
		if agents := bitsAt(whole, at-f.field()) & mask(f.field()); agents > 0 {
			dst[i] = math.NaN()
			continue
		}
		for k := range value {
			value[k] = bitsAt(whole, at+64*k)
		}
		*top <<= unused                      // without the bits of the next cell
		*top ^= 1 << 63                      // without the half that separate has added
		*top = uint64(int64(*top) >> unused) // with the sign in the bits above
		sign := 1.
		if int64(*top) < 0 {
			sign = -1
			for k := range value {
				value[k] = ^value[k]
			}
			addAt(value, 0, 1, false)
		}
		dst[i] = sign * quotient(value, w.lowest, n)
	}
}

// quotient returns a whole number times 2^e, divided by n. The mean of the largest float64s,
// rounded up, is no infinity.
func quotient(whole []uint64, e, n int) float64 {
	k := len(whole) - 1
	for k > 0 && whole[k] == 0 {
		k--
	}
	shift := bits.LeadingZeros64(whole[k])
	at := 64*k - shift
	high := whole[k] << shift // the 64 bits from the highest one on, of weight 2^at
	if k > 0 {
		high |= whole[k-1] >> (64 - shift)
		rest := whole[k-1] << shift
		for _, v := range whole[:k-1] {
			rest |= v
		}
		if rest != 0 {
			high |= 1 // the lowest bit, far below a float64's last, decides ties as all below would
		}
	}
	return min(newPower(at+e).times(float64(high)/float64(n)), math.MaxFloat64)
}

// cover puts noise in the places of what the window does not take of v. In the narrow window, whose
// sum is then made once more in the wide one, that is all above the first such number. In the wide
// one it is the number alone, which is not finite, as the others count: noise is above all that
// agents have there by a factor of 2^78, the bits that the window has beyond float64's.
func (f fixedPoint) cover(whole []uint64, w window, v []float64, noise []uint64) {
	for i, x := range v {
		if w.takes(x) {
			continue
		}
		at := i*f.cell(w) + 2*f.field()
		end := at + w.highest - w.lowest
		if w == narrow {
			end = 64 * len(whole)
		}
		for ; at < end; at += 64 {
			addAt(whole, at, noise[at/64], false)
		}
		if w == narrow {
			return
		}
	}
}
