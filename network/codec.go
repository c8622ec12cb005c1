package network

import (
	"encoding/binary"
	"math"
	"slices"

	"dsbo"
)

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
