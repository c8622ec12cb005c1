package network

import (
	"unsafe"

	"dsbo"
	"dsbo/internal/kernel"
)

// A format is what vectors that are mixed have in common: the bits of a number, and how many there are.
type format struct{ bits, length int }

func formatOf[T dsbo.Float](v []T) format { return format{8 * int(unsafe.Sizeof(T(0))), len(v)} }

// mismatch returns the error of agent i, who sends vectors of this format, when agent j sends another one.
func (f format) mismatch(i int, other format, j int) error {
	if f.bits != other.bits {
		return dsbo.Errorf(dsbo.ErrShape, "neighbours must send numbers of one type; agent %d sends float%d and agent %d sends float%d",
			i, f.bits, j, other.bits)
	}
	return dsbo.Errorf(dsbo.ErrShape, "neighbours must send equally many numbers; agent %d sends %d and agent %d sends %d",
		i, f.length, j, other.length)
}

// numbers are those of a vector of either type: the other one of the two is nil.
type numbers struct {
	wide   []float64
	narrow []float32
}

func float64s(v []float64) numbers { return numbers{wide: v} }
func float32s(v []float32) numbers { return numbers{narrow: v} }

func (v numbers) len() int { return len(v.wide) + len(v.narrow) }

// part returns numbers low..high as float64: a view, or in the first entries of memory.
func (v numbers) part(low, high int, memory []float64) []float64 {
	if v.narrow == nil {
		return v.wide[low:high]
	}
	memory = memory[:high-low]
	kernel.ToFloat64(memory, v.narrow[low:high])
	return memory
}

// prefetch asks the processor to begin loading numbers low..high, as far as there are.
func (v numbers) prefetch(low, high int) {
	low, high = min(low, v.len()), min(high, v.len())
	if v.narrow == nil {
		kernel.Prefetch(v.wide[low:high])
		return
	}
	kernel.Prefetch(v.narrow[low:high])
}
