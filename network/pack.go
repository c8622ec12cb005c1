package network

import (
	"encoding/binary"

	"dsbo"
)

// PackedBytes returns the bytes that [PackWords] makes of n words of some bits, 64 for [Whole].
func PackedBytes(bits, words int) int { return (min(bits, 64)*words + 7) / 8 }

// PackWords appends words of some bits, 1 ≤ bits ≤ 64 or [Whole], to dst, the lowest bits first and
// without gaps: PackedBytes(bits, len(words)) bytes, of which the last one is filled up with zeros.
// Words must be below 2^bits.
func PackWords(dst []byte, bits int, words []uint64) []byte {
	bits = min(bits, 64)
	pending, filled := uint64(0), 0 // bits that are not in dst yet, and their number, below 64
	for _, w := range words {
		pending |= w << filled
		if filled += bits; filled >= 64 {
			dst = binary.LittleEndian.AppendUint64(dst, pending)
			filled -= 64
			pending = w >> (bits - filled) // 0 if all of w's bits are out
		}
	}
	for ; filled > 0; filled -= 8 {
		dst = append(dst, byte(pending))
		pending >>= 8
	}
	return dst
}

// UnpackWords fills words with those that [PackWords] made b of, or returns an error that matches
// dsbo.ErrShape if it makes no such b.
func UnpackWords(words []uint64, bits int, b []byte) error {
	want := PackedBytes(bits, len(words))
	if len(b) != want {
		return dsbo.ShapeErrorf("%d words of %d bits must be %d bytes; they are %d", len(words), bits, want, len(b))
	}
	bits = min(bits, 64)
	if fill := 8*want - bits*len(words); fill > 0 && b[want-1]>>(8-fill) != 0 { // words have one code
		return dsbo.ShapeErrorf("the last byte of %d words of %d bits must be filled up with zeros", len(words), bits)
	}
	pending, filled := uint64(0), 0 // bits that are in no word yet, and their number, below 64
	for i := range words {
		if filled >= bits {
			words[i] = pending & mask(bits)
			pending >>= bits
			filled -= bits
			continue
		}
		next, have := uint64(0), 64 // bits of b, and their number
		if len(b) >= 8 {
			next, b = binary.LittleEndian.Uint64(b), b[8:]
		} else { // the end, which has what the last words lack
			have = 8 * len(b)
			for k, c := range b {
				next |= uint64(c) << (8 * k)
			}
		}
		words[i] = (pending | next<<filled) & mask(bits)
		used := bits - filled
		pending = next >> used
		filled = have - used
	}
	return nil
}
