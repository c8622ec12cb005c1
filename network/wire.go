package network

import (
	"fmt"
	"slices"
	"strings"

	"dsbo"
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
