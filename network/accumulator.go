package network

import (
	"math"
	"math/bits"
	"slices"
)

// An accumulator is a number, or a sum of numbers, as a whole number of the least float64: limbs of
// 48 bits, the lowest first, each a word in two's complement with room for the sum over 2^15
// agents, and a word that counts numbers which are not finite. It takes every float64, so that
// nothing has to be known of its size.
const (
	limbBits         = 48
	limbs            = (1074 + 1024 + limbBits - 1) / limbBits
	accumulatorWords = limbs + 1
)

// appendAccumulator appends the accumulator of x.
func appendAccumulator(dst []uint64, x float64) []uint64 {
	from := len(dst)
	dst = append(dst, make([]uint64, accumulatorWords)...)
	a := dst[from:]
	if math.IsNaN(x) || math.IsInf(x, 0) {
		a[limbs] = 1
		return dst
	}
	b := math.Float64bits(x)
	exponent, fraction := int(b>>52&0x7ff), b&(1<<52-1)
	if exponent > 0 {
		exponent, fraction = exponent-1, fraction|1<<52
	}
	high, low := bits.Mul64(fraction, 1<<(exponent%limbBits))
	k := exponent / limbBits
	a[k], a[k+1], a[k+2] = low&mask(limbBits), (low>>limbBits|high<<(64-limbBits))&mask(limbBits), high>>(2*limbBits-64)
	if x < 0 {
		for i := range 3 {
			a[k+i] = -a[k+i]
		}
	}
	return dst
}

// accumulated returns the mean of n agents whose accumulators have the sum a, which it changes. The
// sum is rounded once, and the quotient once.
func accumulated(a []uint64, n int) float64 {
	if a[limbs] != 0 {
		return math.NaN()
	}
	a = a[:limbs]
	carry(a)
	sign := 1.
	if int64(a[limbs-1]) < 0 {
		for i := range a {
			a[i] = -a[i]
		}
		carry(a)
		sign = -1
	}
	top := limbs - 1
	for top > 0 && a[top] == 0 {
		top--
	}
	// the 64 bits from the highest one on, the lowest of which stands for all below
	high, shift := a[top], bits.LeadingZeros64(a[top])
	at := top*limbBits - shift
	high <<= shift
	for k := top - 1; k >= 0; k-- {
		switch shift -= limbBits; {
		case shift >= 0:
			high |= a[k] << shift
		case shift > -limbBits:
			high |= a[k] >> -shift
			if a[k]&mask(-shift) != 0 {
				high |= 1
			}
		case slices.Max(a[:k+1]) > 0:
			high, k = high|1, 0
		}
	}
	p := newPower(at - 1074)
	return sign * min(p.times(float64(high)/float64(n)), math.MaxFloat64)
}

// carry takes what limbs have beyond their bits to the next ones: but for the highest one they are
// from 0 to 2^48 − 1 then.
func carry(a []uint64) {
	for k := range a[:len(a)-1] {
		a[k+1] += uint64(int64(a[k]) >> limbBits)
		a[k] &= mask(limbBits)
	}
}
