package network

import (
	"math"
	"math/bits"
)

// A fixedPoint turns numbers into whole numbers of some bits, whose sums mod 2^bits over all agents
// are exact.
type fixedPoint struct {
	bits       int // of a word
	termBits   int // m: bits of a term, without its sign and the room for the sum
	block      int // numbers that share a scale
	step       int // exponents of scales are multiples of it
	stochastic bool
}

const (
	exponentBits = 12
	exponentBias = 1100 // takes exponents to 1 and above; 0 stands for a block of zeros
	notFinite    = 1<<exponentBits - 1

	longBlock = 1024 // numbers that share a scale where a word has bits to spare
)

// newFixedPoint returns the fixed point of a vector's average over n agents.
func newFixedPoint(w Wire, length, n int) fixedPoint {
	carry := bits.Len(uint(n - 1)) // bits that a sum has more than a term
	f := fixedPoint{block: longBlock, step: 1}
	if length <= shortVector {
		w = Float64
	}
	switch w {
	case Float64:
		f.bits = 64
		f.step = max(1, 64-1-carry-52)
	case Float32:
		f.bits = max(32, 24+1+carry)
	case BF16:
		f.bits, f.block, f.stochastic = max(16, 8+1+carry), blockLength, true
	case Int8:
		f.bits, f.block, f.stochastic = 7+1+carry, blockLength, true
	}
	f.termBits = f.bits - 1 - carry
	return f
}

// blocks returns the number of blocks of n numbers.
func (f fixedPoint) blocks(length int) int { return (length + f.block - 1) / f.block }

// exponents appends the scale of each block of v.
func (f fixedPoint) exponents(dst []uint64, v []float64) []uint64 {
	for lo := 0; lo < len(v); lo += f.block {
		dst = append(dst, f.exponent(maxAbs(v[lo:min(lo+f.block, len(v))])))
	}
	return dst
}

// exponent returns the least scale 2^e of a block in which the largest number, rounded, is
// below it.
func (f fixedPoint) exponent(largest float64) uint64 {
	if largest == 0 {
		return 0
	}
	if !(largest <= math.MaxFloat64) {
		return notFinite
	}
	fraction, e := math.Frexp(largest) // largest = fraction·2^e < 2^e
	if math.Ldexp(fraction, f.termBits) > math.Ldexp(1, f.termBits)-1 {
		e++
	}
	e += exponentBias
	return uint64((e + f.step - 1) / f.step * f.step)
}

// encode appends the numbers of v as multiples of their block's unit, in two's complement.
func (f fixedPoint) encode(dst []uint64, v []float64, scales []uint64, d draws) []uint64 {
	for lo := 0; lo < len(v); lo += f.block {
		block, scale := v[lo:min(lo+f.block, len(v))], scales[lo/f.block]
		switch p := newPower(f.termBits - int(scale) + exponentBias); {
		case scale == 0 || scale == notFinite:
			for range block {
				dst = append(dst, 0)
			}
		case f.stochastic:
			for i, x := range block {
				dst = append(dst, uint64(int64(math.Floor(p.times(x)+d.unit(lo+i)))))
			}
		default:
			for _, x := range block {
				dst = append(dst, uint64(int64(math.RoundToEven(p.times(x)))))
			}
		}
	}
	for i := range dst {
		dst[i] &= mask(f.bits)
	}
	return dst
}

// decode sets dst to the averages of n agents whose sums mod 2^bits are words.
func (f fixedPoint) decode(dst []float64, words, scales []uint64, n int) {
	unused := 64 - f.bits
	for lo := 0; lo < len(dst); lo += f.block {
		hi := min(lo+f.block, len(dst))
		block, sums := dst[lo:hi], words[lo:hi]
		switch scale := scales[lo/f.block]; scale {
		case 0:
			clear(block)
		case notFinite:
			for i := range block {
				block[i] = math.NaN()
			}
		default:
			e := int(scale) - exponentBias
			p := newPower(e - f.termBits)
			for i, sum := range sums {
				block[i] = p.times(float64(int64(sum<<unused)>>unused) / float64(n))
			}
			if e >= 1024 { // terms that were rounded up may have an average above the largest number
				for i, x := range block {
					block[i] = min(max(x, -math.MaxFloat64), math.MaxFloat64)
				}
			}
		}
	}
}

// A power is a power of two in two factors, as 2^e may be no float64 where x·2^e is one.
type power [2]float64

func newPower(e int) power { return power{math.Ldexp(1, e/2), math.Ldexp(1, e-e/2)} }

// times returns x·2^e. It is exact, or rounds once where the result is subnormal: of what exponent
// encodes, and the other way for x = 0 and |x| ≥ 2^-10.
func (p power) times(x float64) float64 { return float64(x * p[0] * p[1]) }
