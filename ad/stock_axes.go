package ad

import (
	"slices"

	"gorgonia.org/tensor"
)

// around returns the product of the lengths before an axis, the axis's own, and the product of
// those behind it.
func around(shape tensor.Shape, axis int) (outer, length, inner int) {
	if axis >= len(shape) {
		return shape.TotalSize(), 1, 1
	}
	outer, inner = 1, 1
	for i, n := range shape {
		switch {
		case i < axis:
			outer *= n
		case i > axis:
			inner *= n
		}
	}
	return outer, shape[axis], inner
}

func (s stock) sum() *Node {
	return summed(s.in[0], s.old[0].Shape(), slices.Sorted(slices.Values(s.ints("along"))))
}

func (s stock) most() *Node {
	return RowMax(rowsAlong(s.in[0], s.old[0].Shape(), s.ints("along")))
}

func (s stock) softmax() *Node {
	shape, axis := s.old[0].Shape(), s.int("axis")
	if axis < 0 {
		axis += len(shape)
	}
	f := RowSoftmax
	if s.field("isLog").Bool() {
		f = func(m *Node) *Node { return AddCol(m, Neg(RowLogSumExp(m))) }
	}
	return TensorOf(s.in[0], shape...).Along(f, axis).Node
}

func (s stock) slice() *Node {
	o, ok := s.n.Op().(interface {
		Start() int
		End() int
		Step() int
	})
	if !ok || s.field("Slice").IsNil() || o.End() <= o.Start() { // all of the axis
		return s.in[0]
	}
	outer, length, inner := around(s.old[0].Shape(), s.int("along"))
	count := s.n.Shape().TotalSize() / (outer * inner)
	return view(Reshape(s.in[0], outer, length*inner),
		viewRule{off: o.Start() * inner, n: [4]int{1, 1, count, inner}, s: [4]int{0, 0, max(o.Step(), 1) * inner, 1}})
}

func (s stock) at() *Node {
	off := 0
	for i, c := range s.ints("coordinates") {
		off = off*s.old[0].Shape()[i] + c
	}
	return Item(Flatten(s.in[0]), off)
}

func (s stock) concat() *Node {
	parts := make([]*Node, len(s.in))
	for i, a := range s.in {
		outer, length, inner := around(s.old[i].Shape(), s.int("axis"))
		parts[i] = Reshape(a, outer, length*inner)
	}
	return ConcatCols(parts...)
}

// repeat repeats each entry along an axis, or the whole where it has no such axis.
func (s stock) repeat() *Node {
	axis := s.int("along")
	outer, length, inner := around(s.old[0].Shape(), axis)
	times := s.n.Shape().TotalSize() / (outer * length * inner)
	switch {
	case length == 1 && outer == 1:
		return RepeatRow(Flatten(s.in[0]), times)
	case length == 1 && inner == 1:
		return RepeatCol(Flatten(s.in[0]), times)
	}
	return view(Reshape(s.in[0], outer, length*inner),
		viewRule{n: [4]int{1, length, times, inner}, s: [4]int{0, inner, 0, 1}})
}

// window returns the geometry of an op on images of shape N×C×H×W, false if [Window] has none. A
// stride that is never used is as the other one.
func (s stock) window(padH, padW string) (Window, bool) {
	shape := s.old[0].Shape()
	w := Window{H: shape[2], W: shape[3], C: shape[1], KH: s.int("h"), KW: s.int("w"), Stride: s.int("strideH"),
		StrideW: s.int("strideW"), PadH: s.int(padH), PadW: s.int(padW)}
	switch {
	case w.OutH() == 1:
		w.Stride = w.StrideW
	case w.OutW() == 1:
		w.StrideW = w.Stride
	}
	return w, w.PadH < w.KH && w.PadW < w.KW
}

// channelsLast returns images of shape N×C×H×W as rows of H·W·C numbers.
func (s stock) channelsLast() *Node {
	shape := s.old[0].Shape()
	return Reshape(permuted(s.in[0], shape, []int{0, 2, 3, 1}), shape[0], shape.TotalSize()/shape[0])
}

func (s stock) patches() *Node {
	w, ok := s.window("padH", "padW")
	if !ok {
		return nil
	}
	w.DilationH, w.DilationW = s.int("dilationH"), s.int("dilationW")
	p := Im2col(s.channelsLast(), w)
	return permuted(p, tensor.Shape{p.Shape()[0], w.KH * w.KW, w.C}, []int{0, 2, 1})
}

func (s stock) maxPool() *Node {
	w, ok := s.window("padNorth", "padWest")
	if !ok || s.int("padNorth") != s.int("padSouth") || s.int("padWest") != s.int("padEast") {
		return nil
	}
	p := MaxPool(s.channelsLast(), w)
	return permuted(p, tensor.Shape{p.Shape()[0], w.patches(), w.C}, []int{0, 2, 1})
}

func (s stock) globalMean() *Node {
	shape := s.old[0].Shape()
	pixels := shape[2] * shape[3]
	return Scale(1/float64(pixels), SumCols(Reshape(s.in[0], shape.TotalSize()/pixels, pixels)))
}

func (s stock) upsample() *Node {
	shape, times := s.old[0].Shape(), 1+s.int("stride")
	h, w := shape[2], shape[3]
	return view(Reshape(s.in[0], shape[0]*shape[1], h*w),
		viewRule{n: [4]int{h, times, w, times}, s: [4]int{w, 0, 1, 0}})
}
