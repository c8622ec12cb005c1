package ad

import (
	"fmt"
	"slices"

	"gorgonia.org/tensor"
)

// taps are the entries, along an axis, of which an entry of a result is the sum: times numbers,
// where there are some.
type taps struct {
	at []int
	by []float64
}

// mapOf returns the matrix that makes results of n entries.
func mapOf(n int, results []taps) *SparseMatrix {
	s := &SparseMatrix{rows: len(results), cols: n, starts: []int{0}}
	for _, t := range results {
		for i, at := range t.at {
			v := 1.
			if t.by != nil {
				v = t.by[i]
			}
			s.indices, s.f64, s.f32 = append(s.indices, int32(at)), append(s.f64, v), append(s.f32, float32(v))
		}
		s.starts = append(s.starts, len(s.indices))
	}
	return s
}

// taken returns entries of each row of a, which is read as a matrix of some columns: its rows of
// these indices, and zeros where an index is −1.
func taken(a *Node, cols int, indices []int) *Node {
	_, width := dims(a)
	results := make([]taps, len(indices))
	for i, at := range indices {
		if at >= 0 {
			results[i].at = []int{at}
		}
	}
	return sparseRule{s: mapOf(width/cols, results), cols: cols}.of(a)
}

// places returns where the entries of axes of these lengths are whose neighbours lie steps apart.
func places(lengths, steps []int) []int {
	list := []int{0}
	for i, n := range lengths {
		var next []int
		for _, at := range list {
			for k := range n {
				next = append(next, at+k*steps[i])
			}
		}
		list = next
	}
	return list
}

// length refuses what is no axis of the tensor.
func (t Tensor) length(op named, axis int) int {
	if axis < 0 || axis >= len(t.Shape) {
		failf("%v: the axis must be one of shape %v; it is %d", op, t.Shape, axis)
	}
	return t.Shape[axis]
}

// mapped applies a function to rows, in which neighbours along an axis lie cols apart, that makes
// n entries of those along the axis.
func (t Tensor) mapped(op named, axis, n int, f func(rows *Node, cols int) *Node) Tensor {
	t.length(op, axis)
	if n < 1 {
		failf("%v: at least one entry along axis %d of shape %v must be left; there are %d", op, axis, t.Shape, n)
	}
	outer, length, inner := around(t.Shape, axis)
	shape := slices.Clone(t.Shape)
	shape[axis] = n
	return TensorOf(f(Reshape(t.Node, outer, length*inner), inner), shape...)
}

// Entries returns the entries along an axis of these indices, in their order; an index may be there
// several times. Indices are fixed; for data there are [Gather] and [TakeAlongRows].
func (t Tensor) Entries(axis int, indices ...int) Tensor {
	n := t.length("Entries", axis)
	for _, i := range indices {
		if i < 0 || i >= n {
			failf("Entries: indices must be from 0 to %d; there is %d", n-1, i)
		}
	}
	return t.picked("Entries", axis, indices)
}

func (t Tensor) picked(op named, axis int, indices []int) Tensor {
	return t.mapped(op, axis, len(indices), func(rows *Node, cols int) *Node { return taken(rows, cols, indices) })
}

// indexed is Entries of the indices that f has for 0, 1, ..., count−1.
func (t Tensor) indexed(op named, axis, count int, f func(i int) int) Tensor {
	indices := make([]int, max(count, 0))
	for i := range indices {
		indices[i] = f(i)
	}
	return t.picked(op, axis, indices)
}

// Slice returns entries from, from+step, ... along an axis, up to but without to; a step below 0
// goes back.
func (t Tensor) Slice(axis, from, to, step int) Tensor {
	n := t.length("Slice", axis)
	if step == 0 || from < 0 || from >= n || to < -1 || to > n {
		failf("Slice: entries must be from 0 to %d, and the step not 0; they are from %d to %d by %d", n-1, from, to,
			step)
	}
	count := (to - from + step - step/max(step, -step)) / step
	return t.indexed("Slice", axis, count, func(i int) int { return from + i*step })
}

// Flip returns the entries along an axis in reverse order.
func (t Tensor) Flip(axis int) Tensor { return t.Slice(axis, t.length("Flip", axis)-1, -1, -1) }

// Roll moves the entries along an axis by some places; those that leave it come in at its other
// end.
func (t Tensor) Roll(axis, by int) Tensor { return t.Pad(axis, by, -by, Circular) }

// Tile returns all entries along an axis some times, one copy behind the other.
func (t Tensor) Tile(axis, times int) Tensor {
	return t.Pad(axis, 0, t.length("Tile", axis)*(times-1), Circular)
}

// Repeat returns each entry along an axis some times.
func (t Tensor) Repeat(axis, times int) Tensor {
	return t.indexed("Repeat", axis, t.length("Repeat", axis)*times, func(i int) int { return i / times })
}

// A Padding is what is put around the entries along an axis.
type Padding uint8

// The paddings.
const (
	Zeros     Padding = iota
	Reflect           // the entries as in a mirror at the last, which is not there twice
	Replicate         // the last entry
	Circular          // the entries once more
)

// Pad puts some entries before and after those along an axis; numbers below 0 take as many away.
func (t Tensor) Pad(axis, before, after int, by Padding) Tensor {
	n := t.length("Pad", axis)
	if by == Reflect && max(before, after) >= n {
		failf("Pad: fewer entries must be reflected than the %d of the axis; they are %d and %d", n, before, after)
	}
	return t.indexed("Pad", axis, before+n+after, func(i int) int {
		switch i -= before; by {
		case Reflect:
			i = max(i, -i)
			return min(i, 2*(n-1)-i)
		case Replicate:
			return min(max(i, 0), n-1)
		case Circular:
			return (i%n + n) % n
		}
		if i < 0 || i >= n {
			return -1
		}
		return i
	})
}

// PadWith is Pad of a number.
func (t Tensor) PadWith(axis, before, after int, number float64) Tensor {
	p := t.Pad(axis, before, after, Zeros)
	outer, n, inner := around(p.Shape, axis)
	row := make([]float64, n*inner)
	for i := range row {
		if at := i/inner - before; at < 0 || at >= t.Shape[axis] {
			row[i] = number
		}
	}
	name := fmt.Sprintf("padding %v %v %v", number, []int{before, after, inner}, p.Shape) // of equal numbers
	return TensorOf(AddRow(Reshape(p.Node, outer, n*inner), NewConst(t.Node, name, n*inner, 0, row)), p.Shape...)
}

// Broadcast returns what a function that is computed entry by entry makes of tensors whose shapes
// are broadcast as [Add] has it, for any number of axes.
func Broadcast(f func(in ...*Node) *Node, ts ...Tensor) Tensor {
	var shape tensor.Shape
	for _, t := range ts {
		shape = named("Broadcast").commonShape(shape, t.Shape)
	}
	in := make([]*Node, len(ts))
	for i, t := range ts {
		s := make([]int, len(shape))
		for k, step := range strides(t.Shape) {
			if t.Shape[k] > 1 {
				s[len(s)-len(t.Shape)+k] = step
			}
		}
		in[i] = TensorOf(restrided(t.Node, shape, s), shape...).Node
	}
	return TensorOf(f(in...), shape...)
}
