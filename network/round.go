package network

import (
	"math"

	"dsbo/internal/num"
)

// draws are random numbers by the names of the entries of a vector.
type draws uint64

// newDraws returns the draws of a vector with a name of some words.
func newDraws(name ...uint64) draws {
	h := uint64(0)
	for _, word := range name {
		h = num.SplitMix(h ^ word)
	}
	return draws(h)
}

func (d draws) bits(entry int) uint64 {
	return num.SplitMix(uint64(d) + uint64(entry)*num.SplitMixStep)
}

// unit returns an entry's number in [0, 1), of 32 bits: added to a whole number of less than 20
// bits it changes none of them.
func (d draws) unit(entry int) float64 { return float64(float64(d.bits(entry)>>32) * 0x1p-32) }

// round sets dst to the numbers of v that the wire carries, which [Wire.Encode] encodes without
// another rounding: the nearest on Float32, and on BF16 and Int8 one of the two around, with the
// number itself as expectation. The one exception is the largest of a block on Int8, which may be
// off by 2^-23 of itself.
func (w Wire) round(dst, v []float64, d draws) {
	switch w {
	case Float64:
		copy(dst, v)
	case Float32:
		for i, x := range v {
			dst[i] = float64(float32(x))
		}
	case BF16:
		for i, x := range v {
			dst[i] = roundBF16(x, d.bits(i))
		}
	case Int8:
		for lo := 0; lo < len(v); lo += blockLength {
			hi := min(lo+blockLength, len(v))
			s := int8Scale(v[lo:hi])
			for i, x := range v[lo:hi] {
				k := math.Floor(x/s + d.unit(lo+i)) // NaN if s is
				if k > int8Max {
					k = int8Max
				} else if k < -int8Max {
					k = -int8Max
				}
				dst[lo+i] = float64(k * s)
			}
		}
	}
}

const (
	bf16Dropped  = 52 - 7     // bits of a float64's fraction that bf16 does not have
	bf16Max      = 0x1.fep127 // largest number
	bf16Normal   = 0x1p-126   // least number with all bits
	bf16Smallest = 0x1p-133   // least number
)

// roundBF16 returns one of the two numbers of bf16 around x, by random bits.
func roundBF16(x float64, random uint64) float64 {
	size := math.Abs(x)
	switch {
	case !(size <= math.MaxFloat64): // not finite
		return x
	case size < bf16Normal:
		return math.Floor(float64(x/bf16Smallest)+float64(float64(random>>32)*0x1p-32)) * bf16Smallest
	}
	// The fraction is a whole number in the lowest bits, and a carry goes into the exponent as
	// it must.
	b := (math.Float64bits(x) + random>>(64-bf16Dropped)) >> bf16Dropped << bf16Dropped
	if y := math.Float64frombits(b); math.Abs(y) <= bf16Max {
		return y
	}
	return math.Copysign(math.Inf(1), x)
}
