package network

import (
	"fmt"
	"math/bits"

	"dsbo"
)

// A Wire says in how many bits a number travels.
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
	for i, name := range wireNames {
		if name == string(text) {
			*w = Wire(i)
			return nil
		}
	}
	return dsbo.Errorf(dsbo.ErrConfig, "a wire must be one of float64, float32, bf16, int8; it is %q", text)
}

// wordBits returns how many bits a term of a sum over n agents has, sign and room for the sum included: 64, 32 or 16, or 8
// and what the sum adds to them.
func (w Wire) wordBits(n int) int {
	switch w {
	case Float64:
		return 64
	case Float32:
		return 32
	case BF16:
		return 16
	}
	return 8 + carryBits(n)
}

// carryBits returns how many bits a sum of n terms has more than a term.
func carryBits(n int) int { return bits.Len(uint(n - 1)) }
