package network

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"dsbo"
	"dsbo/internal/num"
)

// A Wire is the number of bits in which a number travels.
type Wire uint8

// The wires, the most exact first.
const (
	Float64 Wire = iota
	Float32
	BF16
	Int8
)

var wireNames = []string{"float64", "float32", "bf16", "int8"}

// String returns the wire's name.
func (w Wire) String() string {
	if int(w) < len(wireNames) {
		return wireNames[w]
	}
	return fmt.Sprintf("Wire(%d)", uint8(w))
}

// MarshalText implements encoding.TextMarshaler.
func (w Wire) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (w *Wire) UnmarshalText(text []byte) error {
	i := slices.Index(wireNames, string(text))
	if i < 0 {
		return dsbo.ConfigErrorf("a wire must be one of %s; it is %q", strings.Join(wireNames, ", "), text)
	}
	*w = Wire(i)
	return nil
}

// blockLength is how many numbers share a scale, in averages and on wire Int8.
const blockLength = 64

const (
	int8Max      = 127
	int8ScaleLen = 4        // bytes of a block's scale
	int8MinScale = 0x1p-126 // least scale: the least normal float32
)

// Bytes returns the bytes of n numbers on the wire, with the scales of Int8.
func (w Wire) Bytes(n int) int {
	switch w {
	case Float64:
		return 8 * n
	case Float32:
		return 4 * n
	case BF16:
		return 2 * n
	}
	return n + int8ScaleLen*((n+blockLength-1)/blockLength)
}

// Encode appends the w.Bytes(len(v)) bytes of v to dst. [Wire.Decode] gives the same numbers back
// if they are those that an [Averager] sends on wire w, and the nearest ones of the wire otherwise.
// NaN stays NaN. Only wire Float64 keeps its payload.
//
// Numbers are little-endian: float64, float32, and the upper half of a float32 for BF16. Wire Int8
// has, for each 64 numbers, a scale s (float32) and a whole number k from -127 to 127 for each,
// whose value is k·s. Either the largest |k| is 127 or s is the least scale, 2^-126. A block with a
// number that is not finite has the scale NaN, which makes all of it NaN.
func (w Wire) Encode(dst []byte, v []float64) []byte {
	switch w {
	case Float64:
		for _, x := range v {
			dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(x))
		}
	case Float32:
		for _, x := range v {
			dst = binary.LittleEndian.AppendUint32(dst, float32Bits(x))
		}
	case BF16:
		for _, x := range v {
			b := uint64(float32Bits(x))
			if x == x { // a NaN stays one: it has no bits to round away
				b += 0x7fff + b>>16&1 // to nearest, ties to even
			}
			dst = binary.LittleEndian.AppendUint16(dst, uint16(b>>16))
		}
	case Int8:
		for block := range slices.Chunk(v, blockLength) {
			dst = encodeInt8(dst, block)
		}
	}
	return dst
}

// float32Bits returns the bits of the nearest float32; every NaN has the same.
func float32Bits(x float64) uint32 {
	if x != x {
		return 0x7fc00000
	}
	return math.Float32bits(float32(x))
}

// int8Scale returns the scale of a block: the largest float32 of which 127 times is not above the
// largest entry, so that the entry's whole number is 127, but at least int8MinScale. It is NaN if
// an entry is not finite or above 127 times the largest float32.
func int8Scale(v []float64) float64 {
	largest := maxAbs(v)
	if !(largest <= int8Max*math.MaxFloat32) { // true of NaN too
		return math.NaN()
	}
	s := float32(largest / int8Max)
	if float64(s)*int8Max > largest {
		s = math.Nextafter32(s, 0)
	}
	return max(float64(s), int8MinScale)
}

// maxAbs returns the largest absolute entry; NaN or +Inf if an entry is not finite. The bits of
// absolute values, as whole numbers, have the order of the values, with NaN above +Inf.
func maxAbs(v []float64) float64 {
	const sign = 1 << 63
	largest := uint64(0)
	for _, x := range v {
		largest = max(largest, math.Float64bits(x)&^sign)
	}
	return math.Float64frombits(largest)
}

// encodeInt8 appends the bytes of one block: its scale, a float32, and a byte for each number, the
// nearest multiple of the scale. The scale is never 0. Of a block with a number that is not finite,
// or too large, it is NaN, and the bytes are 0.
func encodeInt8(dst []byte, v []float64) []byte {
	s := int8Scale(v)
	dst = binary.LittleEndian.AppendUint32(dst, float32Bits(s))
	for _, x := range v {
		k := 0.0
		if s == s {
			k = math.RoundToEven(x / s)
		}
		dst = append(dst, byte(int8(min(max(k, -int8Max), int8Max))))
	}
	return dst
}

// Decode fills dst with the numbers of which b is the code. It returns an error that matches
// dsbo.ErrShape, with nothing said of dst, if [Wire.Encode] makes no b of len(dst) numbers.
func (w Wire) Decode(dst []float64, b []byte) error {
	if want := w.Bytes(len(dst)); len(b) != want {
		return dsbo.ShapeErrorf("%d numbers on wire %v must be %d bytes; they are %d", len(dst),
			w, want, len(b))
	}
	switch w {
	case Float64:
		for i := range dst {
			dst[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
		}
	case Float32:
		for i := range dst {
			dst[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
		}
	case BF16:
		for i := range dst {
			dst[i] = float64(math.Float32frombits(uint32(binary.LittleEndian.Uint16(b[2*i:])) << 16))
		}
	case Int8:
		for block := range slices.Chunk(dst, blockLength) {
			if err := decodeInt8(block, b[:int8ScaleLen+len(block)]); err != nil {
				return err
			}
			b = b[int8ScaleLen+len(block):]
		}
	}
	return nil
}

// decodeInt8 is Decode of one block. It refuses what encodeInt8 does not write, so that a block has
// one code: a scale below the least, one that is larger than it must be, and -128.
func decodeInt8(dst []float64, b []byte) error {
	s := float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	if !(s >= int8MinScale && !math.IsInf(s, 0) || s != s) {
		return dsbo.ShapeErrorf(
			"the scale of a block on wire int8 must be a finite number from 2^-126 on, or NaN; it is %g", s)
	}
	largest := 0
	for i, c := range b[int8ScaleLen:] {
		k := int(int8(c))
		dst[i] = float64(k) * s
		largest = max(largest, k, -k)
	}
	switch {
	case s != s && largest > 0:
		return dsbo.ShapeErrorf("numbers of a block of scale NaN on wire int8 must be 0; one is %d", largest)
	case largest > int8Max || s > int8MinScale && largest < int8Max:
		return dsbo.ShapeErrorf(
			"the largest number of a block of scale %g on wire int8 must be 127; it is %d", s, largest)
	}
	return nil
}

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
